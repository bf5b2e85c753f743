// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the reader of event logs: any bytes become events in the order of time, each line once at most,
 * gaps that are not empty, and a cause that may be shown. */
#include "fuzz.h"
#include "base/json_reader.h"
#include "past/history.h"

static void require_event(const struct past_event *e)
{
	struct past_owner *owners;
	size_t count = past_owners(e, &owners);
	char text[100];

	require(e->end >= e->time && e->count > 0 && *past_grade(e));
	json_decode(e->text, text, sizeof(text));
	require(strlen(text) < sizeof(text));
	for (size_t i = 0; i < count; i++) {
		require(*owners[i].what);
		json_decode(owners[i].name, text, sizeof(text));
		require_string(text);
	}
	free(owners);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct history_now now = { 1.8e9, 5000, "b" };
	const struct past_event *event;
	struct history h = {};
	const char *cause;
	size_t lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	require(!event_reader_add(&h, (const char *)data, size));
	require(h.count + h.skipped <= lines);
	require(!history_digest(&h, &now));
	for (size_t i = 0; i < h.count; i++) {
		require(!i || h.events[i - 1].time <= h.events[i].time);
		require_event(&h.events[i]);
	}
	for (size_t i = 0; i < h.gap_count; i++)
		require(h.gaps[i].from < h.gaps[i].to && *h.gaps[i].reason);
	event = history_cause(&h, "7", 0, 1e12, &cause);
	require(!event == !strcmp(cause, "none"));
	history_free(&h);
	return 0;
}
