// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that counts are given to the store when they have changed, again if that was lost, and are taken over by the
 * next run, but not those of another boot or of a damaged file. */
#include <zlib.h>

#include "unit.h"
#include "faults/fault_state.h"

static const struct log quiet = { .quiet = true };

/* What the store was given last. */
static struct given {
	char *text;
	size_t len;
	int times;
	bool damaged;
	bool full;
} given;
static struct state_store store;
static struct faults faults;
static struct state_file file;
static uint64_t next;
static struct fault_period hooks;

static bool take(void *context, const char *text, size_t len, bool damaged)
{
	(void)context;
	if (given.full)
		return false;
	free(given.text);
	given.text = strndup(text, len);
	given.len = len;
	given.times++;
	given.damaged = damaged;
	return true;
}

BEFORE_EACH()
{
	given = (struct given){};
	store = (struct state_store){ .path = "s", .write = take };
	faults = (struct faults){};
	next = 0;
	hooks = (struct fault_period){};
}

AFTER_EACH()
{
	faults_free(&faults);
	free(given.text);
}

static bool load(void)
{
	file = (struct state_file){ .log = &quiet, .store = &store };
	return state_file_load(&file, &faults, &next, &hooks);
}

/* Another process reads what the store was given. */
static bool load_again(void)
{
	bool taken;

	faults_free(&faults);
	faults = (struct faults){};
	store.text = given.text;
	store.len = given.len;
	taken = load();
	store.text = NULL;
	return taken;
}

static void save(uint64_t next_record, int times)
{
	state_file_save(&file, &faults, next_record, hooks, 0);
	assert_int_equal(given.times, times);
}

static void add_fault(void)
{
	struct fault like = { .device = "0000:c1:00.0", .code = 79 };

	assert_int_equal(faults_add(&faults, &like, 1700000000), 0);
}

TEST(only_changes_are_saved)
{
	assert_false(load());
	save(5, 1);
	save(5, 1);
	assert_false(state_file_changed(&file, &faults));
	add_fault();
	assert_true(state_file_changed(&file, &faults));
	save(5, 2);
	state_file_lost(&file);
	assert_true(state_file_changed(&file, &faults));
	save(5, 3);
	add_fault();
	given.full = true;
	save(6, 3);
	assert_true(state_file_changed(&file, &faults));
	given.full = false;
	save(6, 4);
	assert_false(given.damaged);
}

TEST(the_next_run_continues)
{
	file = (struct state_file){ .log = &quiet, .store = &store };
	add_fault();
	save(7, 1);
	assert_true(load_again());
	assert_int_equal(next, 7);
	assert_int_equal(faults.counts.fault_count, 1);
	assert_int_equal(faults.counts.faults[0].count, 1);
	save(7, 1);
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
		char text[256];
		int len;

		fresh();
		len = snprintf(text, sizeof(text),
			       "xidscope-state 1\nboot x\n%snext 1\nlost 0\npaths 0 0 0\n"
			       "fault a 79 0 fatal x 1 1 5.000000 5.000000\n",
			       cases[i].wall);
		len += sprintf(text + len, "end %08lx\n", crc32(0, (const Bytef *)text, (uInt)len));
		store.text = text;
		store.len = (size_t)len;
		assert_false(load());
		assert_int_equal(faults.counts.fault_count, 0);
		assert_int_equal(faults.past_count, cases[i].count);
		if (cases[i].count)
			assert_true(faults.past[0].boots.times[0] == cases[i].time);
		/* the same boot goes on with it */
		state_file_save(&file, &faults, 3, hooks, 2000);
		assert_true(load_again());
		assert_int_equal(faults.past_count, cases[i].count);
	}
}

TEST(what_the_hooks_alone_have_counted_is_kept)
{
	assert_false(load());
	add_fault();
	hooks = (struct fault_period){ 10.5, 20.25 };
	save(7, 1);
	hooks = (struct fault_period){};
	assert_true(load_again());
	assert_true(hooks.since == 10.5 && hooks.until == 20.25);
}

/* The first text that is taken says so, and no other. */
TEST(a_file_that_cannot_be_read_is_not_overwritten)
{
	static const struct state_store damaged[] = { { .text = "nonsense", .len = 8 },
						      { .text = "", .len = 0 },
						      { .error = -EFBIG },
						      { .error = -EIO } };

	for (size_t i = 0; i < COUNT(damaged); i++) {
		fresh();
		store.text = damaged[i].text;
		store.len = damaged[i].len;
		store.error = damaged[i].error;
		given.full = true;
		assert_false(load());
		save(1, 0);
		given.full = false;
		save(1, 1);
		assert_true(given.damaged);
		save(2, 2);
		assert_false(given.damaged);
	}
}

TEST(without_a_store_nothing_is_kept)
{
	file = (struct state_file){ .log = &quiet, .store = NULL };
	assert_false(state_file_load(&file, &faults, &next, &hooks));
	assert_false(state_file_changed(&file, &faults));
	save(1, 0);
}
