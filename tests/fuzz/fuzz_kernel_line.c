// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the classifier of kernel lines: any bytes give well-formed results, the iterator always moves
 * on, and texts stay inside. */
#include "fuzz.h"
#include "faults/recognise/recognise.h"

static void require_word(const char *string, size_t size)
{
	require_safe(string, size);
	require(!strchr(string, ' '));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t offset = 0, before = 0;
	struct kernel_line line;

	while (kernel_line_next(text, size, &offset, &line)) {
		bool named = line.kind >= KERNEL_LINE_GPU_DRIVER;

		require(offset > before && offset <= size);
		require(line.kind > KERNEL_LINE_NONE && line.kind <= KERNEL_LINE_REPORT_ENDS);
		require(named == (line.name[0] != 0));
		require_word(line.device, sizeof(line.device));
		require_word(line.uuid, sizeof(line.uuid));
		require_word(line.serial, sizeof(line.serial));
		require((line.kind == KERNEL_LINE_GPU_UUID) == (line.uuid[0] != 0));
		require((line.kind == KERNEL_LINE_GPU_SERIAL) == (line.serial[0] != 0));
		require(line.text >= text + before && line.text + line.text_len <= text + offset);
		require(line.text_len > 0 && memchr(line.text, '\n', line.text_len) == NULL);
		before = offset;
	}
	require(offset == size && line.kind == KERNEL_LINE_NONE);
	return 0;
}
