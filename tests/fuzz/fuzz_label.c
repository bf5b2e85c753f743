// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libFuzzer entry for label values and JSON strings: any bytes give a valid,
 * bounded label, which escapes to one line that reads back as itself; any bytes
 * give one JSON string that is valid and reads back.
 */
#include <stdio.h>

#include "fuzz.h"
#include "base/json.h"
#include "base/label.h"

/* A decoder of its own: by value, where utf8_length() goes by ranges. */
static size_t decoded_length(const unsigned char *b, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c;
	size_t n;

	if (!len)
		return 0;
	if (b[0] < 0x80)
		return 1;
	n = b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : b[0] >> 3 == 30 ? 4 : 0;
	if (!n || n > len)
		return 0;
	c = b[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (b[i] >> 6 != 2)
			return 0;
		c = c << 6 | (b[i] & 0x3f);
	}
	return c >= least[n] && c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff) ? n : 0;
}

static void require_utf8(const char *text, size_t len)
{
	size_t n;

	for (; len; text += n, len -= n) {
		n = decoded_length((const unsigned char *)text, len);
		require(n > 0);
	}
}

/* All of the bytes, with "\xNN" for what is not UTF-8, and for NUL if so
 * wanted. Caller frees. */
static char *expand(const char *bytes, size_t len, int nul, size_t *size)
{
	char *text = malloc(4 * len + 1);
	size_t n, used = 0;

	require(text != NULL);
	for (size_t i = 0; i < len; i += n) {
		n = decoded_length((const unsigned char *)bytes + i, len - i);
		require(n == utf8_length(bytes + i, len - i));
		if (nul && !bytes[i])
			n = 0;
		if (n) {
			memcpy(text + used, bytes + i, n);
			used += n;
		} else {
			n = 1;
			used += (size_t)sprintf(text + used, "\\x%02x", (unsigned char)bytes[i]);
		}
	}
	text[used] = 0;
	*size = used;
	return text;
}

/* Undoes label_escape(); requires that there is nothing in it that it should
 * have escaped. */
static void require_escaped(const char *escaped, size_t size, const char *label)
{
	for (size_t i = 0; i < size; i++, label++) {
		require(escaped[i] != '"' && escaped[i] != '\n');
		if (escaped[i] == '\\') {
			require(++i < size);
			require(escaped[i] == 'n' ? *label == '\n' :
						    (escaped[i] == '\\' || escaped[i] == '"') &&
							    *label == escaped[i]);
		} else {
			require(*label == escaped[i]);
		}
	}
	require(!*label);
}

static void require_label(const char *bytes, size_t len, size_t size)
{
	char *label = malloc(size), *whole, *escaped; /* for ASan */
	size_t whole_len, used;

	require(label != NULL);
	memset(label, '?', size);
	label_from_bytes(label, size, bytes, len);
	used = strnlen(label, size);
	require(used < size);
	require_utf8(label, used);
	whole = expand(bytes, len, 1, &whole_len);
	if (whole_len < size) {
		require(!strcmp(label, whole));
	} else {
		/* the longest beginning that leaves room for the mark, less at most
		 * one character or "\xNN", of four bytes at most */
		require(used >= 3 && used + 4 >= size);
		require(!strcmp(label + used - 3, "..."));
		require(!memcmp(label, whole, used - 3));
	}
	escaped = malloc(2 * used + 1);
	require(escaped != NULL);
	require_escaped(escaped, (size_t)(label_escape(escaped, label) - escaped), label);
	free(escaped);
	free(whole);
	free(label);
}

/* Reads the string back (RFC 8259, section 7). */
static void require_json(const char *bytes, size_t len)
{
	char *text = NULL, *whole, hex[3] = "";
	size_t size, whole_len, n = 0;
	FILE *out = open_memstream(&text, &size);

	require(out != NULL);
	json_bytes(&(struct json){ .out = out }, NULL, bytes, len);
	require(!fclose(out));
	whole = expand(bytes, len, 0, &whole_len);
	require(size >= 2 && text[0] == '"' && text[size - 1] == '"');
	require_utf8(text, size);
	for (size_t i = 1; i < size - 1; i++, n++) {
		require((unsigned char)text[i] >= ' ' && text[i] != '"' && n < whole_len);
		if (text[i] != '\\') {
			require(text[i] == whole[n]);
			continue;
		}
		require(++i < size - 1);
		if (text[i] == 'u') {
			require(i + 4 < size - 1 && !memcmp(text + i + 1, "00", 2));
			memcpy(hex, text + i + 3, 2);
			require(strspn(hex, "0123456789abcdef") == 2);
			require(strtoul(hex, NULL, 16) == (unsigned char)whole[n]);
			i += 4;
		} else {
			require((text[i] == '"' || text[i] == '\\') && text[i] == whole[n]);
		}
	}
	require(n == whole_len);
	free(whole);
	free(text);
}

/* The first byte is the room for the label. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	require_label((const char *)data + 1, size - 1, 8 + data[0] % 64);
	require_label((const char *)data + 1, size - 1, LABEL_SIZE);
	require_json((const char *)data + 1, size - 1);
	return 0;
}
