// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/safe_text.h"

#include <ctype.h>
#include <zlib.h>

/* Unsafe characters, ascending: Unicode's general categories Cc, Zl and Zp, interlinear annotations (U+FFF9..FFFB), and
 * Default_Ignorable_Code_Point of Unicode 15's DerivedCoreProperties.txt. */
static const struct {
	uint32_t first, last;
} unsafe[] = {
	{ 0, 0x1f },          { 0x7f, 0x9f },       { 0xad, 0xad },       { 0x34f, 0x34f },
	{ 0x61c, 0x61c },     { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
	{ 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0x3164, 0x3164 },
	{ 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },
	{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

size_t utf8_length(const char *text, size_t len)
{
	const unsigned char *b = (const unsigned char *)text;
	size_t n = !len || b[0] > 0xf4 ? 0 :
		   b[0] < 0x80         ? 1 :
		   b[0] < 0xc2         ? 0 :
		   b[0] < 0xe0         ? 2 :
		   b[0] < 0xf0         ? 3 :
					 4;
	uint32_t value;

	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	value = utf8_value(text, n);
	/* No overlong forms, surrogates, or values above Unicode's. */
	if (n == 3 && (value < 0x800 || value >> 11 == 0x1b))
		return 0;
	return n == 4 && (value < 0x10000 || value > 0x10ffff) ? 0 : n;
}

uint32_t utf8_value(const char *text, size_t len)
{
	const unsigned char *b = (const unsigned char *)text;
	uint32_t value = len == 1 ? b[0] : b[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		value = value << 6 | (b[i] & 0x3f);
	return value;
}

static bool is_safe(uint32_t value)
{
	for (size_t i = 0; i < COUNT(unsafe); i++)
		if (value <= unsafe[i].last)
			return value < unsafe[i].first;
	return true;
}

size_t safe_length(const char *text, size_t len)
{
	size_t n;

	if (len && *text >= ' ' && *text < 0x7f) /* most are */
		return 1;
	n = utf8_length(text, len);
	return n && is_safe(utf8_value(text, n)) ? n : 0;
}

/* "\xNN", which a reader takes for an escape. */
static bool is_escape(const char *text, size_t len)
{
	return len >= 4 && text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
	       isxdigit((unsigned char)text[3]);
}

void safe_copy(char *to, size_t size, const char *bytes, size_t len, bool reversible,
	       const char *mark)
{
	size_t mark_size = strlen(mark) + 1, used = 0, cut = 0, n;
	char piece[8];

	for (size_t at = 0; at < len; at += n) {
		size_t piece_len = n = safe_length(bytes + at, len - at);

		if (n && !(reversible && is_escape(bytes + at, len - at))) {
			memcpy(piece, bytes + at, n);
		} else {
			n = 1;
			piece_len = (size_t)snprintf(piece, sizeof(piece), SAFE_ESCAPE,
						     (unsigned char)bytes[at]);
		}
		if (used + piece_len >= size) {
			memcpy(to + cut, mark, mark_size);
			return;
		}
		memcpy(to + used, piece, piece_len);
		used += piece_len;
		if (used + mark_size <= size)
			cut = used;
	}
	to[used] = 0;
}

static void write_safe(FILE *out, const char *text)
{
	size_t n;

	for (size_t left = strlen(text); left; text += n, left -= n) {
		n = safe_length(text, left);
		if (n) {
			fwrite(text, 1, n, out);
		} else {
			fprintf(out, SAFE_ESCAPE, (unsigned char)*text);
			n = 1;
		}
	}
}

void safe_vline(FILE *out, const char *format, va_list args)
{
	FREED char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		return;
	write_safe(out, text);
	fputc('\n', out);
}

void safe_line(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	safe_vline(out, format, args);
	va_end(args);
}

void safe_vformat(char *to, size_t size, const char *format, va_list args)
{
	FREED char *text = NULL;

	*to = 0;
	if (vasprintf(&text, format, args) < 0)
		return;
	safe_copy(to, size, text, strlen(text), false, "...");
}

void safe_format(char *to, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	safe_vformat(to, size, format, args);
	va_end(args);
}

void label_from_bytes(char *label, size_t size, const char *bytes, size_t len)
{
	char mark[12];

	snprintf(mark, sizeof(mark), "...%08lx", crc32(0, (const Bytef *)bytes, (uInt)len));
	safe_copy(label, size, bytes, len, true, mark);
}

void label_from_name(char *label, size_t size, const char *name, size_t len)
{
	if (len == strlen(LABEL_OTHER) && !memcmp(name, LABEL_OTHER, len))
		snprintf(label, size, SAFE_ESCAPE "%s", LABEL_OTHER[0], &LABEL_OTHER[1]);
	else
		label_from_bytes(label, size, name, len);
}

void text_join_words(char *text)
{
	while ((text = strchr(text, ' ')))
		*text = '_';
}

void label_add_port(char *label, unsigned int port)
{
	char name[LABEL_SIZE];
	bool colon = strchr(label, ':');

	if (!port || port == 2049 || port == 20049)
		return;
	snprintf(name, sizeof(name), "%s", label);
	snprintf(label, LABEL_SIZE, "%s%.*s%s:%u", colon ? "[" : "", LABEL_SIZE - LABEL_SERVER_ROOM,
		 name, colon ? "]" : "", port);
}

char *label_escape(char *out, const char *label)
{
	/* The ASCII characters that need no escape. */
	static const bool plain[256] = { [' ' ... '!'] = true,
					 ['#' ... '['] = true,
					 [']' ... '~'] = true };
	size_t n;

	for (;; label += n) {
		while (plain[(unsigned char)*label])
			*out++ = *label++;
		if (!*label)
			break;
		n = 1;
		if (*label == '\\' || *label == '"') {
			*out++ = '\\';
			*out++ = *label;
		} else if ((n = safe_length(label, strlen(label)))) {
			out = mempcpy(out, label, n);
		} else {
			n = 1;
			out += sprintf(out, "\\" SAFE_ESCAPE, (unsigned char)*label);
		}
	}
	*out = 0;
	return out;
}
