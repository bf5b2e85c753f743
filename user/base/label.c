// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/label.h"

#include <zlib.h>

#include "base/safe_text.h"

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
