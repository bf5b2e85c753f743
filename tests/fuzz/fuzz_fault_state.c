// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the state file: any bytes are refused, or give a state that writes back and reads the same.
 * What is refused leaves nothing behind. */
#include <zlib.h>

#include "faults/faults.h"
#include "fuzz.h"
#include "snapshot/table.h"

static void require_sound(const struct fault_state *state)
{
	const struct fault_counts *c = &state->faults.counts;

	require_string(state->boot);
	require(c->fault_count <= MAX_FAULTS_IN_ALL + FOLDED_CODES && c->gpu_count <= MAX_GPUS + 1);
	for (size_t i = 0; i < c->fault_count; i++) {
		require_string(c->faults[i].device);
		require_string(c->faults[i].severity);
		require_string(c->faults[i].action);
		require(c->faults[i].first >= 0 && c->faults[i].last >= 0);
	}
	for (size_t i = 0; i < c->kernel_event_count; i++) {
		require_string(c->kernel_events[i].kind);
		require_string(c->kernel_events[i].device);
	}
}

static void read_any(const char *text, size_t len)
{
	struct fault_state state, again;
	char *first, *second;
	size_t first_len, second_len;
	int err = fault_state_read(&state, text, len);

	if (err) {
		require(err == -EINVAL && !state.faults.counts.faults &&
			!state.faults.counts.kernel_events && !state.faults.counts.gpus &&
			!state.faults.counts.recoveries && !state.next);
		return;
	}
	require_sound(&state);
	first = fault_state_write(&state, &first_len);
	/* What is not UTF-8 becomes text, which may be cut, but once. */
	require(first && !fault_state_read(&again, first, first_len));
	free(first);
	first = fault_state_write(&again, &first_len);
	fault_state_free(&again);
	require(first && !fault_state_read(&again, first, first_len));
	second = fault_state_write(&again, &second_len);
	require(second && first_len == second_len && !memcmp(first, second, first_len));
	/* torn it is none */
	fault_state_free(&again);
	require(fault_state_read(&again, first, first_len - 1) == -EINVAL);
	fault_state_free(&state);
	free(first);
	free(second);
}

/* The bytes as they are, and between a good head and a good end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "{\"format\":\"xidscope-state\"}\n";
	size_t len = strlen(head) + size;
	char *whole = malloc(len + TABLES_END_SIZE);

	require(whole != NULL);
	read_any((const char *)data, size);
	memcpy(whole, head, strlen(head));
	if (size)
		memcpy(whole + strlen(head), data, size);
	tables_end(whole + len, (uint32_t)crc32(0, (const Bytef *)whole, (uInt)len));
	read_any(whole, len + TABLES_END_SIZE - 1);
	free(whole);
	return 0;
}
