// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that counts are given to the store when they have changed, again if that was lost, and are taken over by the
 * next run, but not those of another boot or of a damaged file. */
#include <zlib.h>

#include "unit.h"
#include "faults/fault_state.h"

static const struct log quiet;

/* What the store was given last. */
struct given {
	char *text;
	size_t len;
	int times;
	bool damaged;
	bool full;
};

static bool take(void *context, const char *text, size_t len, bool damaged)
{
	struct given *g = context;

	if (g->full)
		return false;
	free(g->text);
	g->text = strndup(text, len);
	g->len = len;
	g->times++;
	g->damaged = damaged;
	return true;
}

static void add_fault(struct faults *faults)
{
	struct fault like = { .device = "0000:c1:00.0", .code = 79 };

	assert_int_equal(faults_add(faults, &like, 1700000000), 0);
}

TEST(only_changes_are_saved)
{
	struct given g = {};
	const struct state_store store = { .path = "s", .write = take, .context = &g };
	struct faults faults = {};
	struct state_file f;
	uint64_t next;

	state_file_init(&f, &quiet, &store);
	assert_false(state_file_load(&f, &faults, &next));
	state_file_save(&f, &faults, 5, 0);
	assert_int_equal(g.times, 1);
	state_file_save(&f, &faults, 5, 0);
	assert_int_equal(g.times, 1);
	assert_false(state_file_changed(&f, &faults));
	add_fault(&faults);
	assert_true(state_file_changed(&f, &faults));
	state_file_save(&f, &faults, 5, 0);
	assert_int_equal(g.times, 2);
	state_file_lost(&f);
	assert_true(state_file_changed(&f, &faults));
	state_file_save(&f, &faults, 5, 0);
	assert_int_equal(g.times, 3);
	add_fault(&faults);
	g.full = true;
	state_file_save(&f, &faults, 6, 0);
	assert_true(state_file_changed(&f, &faults));
	g.full = false;
	state_file_save(&f, &faults, 6, 0);
	assert_int_equal(g.times, 4);
	assert_false(g.damaged);
	faults_free(&faults);
	free(g.text);
}

TEST(the_next_run_continues)
{
	struct given g = {};
	struct state_store store = { .path = "s", .write = take, .context = &g };
	struct faults faults = {}, again = {};
	struct state_file f;
	uint64_t next = 0;

	state_file_init(&f, &quiet, &store);
	add_fault(&faults);
	state_file_save(&f, &faults, 7, 0);
	store.text = g.text;
	store.len = g.len;
	g.text = NULL;
	state_file_init(&f, &quiet, &store);
	assert_true(state_file_load(&f, &again, &next));
	assert_int_equal(next, 7);
	assert_int_equal(again.counts.fault_count, 1);
	assert_int_equal(again.counts.faults[0].count, 1);
	state_file_save(&f, &again, 7, 0);
	assert_int_equal(g.times, 1);
	free((char *)store.text);
	faults_free(&faults);
	faults_free(&again);
}

/* Of another boot only the fatal faults are left, for the next ones too. */
TEST(of_an_earlier_boot_the_fatal_faults_are_known)
{
	static const struct {
		const char *wall;
		size_t count;
		double time;
	} cases[] = { { "wall 1000.000000\n", 1, 1005 },
		      { "wall 0.000000\n", 0, 0 },
		      { "", 0, 0 } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct given g = {};
		struct state_store store = { .path = "s", .write = take, .context = &g };
		struct faults faults = {}, again = {};
		struct state_file f;
		char text[256];
		uint64_t next;
		int len;

		len = snprintf(text, sizeof(text),
			       "xidscope-state 1\nboot x\n%snext 1\nlost 0\npaths 0 0 0\n"
			       "fault a 79 0 fatal x 1 5.000000 1 5.000000\n",
			       cases[i].wall);
		len += sprintf(text + len, "end %08lx\n", crc32(0, (const Bytef *)text, (uInt)len));
		store.text = text;
		store.len = (size_t)len;
		state_file_init(&f, &(const struct log){ .quiet = true }, &store);
		assert_false(state_file_load(&f, &faults, &next));
		assert_int_equal(faults.counts.fault_count, 0);
		assert_int_equal(faults.past_count, cases[i].count);
		if (cases[i].count)
			assert_true(faults.past[0].boots.times[0] == cases[i].time);
		/* the same boot goes on with it */
		state_file_save(&f, &faults, 3, 2000);
		store.text = g.text;
		store.len = g.len;
		g.text = NULL;
		state_file_init(&f, &(const struct log){ .quiet = true }, &store);
		assert_true(state_file_load(&f, &again, &next));
		assert_int_equal(again.past_count, cases[i].count);
		free((char *)store.text);
		faults_free(&faults);
		faults_free(&again);
	}
}

/* The first text that is taken says so, and no other. */
TEST(a_file_that_cannot_be_read_is_not_overwritten)
{
	static const struct state_store damaged[] = { { .text = "nonsense", .len = 8 },
						      { .text = "", .len = 0 },
						      { .error = -EFBIG },
						      { .error = -EIO } };

	for (size_t i = 0; i < COUNT(damaged); i++) {
		struct given g = { .full = true };
		struct state_store store = damaged[i];
		struct faults faults = {};
		struct state_file f;
		uint64_t next;

		store.path = "s";
		store.write = take;
		store.context = &g;
		state_file_init(&f, &(const struct log){}, &store);
		assert_false(state_file_load(&f, &faults, &next));
		state_file_save(&f, &faults, 1, 0);
		g.full = false;
		state_file_save(&f, &faults, 1, 0);
		assert_int_equal(g.times, 1);
		assert_true(g.damaged);
		state_file_save(&f, &faults, 2, 0);
		assert_int_equal(g.times, 2);
		assert_false(g.damaged);
		free(g.text);
	}
}

TEST(without_a_store_nothing_is_kept)
{
	struct faults faults = {};
	struct state_file f;
	uint64_t next;

	state_file_init(&f, &quiet, NULL);
	assert_false(state_file_load(&f, &faults, &next));
	assert_false(state_file_changed(&f, &faults));
	state_file_save(&f, &faults, 1, 0);
}
