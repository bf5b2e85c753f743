// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the parser of /dev/kmsg records: any bytes are refused or give a text that fits; a text escaped
 * as the kernel does reads back. */
#include "fuzz.h"
#include "kernel/kernel_log.h"

static void parse_anything(const char *bytes, size_t len, size_t size)
{
	char *text = malloc(size ? size : 1); /* for ASan */
	struct kmsg_record r;
	bool ok;

	require(text != NULL);
	ok = kmsg_record_parse(bytes, len, &r, text, size);
	require(r.text_len <= size && r.text_len <= len);
	require(ok || (!r.text_len && !r.sequence && !r.time_us && !r.facility));
	free(text);
}

/* As the kernel's msg_print_ext_body() is documented. */
static void read_back(const char *bytes, size_t len)
{
	char *record = malloc(64 + 4 * len), *text = malloc(len + 1);
	struct kmsg_record r;
	int used;

	require(record && text);
	used = sprintf(record, "4,%zu,7,c,caller=T1;", len);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		used += sprintf(record + used, c < ' ' || c >= 127 || c == '\\' ? "\\x%02x" : "%c",
				c);
	}
	used += sprintf(record + used, "\n SUBSYSTEM=x\n");
	require(kmsg_record_parse(record, (size_t)used, &r, text, len + 1));
	require(r.text_len == len && r.continued && r.sequence == len);
	require(!memcmp(text, bytes, len));
	free(record);
	free(text);
}

/* The first byte is the room for the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	parse_anything((const char *)data + 1, size - 1, data[0]);
	read_back((const char *)data + 1, size - 1);
	return 0;
}
