// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the file of acknowledgements: any bytes give either an error of one line or entries. Each entry
 * covers what it names, up to its time and not beyond the next second. */
#include "fuzz.h"
#include "health/ack.h"

static void require_ack(const struct ack *a)
{
	struct ack_list one = { (struct ack *)a, 1 };
	const char *device = strcmp(a->device, "*") ? a->device : "0000:00:00.0";
	const char *what = strcmp(a->what, "*") ? a->what : "79";

	require(memchr(a->device, 0, sizeof(a->device)) && memchr(a->what, 0, sizeof(a->what)));
	require(a->time >= 0 && a->time < 3e11);
	require(ack_find(&one, device, "", what, a->time, a->time));
	if (a->snooze)
		require(!ack_find(&one, device, "", what, 0, a->time + 1));
	else
		require(!ack_find(&one, device, "", what, a->time + 1, a->time));
	require(!ack_find(&one, "0000:00:00.1", "", what, 0, a->time) == !!strcmp(a->device, "*") ||
		!strcmp(a->device, "0000:00:00.1"));
	require(strcmp(a->what, "*") == 0 || !ack_find(&one, device, "", "no kind", 0, a->time));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ack_list list;
	char error[160];

	memset(error, 'x', sizeof(error));
	if (ack_parse(&list, (const char *)data, size, error, sizeof(error))) {
		require_safe(error, sizeof(error));
		require(!list.acks && !list.count);
		return 0;
	}
	for (size_t i = 0; i < list.count; i++)
		require_ack(&list.acks[i]);
	ack_free(&list);
	return 0;
}
