// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the state file gives back what was put into it, the nastiest names and the fullest tables, and that a
 * file that was torn, changed or made up gives nothing; that one from before or after a field was added is read; that counts are given to the store when they have changed, again
 * if that was lost, and are taken over by the next run, but not those of another boot or of a damaged file. */
#include <zlib.h>

#include "faults/faults.h"
#include "snapshot/table.h"
#include "unit.h"

#define COPY(to, from) snprintf(to, sizeof(to), "%s", from)

static void fill(struct fault_state *state)
{
	static const char *const names[] = { "0000:c1:00.0",
					     "",
					     "%",
					     "% %",
					     "a b",
					     "a\nb",
					     "caf\xc3\xa9",
					     "\xff\xfe\x01",
					     "{\"end\":\"0\"}",
					     "\"\\\t\r",
					     "fault a 1",
					     "xidscope-state" };
	struct fault_counts *c = &state->faults.counts;

	*state = (struct fault_state){ .boot = "5b0b4c4e-27dc-4fd3-a5d6-c2c2c2f1b6d1",
				       .next = UINT64_MAX,
				       .boot_to_wall = 1700000000.5 };
	c->log_lost = 17;
	state->faults.bus_count = MAX_BUS_GPUS;
	for (int i = 0; i < MAX_BUS_GPUS; i++)
		snprintf(state->faults.bus[i].gpu, PCI_ADDRESS_SIZE, "0000:%02x:00.0", i);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct fault like = { .code = (unsigned int)i, .nvswitch = i % 2 }, *fault;
		struct kernel_event *event;
		struct gpu_info *gpu;

		COPY(like.device, names[i]);
		COPY(like.severity, names[11 - i]);
		COPY(like.action, names[i]);
		fault = snapshot_fault(c, &like);
		fault->count = UINT64_MAX;
		fault->incidents = i;
		fault->first = 1700000000.123456;
		fault->repeats = (struct fault_repeats){ .times = { 3200, 3000.5 }, .count = 2 };
		fault->last = 249999999999.0;
		event = snapshot_kernel_event(c, i % 2, names[i], names[11 - i]);
		event->count = i;
		event->last = 0.000001;
		gpu = snapshot_gpu(c, names[i]);
		COPY(gpu->uuid, names[i]);
		COPY(gpu->serial, names[11 - i]);
		gpu->rate_limited = i % 2;
		snapshot_unverified(c, names[i], UINT32_MAX)->count = UINT64_MAX - i;
		snapshot_recovery(c, names[i], names[11 - i])->time = (double)i;
		faults_note_past(&state->faults, names[i], (unsigned int)i, true, 1e9);
		faults_note_past(&state->faults, names[i], (unsigned int)i, true, 2e9);
		faults_note_past(&state->faults, names[i], (unsigned int)i, false, 3e9);
	}
	for (int n = 0; n < 2; n++)
		faults_note_place(&state->faults, "a\nb", 65536, 0, 1000.5 + 200 * n);
}

static char *write_text(const struct fault_state *state, size_t *len)
{
	char *text = not_null(fault_state_write(state, len));

	assert_int_equal(strlen(text), *len);
	return text;
}

/* As the same text would be. */
static void assert_same(const struct fault_state *a, const struct fault_state *b)
{
	size_t a_len, b_len;
	char *a_text = write_text(a, &a_len), *b_text = write_text(b, &b_len);

	assert_string_equal(a_text, b_text);
	free(a_text);
	free(b_text);
}

/* A state and its text, and what is read from that. */
static struct fault_state s, again;
static char *text;
static size_t len;

AFTER_EACH()
{
	free(text);
	text = NULL;
	fault_state_free(&s);
	fault_state_free(&again);
}

/* Proves that they are alike. */
static void read_back(void)
{
	text = write_text(&s, &len);
	assert_int_equal(fault_state_read(&again, text, len), 0);
	assert_same(&s, &again);
}

TEST(what_is_written_reads_back)
{
	const struct past_fault *past;
	const struct fault_counts *c = &again.faults.counts;
	const struct fault_place *place;

	fill(&s);
	read_back();
	past = &again.faults.past[5];
	place = again.faults.places;
	/* Not only alike as text. */
	assert_printed(
		"5b0b4c4e-27dc-4fd3-a5d6-c2c2c2f1b6d1 18446744073709551615 17 12 12 1700000000.5",
		"%s %lu %lu %zu %zu %.1f", again.boot, again.next, c->log_lost, c->fault_count,
		again.faults.past_count, again.boot_to_wall);
	assert_printed(
		"a\nb caf\xc3\xa9 18446744073709551615 5 1 1700000000.123456 249999999999.000000",
		"%s %s %lu %lu %d %.6f %.6f", c->faults[5].device, c->faults[5].severity,
		c->faults[5].count, c->faults[5].incidents, c->faults[5].nvswitch,
		c->faults[5].first, c->faults[5].last);
	assert_printed("2 3200.0 3000.5", "%u %.1f %.1f", c->faults[5].repeats.count,
		       c->faults[5].repeats.times[0], c->faults[5].repeats.times[1]);
	assert_printed("a\nb 65536 2 1200.5 1000.5", "%s %u %u %.1f %.1f", place->device,
		       place->place, place->repeats.count, place->repeats.times[0],
		       place->repeats.times[1]);
	/* What is not UTF-8 stays readable. */
	assert_printed("\\xff\\xfe\x01 1 fault a 1", "%s %d %s", c->gpus[7].uuid,
		       c->gpus[7].rate_limited, c->recoveries[1].evidence);
	assert_printed("a\nb 2 2e+09 3e+09", "%s %u %g %g", past->gpu, past->boots.count,
		       past->boots.times[0], past->incidents.times[0]);
}

TEST(an_empty_state_reads_back)
{
	read_back();
	/* As if set to 1970 on a node without a battery, and the node runs for a day. */
	fresh();
	s = (struct fault_state){ .next = 7, .boot_to_wall = -86400 };
	read_back();
	assert_int_equal(again.next, 7);
	assert_true(again.boot_to_wall == 0); /* not known */
}

/* A file that we write must never be one that we refuse. */
TEST(the_fullest_state_reads_back)
{
	struct faults *f = &s.faults;

	for (unsigned int i = 0; i < 8000; i++) {
		struct fault like = { .code = i / 2, .nvswitch = i % 2 };

		COPY(like.severity, i < 6000 ? "warning" : i % 3 ? "fatal" : "unknown");
		snprintf(like.device, sizeof(like.device), "device %u", i);
		faults_add(f, &like, 1e9 + i);
		if (i > 600) /* the tables below are full */
			continue;
		for (unsigned int k = 0; k < 40; k++) {
			faults_add_kernel_event(f, k % 2, formatted("kind_%u", k), like.device,
						NULL, i);
		}
		faults_gpu(f, like.device);
		faults_rate_limited(f, like.device);
		faults_recovered(f, like.device, "device_probed", i);
		faults_recovered(f, like.device, "action_none", i);
	}
	for (size_t i = 0; i < f->counts.fault_count; i++) {
		struct fault_repeats *repeats = &f->counts.faults[i].repeats;

		for (repeats->count = 0; repeats->count < FAULT_REPEATS; repeats->count++)
			repeats->times[repeats->count] = 1e9 + i;
	}
	faults_recovered(f, "all", "driver_loaded", 1);
	for (unsigned int i = 0; i < 1000; i++)
		faults_note_past(f, "GPU-11111111-2222-3333-4444-555555555555", i % 100, i & 1,
				 1e9 + i);
	assert_true(f->counts.fault_count > MAX_FAULTS_IN_ALL);
	read_back();
	print_message("the fullest state has %zu bytes\n", len);
	assert_in_range(len, 1, 4 << 20); /* HEALTH_FILE_MAX_BYTES */
}

static void assert_refused(const char *text, size_t len)
{
	struct fault_state refused;
	char *exact = exact_copy(text, len);

	assert_int_equal(fault_state_read(&refused, exact, len), -EINVAL);
	assert_null(refused.faults.counts.faults);
	assert_null(refused.faults.counts.kernel_events);
	assert_int_equal(refused.next, 0);
	free(exact);
}

TEST(torn_anywhere_it_is_none)
{
	fill(&s);
	text = write_text(&s, &len);
	for (size_t i = 0; i < len; i++)
		assert_refused(text, i);
}

TEST(changed_anywhere_it_is_none)
{
	fill(&s);
	text = write_text(&s, &len);
	for (size_t i = 0; i < len; i++) {
		text[i] ^= 1;
		assert_refused(text, len);
		text[i] ^= 1;
	}
}

#define HEAD "{\"format\":\"xidscope-state\"}\n"

/* Ends a text, as the last line of a state does. */
static char *with_end(const char *text)
{
	static char whole[1 << 16];
	char end[TABLES_END_SIZE];

	tables_end(end, (uint32_t)crc32(0, (const Bytef *)text, (uInt)strlen(text)));
	snprintf(whole, sizeof(whole), "%s%s", text, end);
	return whole;
}

/* @body between a good head and a good end. */
static int read_body(const char *body)
{
	const char *whole = with_end(formatted(HEAD "%s\n", body));

	return fault_state_read(&s, whole, strlen(whole));
}

#define STATE "\"state\":[{}]"

TEST(what_makes_no_sense_is_refused)
{
	assert_int_equal(read_body("{\"state\":[{\"next\":5}]}"), 0);
	assert_int_equal(s.next, 5);
	fault_state_free(&s);
	NONE_ACCEPTED(
		text, read_body(text) != -EINVAL, "", "{}", "[]", "{" STATE, "{" STATE "}x",
		"{\"state\":[]}", "{\"state\":[{},{}]}", "{\"state\":{}}", "{\"state\":[[]]}",
		"{\"state\":[{\"boot_to_wall\":-1}]}", "{\"state\":[{\"boot_to_wall\":\"x\"}]}",
		"{\"state\":[{\"next\":-1}]}", "{\"state\":[{\"next\":1.5}]}",
		"{\"state\":[{\"next\":18446744073709551616}]}", "{\"state\":[{\"next\":[1]}]}",
		"{\"state\":[{\"boot\":1}]}", "{" STATE ",\"faults\":[{\"code\":4294967296}]}",
		"{" STATE ",\"faults\":[{\"nvswitch\":1}]}",
		"{" STATE ",\"faults\":[{\"last\":1e12}]}",
		"{" STATE ",\"faults\":[{\"repeats.count\":9}]}",
		"{" STATE ",\"faults\":[{\"repeats.times\":[1,2,3,4,5,6,7,8,9]}]}",
		"{" STATE ",\"faults\":[{\"repeats.times\":[-1]}]}", "{" STATE ",\"faults\":[1]}");
}

TEST(a_file_of_another_program_is_refused)
{
	const char *other = with_end("{\"format\":\"xidscope-recording\"}\n{" STATE "}\n");

	assert_refused("", 0);
	assert_refused(other, strlen(other));
	assert_refused(HEAD, strlen(HEAD));
}

TEST(a_boot_has_an_id)
{
	assert_int_equal(strlen(boot_id()), 36);
}

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
}

AFTER_EACH()
{
	faults_free(&faults);
	free(given.text);
}

static bool load(void)
{
	file = (struct state_file){ .log = &quiet, .store = &store };
	return state_file_load(&file, &faults, &next);
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
	state_file_save(&file, &faults, next_record, 0);
	assert_int_equal(given.times, times);
}

static void add_fault(void)
{
	struct fault like = { .device = "0000:c1:00.0", .code = 79 };

	faults_add(&faults, &like, 1700000000);
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
	file.lost = true;
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
	} cases[] = { { ",\"boot_to_wall\":1000", 1, 1005 },
		      { ",\"boot_to_wall\":0", 0, 0 },
		      { "", 0, 0 } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		fresh();
		store.text = with_end(formatted(
			HEAD
			"{\"state\":[{\"boot\":\"x\",\"next\":1%s}],\"faults\":[{\"device\":\"a\","
			"\"code\":79,\"severity\":\"fatal\",\"action\":\"x\",\"count\":1,"
			"\"incidents\":1,\"first\":5,\"last\":5,\"repeats.times\":[5],"
			"\"repeats.count\":1}]}\n",
			cases[i].wall));
		store.len = strlen(store.text);
		assert_false(load());
		assert_int_equal(faults.counts.fault_count, 0);
		assert_int_equal(faults.past_count, cases[i].count);
		if (cases[i].count)
			assert_true(faults.past[0].boots.times[0] == cases[i].time);
		/* the same boot goes on with it */
		state_file_save(&file, &faults, 3, 2000);
		assert_true(load_again());
		assert_int_equal(faults.past_count, cases[i].count);
	}
}

TEST(that_the_log_was_not_read_is_kept)
{
	assert_false(load());
	add_fault();
	save(STATE_LOG_NOT_READ, 1);
	assert_true(load_again());
	assert_true(next == STATE_LOG_NOT_READ);
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
	assert_false(state_file_load(&file, &faults, &next));
	assert_false(state_file_changed(&file, &faults));
	save(1, 0);
}
