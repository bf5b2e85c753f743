// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a recording gives each snapshot back as it was, in few bytes, and that one that was cut or damaged
 * gives all that is whole. */

#include "printed.h"
#include "session/recording.h"
#include "snapshot.h"

/* Fills each byte of an entry but the texts', which must end, so that a member which is not recorded
 * shows. Returns whether the type of the entry has @offset in a text, or in a gap for alignment. */
static void fill_entries(const struct table *t, struct snapshot *s, unsigned int seed)
{
	char *array = calloc(3, t->size);
	size_t entries = 3;

	assert_non_null(array);
	for (size_t e = 0; e < entries; e++)
		for (size_t f = 0; f < t->field_count; f++) {
			const struct field *field = &t->fields[f];
			char *at = array + e * t->size + field->offset;

			if (field->left_out)
				continue;
			if (field->type == FIELD_TEXT)
				snprintf(at, field->count, "t%zu-%zu-%u", e, f, seed % 2);
			else if (field->type == FIELD_BOOL)
				*(bool *)at = seed & 1;
			else if (field->type == FIELD_DOUBLE)
				*(double *)at = 1e9 + seed;
			else if (field->type == FIELD_U32)
				for (size_t i = 0; i < field->count; i++)
					((uint32_t *)at)[i] = seed * 77 + (uint32_t)i;
			else
				for (size_t i = 0; i < field->count; i++)
					((uint64_t *)at)[i] = seed * 1000000007ull * (i + e);
		}
	memcpy((char *)s + t->part + t->array, &array, sizeof(array));
	memcpy((char *)s + t->part + t->entries, &entries, sizeof(entries));
}

static void fill(struct snapshot *s, unsigned int seed)
{
	*s = (struct snapshot){ .time_ns = 1000 + seed,
				.wall = 1e9 + seed,
				.calls.source = RPC_SOURCE_BTF,
				.calls.rpc_missing = seed % 2 ? "it is not loaded" : NULL,
				.calls.unknown = seed,
				.calls.slots_wanted = { 64 + seed, 2 + seed } };
	for (size_t i = 1; i < TABLES; i++)
		if (tables[i].max && !tables[i].fixed)
			fill_entries(&tables[i], s, seed);
	snapshot_hook(&s->self, "one", true);
	snapshot_hook(&s->self, "two", seed & 1);
	s->self.rpc_hook_count = 1;
	snapshot_drop(&s->self, "waiter", seed);
}

/* All that is recorded of them, but the text of rpc_missing, which is of the reader. */
static void same(const struct snapshot *a, const struct snapshot *b)
{
	assert_printed(a->calls.rpc_missing ?: "", "%s", b->calls.rpc_missing ?: "");
	for (const struct table *t = tables; t < tables + TABLES; t++) {
		const char *x = table_array(t, (const char *)a + t->part);
		const char *y = table_array(t, (const char *)b + t->part);
		size_t entries = table_count(t, (const char *)a + t->part);

		if (!t->max)
			continue;
		assert_int_equal(table_count(t, (const char *)b + t->part), entries);
		for (; entries; entries--, x += t->size, y += t->size)
			for (const struct field *f = t->fields; f < t->fields + t->field_count; f++)
				if (f->type == FIELD_NAME)
					assert_printed(*(char *const *)(x + f->offset) ?: "", "%s",
						       *(char *const *)(y + f->offset) ?: "");
				else if (!f->left_out)
					assert_memory_equal(x + f->offset, y + f->offset, f->size);
	}
}

static const struct session_origin origin = { "node\n1", "6.1.0-test", "0.2.0", -3600 };
static unsigned int count; /* of the snapshots that were read last */

/* Records so many snapshots. */
static void record(unsigned int snapshots)
{
	FILE *out = text_begin();
	struct recorder *r = recorder_new(out, &origin);
	struct snapshot s;

	assert_non_null(r);
	for (unsigned int i = 0; i < snapshots; i++) {
		fill(&s, i);
		assert_int_equal(recorder_add(r, &s), 0);
		snapshot_free(&s);
	}
	assert_int_equal(recorder_end(r), 0);
	text_end(out);
}

/* Reads all that @len bytes hold, and compares it. Returns how the reading ended. */
static int replay(size_t len)
{
	FILE *in = fmemopen(text, len ? len : 1, "r");
	struct recording *r = recording_new(in);
	struct snapshot got = {}, expected;
	int state;

	assert_non_null(r);
	for (count = 0; (state = recording_next(r, &got)) > 0; count++) {
		fill(&expected, count);
		same(&expected, &got);
		snapshot_free(&expected);
		snapshot_free(&got);
	}
	if (count) {
		assert_string_equal(recording_origin(r)->host, "node?1");
		assert_string_equal(recording_origin(r)->kernel, origin.kernel);
		assert_string_equal(recording_origin(r)->version, origin.version);
		assert_int_equal(recording_origin(r)->utc_offset, origin.utc_offset);
	}
	recording_free(r);
	fclose(in);
	return state;
}

TEST(a_recording_gives_back_what_was_recorded)
{
	record(20);
	assert_int_equal(replay(text_len), 0);
	assert_int_equal(count, 20);
	record(0);
	assert_int_equal(replay(text_len), 0);
	assert_int_equal(count, 0);
}

TEST(a_cut_recording_gives_what_is_whole)
{
	unsigned int whole = 0;

	record(5);
	for (size_t len = 0; len < text_len; len++) {
		int state = replay(len);

		assert_int_equal(state, len < strlen(RECORDING_HEAD) ? -EBADMSG : -ENODATA);
		assert_true(count >= whole && count <= 5);
		whole = count;
	}
	assert_int_equal(whole, 5); /* only the mark of the end was missing */
}

TEST(a_damaged_recording_gives_what_is_before_the_damage)
{
	record(5);
	for (size_t at = 0; at < text_len; at++) {
		text[at] ^= 0x10;
		assert_true(replay(text_len) < 0);
		assert_true(count <= 5);
		text[at] ^= 0x10;
	}
}

TEST(what_follows_the_end_is_damage)
{
	record(2);
	text = realloc(text, text_len + 1);
	assert_non_null(text);
	text[text_len] = 0;
	assert_int_equal(replay(text_len + 1), -EBADMSG);
	assert_int_equal(count, 2);
}

/* A few bytes, compressed, could hold texts of many gigabytes. */
TEST(a_text_longer_than_any_field_is_damage)
{
	static const uint8_t head[] = { 1, 0x81, 8 }; /* one text, of 1,025 bytes */
	/* One snapshot, of 14 numbers, and no entry of the 13 tables after it. */
	const size_t numbers = 1 + 14 + 13;
	uint8_t frame[sizeof(head) + 1025 + 32] = {};
	struct recording *r = recording_new(stdin);
	struct snapshot s = {};

	assert_non_null(r);
	memcpy(frame, head, sizeof(head));
	memset(frame + sizeof(head), 'a', 1025);
	frame[sizeof(head) + 1025] =
		2; /* the snapshot itself, 1 after 0; all its numbers and tables are 0 */
	assert_int_equal(recording_decode(r, frame, sizeof(head) + 1025 + numbers, &s), -EBADMSG);
	memmove(frame + 3, frame + 4, sizeof(frame) - 4);
	frame[1]--;
	assert_int_equal(recording_decode(r, frame, sizeof(head) + 1024 + numbers, &s), 1);
	snapshot_free(&s);
	recording_free(r);
}

/* A process may change its name before each call. */
TEST(names_without_end_do_not_end_a_recording)
{
	struct slow_call slow[1000] = {};
	struct snapshot s = { .calls.slow = slow, .calls.slow_count = COUNT(slow) }, got = {};
	FILE *out = text_begin(), *in;
	struct recorder *w = recorder_new(out, &origin);
	struct recording *r;
	unsigned int number = 0;

	assert_non_null(w);
	for (int frame = 0; frame < 17; frame++) {
		for (size_t i = 0; i < COUNT(slow); i++)
			snprintf(slow[i].comm, sizeof(slow[i].comm), "n%u", number++);
		assert_int_equal(recorder_add(w, &s), 0);
	}
	assert_int_equal(recorder_end(w), 0);
	text_end(out);
	in = fmemopen(text, text_len, "r");
	r = recording_new(in);
	for (int frame = 0; frame < 17; frame++) {
		snapshot_free(&got);
		assert_int_equal(recording_next(r, &got), 1);
		assert_int_equal(got.calls.slow_count, COUNT(slow));
		if (!frame)
			assert_string_equal(got.calls.slow[999].comm, "n999");
	}
	assert_string_equal(got.calls.slow[999].comm, "");
	snapshot_free(&got);
	assert_int_equal(recording_next(r, &got), 0);
	recording_free(r);
	fclose(in);
}

TEST(another_version_is_named)
{
	record(1);
	text[strlen(RECORDING_HEAD) - 2]++;
	assert_int_equal(replay(text_len), -EPROTO);
}

/* Ten ops of one server, each second 200 calls to each with durations over three octaves. */
TEST(an_hour_of_ten_ops_takes_at_most_5_MB)
{
	uint64_t random = 42;
	FILE *out = text_begin();
	struct recorder *r = recorder_new(out, &origin);

	assert_non_null(r);
	now.calls.source = RPC_SOURCE_BTF;
	assert_non_null(snapshot_server(&now.calls, "nas-1"));
	assert_non_null(snapshot_transport(&now.calls, "nas-1", "tcp/0"));
	for (int second = 0; second < 3600; second++) {
		now.time_ns += 1000000000;
		now.wall = 1795368827.020 + second * 1.0001;
		for (int o = 0; o < 10; o++) {
			struct rpc_op *op = snapshot_op(&now.calls, "nas-1", formatted("OP%d", o));

			assert_non_null(op);
			for (int call = 0; call < 200; call++) {
				uint64_t each[RPC_PHASES] = {}, total = 0;

				for (int p = 0; p < RPC_PHASES; p++) {
					random = random * 6364136223846793005ull +
						 1442695040888963407ull;
					/* slot, setup, rtt and finish take time */
					if (p == 1 || p >= RPC_PHASE_SETUP)
						each[p] = (100000ull << p % 3) + (random >> 44);
					histogram_record(&op->phase[p], 1, each[p]);
					total += each[p];
				}
				histogram_record(&op->total, 1, total);
				now.calls.servers[0].depth[4].bucket[random >> 60]++;
				now.calls.servers[0].depth[4].sum += random >> 60;
			}
			op->sent_bytes += 200 * 150;
			op->received_bytes += 200 * 4200;
			now.calls.transports[0].replies += 200;
			now.calls.transports[0].rtt_ns += random >> 30;
		}
		assert_int_equal(recorder_add(r, &now), 0);
	}
	assert_int_equal(recorder_end(r), 0);
	text_end(out);
	print_message("an hour takes %zu bytes\n", text_len);
	assert_in_range(text_len, 1, 5000000);
}
