// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the parser of fault lines: any bytes give well-formed events, the iterator always moves on, and
 * messages stay inside the text. */
#include "fuzz.h"
#include "xid/xid_line.h"

static void require_pci(const char *pci)
{
	size_t len = strlen(pci);

	require(len >= 12 && len <= 16);
	require(pci[len - 2] == '.' && pci[len - 5] == ':' && pci[len - 8] == ':');
	for (size_t i = 0; i < len; i++)
		require(strchr("0123456789abcdef:.", pci[i]) != NULL);
}

/* A message ends with its line, unless the newline can be one of a process' name. */
static void require_end(const struct xid_line *line)
{
	const char *end = line->message + line->message_len, *at = line->message;
	const char *text = line->header + line->header_len;
	const char *name = memmem(text, (size_t)(end - text), "name=", 5);

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		require(name && at > name && at - name - 5 < 15);
		at++;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t offset = 0, before = 0;
	struct xid_line line;

	while (xid_line_next(text, size, &offset, &line)) {
		/* the shortest header is "NVRM: Xid (0:0): 0" without its space */
		require(offset >= before + 17 && offset <= size);
		require(line.kind != XID_LINE_NONE);
		require_one_line(line.pci, sizeof(line.pci));
		require_pci(line.pci);
		require_one_line(line.process, sizeof(line.process));
		require_one_line(line.recovery, sizeof(line.recovery));
		require_one_line(line.recovery_from, sizeof(line.recovery_from));
		require_one_line(line.nvlink.unit, sizeof(line.nvlink.unit));
		require(line.nvlink.xc >= -1 && line.nvlink.instance >= -1 &&
			line.nvlink.link >= -2);
		require(line.nvlink.word_count >= 0 && line.nvlink.word_count <= NVLINK_WORDS);
		require(line.pid >= -1 && line.gpu_instance >= -1 && line.compute_instance >= -1);
		require(line.message >= text + before &&
			line.message + line.message_len <= text + offset);
		require_end(&line);
		before = offset;
	}
	require(offset == size && line.kind == XID_LINE_NONE);
	return 0;
}
