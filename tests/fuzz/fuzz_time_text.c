// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for times as people write them: any text is refused or gives a time that is written and read back. */
#include <math.h>

#include "fuzz.h"
#include "base/time_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size), written[TIME_TEXT_SIZE];
	double seconds, again, raw;

	if (time_from_text(text, &seconds)) {
		require(seconds >= 0 && seconds < 253402300801.0);
		time_to_text(written, sizeof(written), seconds);
		require(strlen(written) == TIME_TEXT_SIZE - 4);
		require(time_from_text(written, &again));
		require(again == floor(seconds) || seconds >= 253402300799.0);
	}
	if (time_from_person(text, 1e9, size % 2 ? TIME_PAST : TIME_FUTURE, &seconds))
		require(seconds > -1 && seconds < 253402300801.0);
	/* Any number at all is written as a time. */
	if (size >= sizeof(raw)) {
		memcpy(&raw, data, sizeof(raw));
		time_to_text(written, sizeof(written), raw);
		require(time_from_text(written, &again));
	}
	free(text);
	return 0;
}
