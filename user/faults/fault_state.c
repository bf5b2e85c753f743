// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counts of faults as a text, for the state file.
 *
 * Counts and log position are written together: a restart neither loses nor doubles a record. A state file that cannot be
 * read in time is set aside and not added later, because no record shows which faults it already counted. The agent does
 * not wait for it: that would stop the observation. */
#include "faults/faults.h"

#include <zlib.h>

#include "base/file_text.h"
#include "snapshot/table.h"

#define HEAD "{\"format\":\"xidscope-state\"}\n"

/* ---- tables of what is in no snapshot; clang-format off: a row a line ---- */
/* clang-format off */

static const struct field state_fields[] = {
	ROW(fault_state, DETAIL, boot),
	ROW(fault_state, DETAIL, next),
	ROW(fault_state, DETAIL, boot_to_wall),
	ROW(fault_state, COUNTER, faults.counts.log_lost),
	ROW(fault_state, DETAIL, faults.driver, .most = DRIVER_THIS_BOOT),
};

static const struct field past_fields[] = {
	ROW(past_fault, LABEL, gpu),
	ROW(past_fault, LABEL, code),
	ROW(past_fault, DETAIL, boots.times),
	ROW(past_fault, DETAIL, boots.count, .most = FAULT_REPEATS),
	ROW(past_fault, DETAIL, incidents.times),
	ROW(past_fault, DETAIL, incidents.count, .most = FAULT_REPEATS),
};

static const struct field place_fields[] = {
	ROW(fault_place, LABEL, device),
	ROW(fault_place, LABEL, place),
	ROW(fault_place, DETAIL, last),
	ROW(fault_place, DETAIL, repeats.times),
	ROW(fault_place, DETAIL, repeats.count, .most = FAULT_REPEATS),
};

static const struct field bus_fields[] = {
	ROW(bus_gpu, LABEL, gpu),
};
/* clang-format on */

static const struct table state_table = { .name = "state",
					  .size = sizeof(struct fault_state),
					  .max = 1,
					  .room = 1,
					  .fields = state_fields,
					  .field_count = COUNT(state_fields) };

#define FAULTS(list, number, rows, ...)                                           \
	{                                                                         \
		.name = #list, .array = offsetof(struct faults, list),            \
		.entries = offsetof(struct faults, number),                       \
		.size = sizeof(*((struct faults *)NULL)->list), .fields = (rows), \
		.field_count = COUNT(rows), __VA_ARGS__                           \
	}
static const struct table past_table = FAULTS(past, past_count, past_fields, .max = MAX_PAST);
static const struct table place_table =
	FAULTS(places, place_count, place_fields, .max = MAX_PLACES);
static const struct table bus_table =
	FAULTS(bus, bus_count, bus_fields, .max = MAX_BUS_GPUS, .room = MAX_BUS_GPUS);

static const enum table_id count_tables[] = { TABLE_FAULTS, TABLE_KERNEL_EVENTS, TABLE_GPUS,
					      TABLE_UNVERIFIED, TABLE_RECOVERIES };

#define PLACES (4 + COUNT(count_tables))

static void state_places(struct table_place places[PLACES], struct fault_state *state)
{
	*places++ = (struct table_place){ .table = &state_table, .part = state };
	*places++ = (struct table_place){ .table = &past_table, .part = &state->faults };
	*places++ = (struct table_place){ .table = &bus_table, .part = &state->faults };
	*places++ = (struct table_place){ .table = &place_table, .part = &state->faults };
	for (size_t i = 0; i < COUNT(count_tables); i++)
		*places++ = (struct table_place){ .table = &tables[count_tables[i]],
						  .part = &state->faults.counts };
}

/* ---- writing and reading ---- */

char *fault_state_write(const struct fault_state *state, size_t *len)
{
	struct table_place places[PLACES];
	char *text = NULL, end[TABLES_END_SIZE];
	FILE *out = open_memstream(&text, len);
	int err;

	if (!out)
		return NULL;
	state_places(places, (struct fault_state *)state); /* which stays as it is */
	fputs(HEAD, out);
	err = tables_write(out, places, COUNT(places));
	fflush(out);
	fputs(tables_end(end, (uint32_t)crc32_z(0, (const Bytef *)text, *len)), out);
	if (!fclose(out) && !err)
		return text;
	free(text);
	return NULL;
}

int fault_state_read(struct fault_state *state, const char *text, size_t len)
{
	const size_t end_len = TABLES_END_SIZE - 1;
	struct table_place places[PLACES];
	struct span s = { text, text + len };
	char end[TABLES_END_SIZE];
	uint64_t missing = 0;
	int err;

	*state = (struct fault_state){};
	if (!span_take(&s, HEAD) || span_left(s) < end_len)
		return -EINVAL;
	s.end -= end_len;
	tables_end(end, (uint32_t)crc32_z(0, (const Bytef *)text, len - end_len));
	if (memcmp(s.end, end, end_len) != 0)
		return -EINVAL;
	state_places(places, state);
	err = tables_read(s, places, COUNT(places), &missing);
	if (err)
		fault_state_free(state);
	return err == -EBADMSG ? -EINVAL : err;
}

void fault_state_free(struct fault_state *state)
{
	faults_free(&state->faults);
	*state = (struct fault_state){};
}

/* ---- the file ---- */

/* Grows with each change of the counts. */
static uint64_t changes(const struct faults *faults)
{
	const struct fault_counts *c = &faults->counts;
	uint64_t sum = c->gpu_count + c->recovery_count + faults->bus_changes + faults->driver;

	for (size_t i = 0; i < c->fault_count; i++)
		sum += c->faults[i].count;
	for (size_t i = 0; i < c->kernel_event_count; i++)
		sum += c->kernel_events[i].count;
	for (size_t i = 0; i < c->unverified_count; i++)
		sum += c->unverified[i].count;
	return sum;
}

/* Returns 0 or -errno after a message. */
static int read_state(struct state_file *f, struct fault_state *state)
{
	const struct state_store *store = f->store;
	int err = store->error ?: fault_state_read(state, store->text, store->len);

	f->damaged = err;
	if (err)
		log_warn(f->log,
			 "cannot read the state file %s: %s; it will be renamed to %s.damaged; "
			 "counting faults from the kernel log",
			 store->path, err == -EINVAL ? "it is damaged" : file_text_error(err),
			 store->path);
	return err;
}

bool state_file_load(struct state_file *f, struct faults *faults, uint64_t *next)
{
	struct fault_state state;

	if (!f->store || (!f->store->text && !f->store->error) || read_state(f, &state))
		return false;
	/* "": the boot is unknown: the state may be of another. */
	if (!*boot_id() || strcmp(boot_id(), state.boot) != 0) {
		log_info(f->log, "the state file %s is of an earlier boot: counts begin at 0",
			 f->store->path);
		if (state.boot_to_wall > 0)
			faults_outlive(faults, &state.faults, state.boot_to_wall);
		fault_state_free(&state);
		return false;
	}
	*faults = state.faults;
	*next = f->saved_next = state.next;
	f->saved_changes = changes(faults);
	log_info(f->log, "continuing from the state file %s at record %" PRIu64, f->store->path,
		 state.next);
	return true;
}

bool state_file_changed(const struct state_file *f, const struct faults *faults)
{
	return f->store && (f->lost || changes(faults) != f->saved_changes);
}

void state_file_save(struct state_file *f, const struct faults *faults, uint64_t next,
		     double boot_to_wall)
{
	struct fault_state state = { .next = next,
				     .boot_to_wall = boot_to_wall,
				     .faults = *faults };
	size_t len = 0;
	FREED char *text = NULL;

	if (!f->store || (next == f->saved_next && !state_file_changed(f, faults)))
		return;
	snprintf(state.boot, sizeof(state.boot), "%s", boot_id());
	text = fault_state_write(&state, &len);
	if (text && f->store->write(f->store->context, text, len, f->damaged)) {
		f->saved_changes = changes(faults);
		f->saved_next = next;
		f->damaged = f->lost = false;
	}
}
