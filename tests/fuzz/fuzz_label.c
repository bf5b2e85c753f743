// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for texts made of any bytes: a label, which reads back as the bytes if it is not cut; a label's
 * text in a metrics file; a line and a text for people; a JSON string, which reads back. None has a character that
 * could do harm to a terminal. */
#include "base/json.h"
#include "base/safe_text.h"
#include "fuzz.h"

static void require_lengths(const char *bytes, size_t len)
{
	const unsigned char *b = (const unsigned char *)bytes;
	uint32_t value;
	size_t n;

	for (size_t i = 0; i < len; i++) {
		n = decoded_length(b + i, len - i, &value);
		require(n == utf8_length(bytes + i, len - i));
		require(!n || utf8_value(bytes + i, n) == value);
		require(safe_length(bytes + i, len - i) <= (n && !harms(value) ? n : 0));
	}
}

/* Undoes "\xNN". Returns the length. */
static size_t unescape(char *to, const char *text)
{
	unsigned int value;
	size_t len = 0;

	while (*text) {
		if (sscanf(text, "\\x%2x", &value) == 1 &&
		    strspn(text + 2, "0123456789abcdefABCDEF") > 1) {
			to[len++] = (char)value;
			text += 4;
		} else {
			to[len++] = *text++;
		}
	}
	return len;
}

/* Undoes label_escape() in place; requires a text of one line, as OpenMetrics has it. */
static void unescape_label(char *text)
{
	char *to = text;

	require(only_safe(text, strlen(text)));
	for (; *text; text++) {
		require(*text != '"');
		if (*text == '\\') {
			text++;
			require(*text == '\\' || *text == '"');
		}
		*to++ = *text;
	}
	*to = 0;
}

static void require_label(const char *bytes, size_t len, size_t size)
{
	char *label = malloc(size), *whole = malloc(4 * len + 16), *escaped, *back; /* for ASan */
	size_t used;

	require(label && whole);
	memset(label, '?', size);
	label_from_bytes(label, size, bytes, len);
	require_safe(label, size);
	used = strlen(label);
	label_from_bytes(whole, 4 * len + 16, bytes, len);
	if (strlen(whole) < size) {
		require(!strcmp(label, whole));
		back = malloc(len + 1);
		require(back && unescape(back, whole) == len &&
			(!len || !memcmp(back, bytes, len)));
		free(back);
	} else {
		/* the longest beginning that leaves room for the mark, less at most
		 * one character or "\xNN", of four bytes at most */
		require(used >= 11 && used + 4 >= size);
		require(!memcmp(label + used - 11, "...", 3));
		require(strspn(label + used - 8, "0123456789abcdef") == 8);
		require(!memcmp(label, whole, used - 11));
	}
	escaped = malloc(LABEL_ESCAPE_MAX * used + 1);
	require(escaped != NULL);
	require(label_escape(escaped, label) == escaped + strlen(escaped));
	unescape_label(escaped);
	require(!strcmp(escaped, label));
	free(escaped);
	free(whole);
	free(label);
}

/* What is no label must not harm a metrics file either. */
static void require_escaped(const char *text)
{
	char *escaped = malloc(LABEL_ESCAPE_MAX * strlen(text) + 1);

	require(escaped != NULL);
	label_escape(escaped, text);
	unescape_label(escaped);
	free(escaped);
}

static void require_line(const char *text, size_t size)
{
	char *line = NULL, *part = malloc(size);
	FILE *out = open_memstream(&line, &(size_t){ 0 });

	require(out && part);
	safe_line(out, "%s", text);
	require(!fclose(out));
	require(*line && line[strlen(line) - 1] == '\n');
	line[strlen(line) - 1] = 0;
	require(only_safe(line, strlen(line)));
	safe_format(part, size, "%s", text);
	require_safe(part, size);
	if (strlen(line) < size)
		require(!strcmp(line, part));
	else
		require(!strcmp(part + strlen(part) - 3, "...") &&
			!memcmp(part, line, strlen(part) - 3));
	free(part);
	free(line);
}

/* The four digits of "\uNNNN", from the 'u' on. */
static uint32_t read_unit(const char *text)
{
	char hex[5] = "";

	require(text[0] == 'u' && strspn(text + 1, "0123456789abcdef") >= 4);
	memcpy(hex, text + 1, 4);
	return (uint32_t)strtoul(hex, NULL, 16);
}

/* Reads the string back (RFC 8259, section 7). */
static void require_json(const char *bytes, size_t len)
{
	char *text = NULL, want[5];
	const char *at;
	size_t size, n;
	FILE *out = open_memstream(&text, &size);
	uint32_t value, read;

	require(out != NULL);
	json_bytes(&(struct json){ .out = out }, NULL, bytes, len);
	require(!fclose(out));
	require(size >= 2 && text[0] == '"' && text[size - 1] == '"');
	require(only_safe(text, size));
	at = text + 1;
	for (size_t i = 0; i < len; i += n) {
		n = decoded_length((const unsigned char *)bytes + i, len - i, &value);
		if (!n) {
			n = 1;
			sprintf(want, "x%02x", (unsigned char)bytes[i]);
			require(!memcmp(at, "\\\\", 2) && !memcmp(at + 2, want, 3));
			at += 5;
		} else if (*at != '\\') {
			require(*at != '"' && !memcmp(at, bytes + i, n));
			at += n;
		} else if (at[1] != 'u') {
			require((at[1] == '"' || at[1] == '\\') && at[1] == bytes[i]);
			at += 2;
		} else {
			read = read_unit(at + 1);
			at += 6;
			if (read >> 10 == 0x36) {
				require(*at == '\\' && read_unit(at + 1) >> 10 == 0x37);
				read = 0x10000 +
				       ((read & 0x3ff) << 10 | (read_unit(at + 1) & 0x3ff));
				at += 6;
			}
			require(read == value);
		}
	}
	require(at == text + size - 1);
	free(text);
}

/* The first byte is the room for the label. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data + 1;
	char *text;

	if (!size)
		return 0;
	require_lengths(bytes, size - 1);
	require_label(bytes, size - 1, 16 + data[0] % 64);
	require_label(bytes, size - 1, LABEL_SIZE);
	require_json(bytes, size - 1);
	text = strndup(bytes, size - 1);
	require(text != NULL);
	require_escaped(text);
	require_line(text, 16 + data[0] % 64);
	free(text);
	return 0;
}
