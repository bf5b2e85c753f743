// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the files of container runtimes: of any text come lines of an ID and a name that is safe to show. */
#include "base/container.h"
#include "base/file_text.h"
#include "base/safe_text.h"
#include "base/span.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *names = NULL;
	size_t length;
	FILE *out = open_memstream(&names, &length);
	const struct span text = { (const char *)data, (const char *)data + size };
	struct span rest, line, id;

	container_read_names(
		text, "4f0cd5b61a9201234567890123456789012345678901234567890123456789ab", out);
	names = stream_text(out, &names);
	for (rest = span_of(names); span_next_line(&rest, &line);) {
		id = span_take_until(&line, " ");
		require(span_left(id) == CONTAINER_ID - 1);
		require(span_take(&line, " ") && span_left(line) > 0 &&
			span_left(line) < CONTAINER_NAME);
		while (span_left(line)) {
			size_t step = safe_length(line.at, span_left(line));

			require(step);
			line.at += step;
		}
	}
	free(names);
	return 0;
}
