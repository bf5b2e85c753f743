// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a recording gives each snapshot back as it was; that one that was cut, changed or made up is
 * refused, with how far it is whole; that one from before or after a field was added is read. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "printed.h"
#include "session/session.h"
#include "snapshot.h"

/* How many entries each table gets, and how many numbers of an array are not 0: fewer for tests that change each byte. */
static size_t entries_each, numbers_each;

BEFORE_EACH()
{
	entries_each = 3;
	numbers_each = SIZE_MAX;
}

static void make_small(void)
{
	entries_each = 1;
	numbers_each = 2;
}

/* Fills each byte of an entry but the texts', which must end, so that a member which is not recorded
 * shows. Returns whether the type of the entry has @offset in a text, or in a gap for alignment. */
static void fill_entries(const struct table *t, struct snapshot *s, unsigned int seed)
{
	size_t entries = entries_each;
	char *array = not_null(calloc(entries, t->size));

	for (size_t e = 0; e < entries; e++)
		for (size_t f = 0; f < t->field_count; f++) {
			const struct field *field = &t->fields[f];
			char *at = array + e * t->size + field->offset;

			if (field->type == FIELD_TEXT)
				snprintf(at, field->size, "t%zu-%zu-%u", e, f, seed % 2);
			else if (field->type == FIELD_BOOL)
				*(bool *)at = seed & 1;
			else if (field->type == FIELD_DOUBLE)
				for (size_t i = 0; i < field_numbers(field); i++)
					((double *)at)[i] = 1e9 + seed + (double)i / 3;
			else if (field->type == FIELD_U32)
				for (size_t i = 0; i < field_numbers(field); i++)
					((uint32_t *)at)[i] = (seed * 77 + (uint32_t)i) %
							      (field->most ?: UINT32_MAX);
			else
				for (size_t i = 0; i < field_numbers(field) && i < numbers_each;
				     i++)
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
				.calls.unknown = seed,
				.calls.slots_wanted = { 64 + seed, 2 + seed } };
	if (seed % 2)
		strcpy(s->calls.rpc_missing, "it is not loaded");
	for (size_t i = 1; i < TABLES; i++)
		if (tables[i].max && !tables[i].room)
			fill_entries(&tables[i], s, seed);
	snapshot_hook(&s->self, "one", true);
	snapshot_hook(&s->self, "two", seed & 1);
	s->self.rpc_hook_count = 1;
	snapshot_drop(&s->self, "waiter", seed);
}

/* All that is recorded of them. */
static void same(const struct snapshot *a, const struct snapshot *b)
{
	for (const struct table *t = tables; t < tables + TABLES; t++) {
		const char *x = table_array(t, (const char *)a + t->part);
		const char *y = table_array(t, (const char *)b + t->part);
		size_t entries = table_count(t, (const char *)a + t->part);

		if (!t->max)
			continue;
		assert_int_equal(table_count(t, (const char *)b + t->part), entries);
		for (; entries; entries--, x += t->size, y += t->size)
			for (const struct field *f = t->fields; f < t->fields + t->field_count; f++)
				if (f->type == FIELD_TEXT)
					assert_string_equal(x + f->offset, y + f->offset);
				else
					assert_memory_equal(x + f->offset, y + f->offset, f->size);
	}
}

static const struct session_origin origin = { "node\n1", "6.1.0-test", "0.2.0", -3600 };
static int file;
static struct recorder *writer;

static void record_begin(void)
{
	file = memfd_create("recording", 0);
	assert_true(file >= 0);
	writer = not_null(recorder_new(dup(file), &origin));
}

/* The file becomes @text. */
static void record_end(void)
{
	struct stat st;

	assert_int_equal(recorder_end(writer), 0);
	assert_int_equal(fstat(file, &st), 0);
	text_len = (size_t)st.st_size;
	free(text);
	text = not_null(malloc(text_len + 1));
	assert_int_equal(pread(file, text, text_len, 0), text_len);
	text[text_len] = 0;
	close(file);
}

/* Records so many snapshots. */
static void record(unsigned int snapshots)
{
	struct snapshot s;

	record_begin();
	for (unsigned int i = 0; i < snapshots; i++) {
		fill(&s, i);
		assert_int_equal(recorder_add(writer, &s), 0);
		snapshot_free(&s);
	}
	record_end();
}

static struct recording *open_recording(const char *bytes, size_t len)
{
	int fd = memfd_create("recording", 0);
	struct recording *r = not_null(recording_new(fd));

	assert_int_equal(pwrite(fd, bytes, len, 0), len);
	return r;
}

static char problem[RECORDING_PROBLEM_SIZE]; /* "": none */
static unsigned int count; /* of the snapshots that were read last */

/* Reads and compares all of it. Returns what recording_check() has. */
static int replay(const char *bytes, size_t len)
{
	struct recording *r = open_recording(bytes, len);
	struct snapshot got = {}, expected;
	int err = recording_check(r), state = 1;

	*problem = 0;
	if (err)
		recording_problem(r, err, problem);
	for (count = 0; !err && (state = recording_next(r, &got)) > 0; count++) {
		fill(&expected, count);
		same(&expected, &got);
		snapshot_free(&expected);
		snapshot_free(&got);
	}
	if (!err) {
		assert_int_equal(state, 0);
		assert_string_equal(recording_origin(r)->host, origin.host);
		assert_string_equal(recording_origin(r)->kernel, origin.kernel);
		assert_string_equal(recording_origin(r)->version, origin.version);
		assert_int_equal(recording_origin(r)->utc_offset, origin.utc_offset);
	}
	recording_free(r);
	return err;
}

/* @text becomes what it was compressed from, which is a recording as well. */
static void expand(void)
{
	static char plain[1 << 22];
	int fd = memfd_create("recording", 0), len;
	gzFile in = gzdopen(fd, "r");

	assert_int_equal(pwrite(fd, text, text_len, 0), text_len);
	len = gzread(in, plain, sizeof(plain) - 1);
	assert_in_range(len, 1, sizeof(plain) - 2);
	plain[len] = 0;
	gzclose(in);
	free(text);
	text = strdup(plain);
	text_len = (size_t)len;
}

/* Gives the text, which has been changed, the right end. */
static void end_again(void)
{
	char *end = strstr(text, "{\"end\":");

	assert_non_null(end);
	text_len = (size_t)(end - text) + TABLES_END_SIZE - 1;
	tables_end(end, (uint32_t)crc32(0, (const Bytef *)text, (uInt)(end - text)));
}

TEST(a_recording_gives_back_what_was_recorded)
{
	record(20);
	assert_int_equal(replay(text, text_len), 0);
	assert_int_equal(count, 20);
	expand();
	assert_int_equal(replay(text, text_len), 0);
	assert_int_equal(count, 20);
	record(0);
	assert_int_equal(replay(text, text_len), -ENOMSG);
	assert_string_equal(problem, "it has no snapshot");
}

TEST(a_cut_recording_is_refused)
{
	make_small();
	record(3);
	for (size_t len = 0; len < text_len; len++) {
		int state = replay(text, len);

		assert_true(state == -ENODATA || (!strncmp(problem, "it is no recording", 18)));
	}
	assert_string_equal(
		problem, "it was cut after line 4 (3 snapshots, until 2001-09-09 01:46:42 +0000)");
	expand();
	for (size_t len = 0; len < text_len; len += 5)
		assert_true(replay(text, len) == -ENODATA ||
			    (!strncmp(problem, "it is no recording", 18)));
}

/* Bits of gzip that mean nothing may change: the time and the system in its head, and padding. */
TEST(a_changed_recording_is_refused_or_gives_the_same)
{
	size_t same = 0;

	make_small();
	record(3);
	for (size_t at = 0; at < text_len; at++) {
		text[at] ^= (char)(1 << at % 8);
		same += !replay(text, text_len);
		text[at] ^= (char)(1 << at % 8);
	}
	assert_in_range(same, 1, text_len / 32);
	expand();
	for (size_t at = 0; at < text_len; at += 5) {
		text[at] ^= 1;
		assert_true(replay(text, text_len) < 0);
		text[at] ^= 1;
	}
}

TEST(what_follows_the_end_is_refused)
{
	make_small();
	record(2);
	expand();
	text = not_null(realloc(text, 2 * text_len));
	memcpy(text + text_len, text, text_len);
	assert_int_equal(replay(text, 2 * text_len), -EBADMSG);
	assert_int_equal(replay(text, text_len + 1), -EBADMSG);
}

/* Replaces each @from by @to, which is as long. */
static void rename_all(const char *from, const char *to)
{
	char *at = text;

	assert_non_null(strstr(text, from));
	while ((at = strstr(at, from)))
		memcpy(at, to, strlen(to));
	end_again();
}

static struct snapshot read_one(void)
{
	struct recording *r = open_recording(text, text_len);
	struct snapshot s = {};

	assert_int_equal(recording_next(r, &s), 1);
	recording_free(r);
	return s;
}

#define UNKNOWN(fact, element) RPC_FACT_BIT(RPC_FACT_##fact + (element))

/* A reader that knows more, or less, than the writer did. */
TEST(fields_and_tables_of_another_version_are_no_damage)
{
	struct snapshot s;

	record(2);
	expand();
	rename_all("\"sent_bytes\":", "\"later_name\":");
	rename_all("\"session\":", "\"earlier\":"); /* the first phase */
	rename_all("\"rtt\":", "\"new\":");
	rename_all("\"errors\":[{", "\"others\":[{");
	rename_all("\"calls.source\":\"btf\"", "\"calls.source\":\"new\"");
	s = read_one();
	assert_int_equal(s.calls.op_count, 3);
	assert_int_equal(s.calls.ops[2].sent_bytes, 0);
	assert_int_equal(s.calls.error_count, 0);
	assert_int_equal(s.calls.source, RPC_SOURCE_NONE);
	assert_int_equal(
		s.calls.unknown,
		UNKNOWN(SENT_BYTES, 0) | UNKNOWN(PHASE, RPC_PHASE_SESSION) |
			UNKNOWN(PHASE, RPC_PHASE_RTT) | UNKNOWN(SATURATED, RPC_LIMIT_SESSION) |
			UNKNOWN(DEPTH, RPC_QUEUE_SESSION) | UNKNOWN(DEPTH_MAX, RPC_QUEUE_SESSION) |
			UNKNOWN(OLDEST, RPC_QUEUE_SESSION));
	snapshot_free(&s);
}

/* As if it was written before this field was added, at whatever place of the table. */
TEST(a_table_less_one_row_is_read)
{
	const struct table *whole = &tables[TABLE_TRANSPORTS];
	struct field fields[64];
	struct table less = *whole;
	struct snapshot old = {};

	less.fields = fields;
	less.field_count--;
	fill_entries(whole, &old, 5);
	for (size_t row = 0; row < whole->field_count; row++) {
		const struct table_place from = { .table = &less, .part = &old.calls };
		const struct table_place to = { .table = whole, .part = &now.calls };
		uint64_t missing = 0,
			 fact = whole->fields[row].fact ? RPC_FACT_BIT(whole->fields[row].fact) : 0;
		FILE *out;

		fresh();
		memcpy(fields, whole->fields, row * sizeof(*fields));
		memcpy(fields + row, whole->fields + row + 1,
		       (whole->field_count - row - 1) * sizeof(*fields));
		out = text_begin();
		assert_int_equal(tables_write(out, &from, 1), 0);
		text_end(out);
		assert_int_equal(
			tables_read((struct span){ text, text + text_len }, &to, 1, &missing), 0);
		assert_true(fact ? missing & fact : !missing);
		for (size_t f = 0; f < whole->field_count; f++) {
			const struct field *field = &whole->fields[f];
			char *read = (char *)&now.calls.transports[1] + field->offset;
			static const char zeros[1024];

			assert_memory_equal(
				read,
				f == row ? zeros : (char *)&old.calls.transports[1] + field->offset,
				field->size);
		}
	}
	snapshot_free(&old);
}

/* With --files 1000: by each of three measures other files, and other directories. */
TEST(the_most_files_that_are_shown_can_be_recorded)
{
	struct snapshot s = {};

	entries_each = 6000;
	fill_entries(&tables[TABLE_FILES], &s, 1);
	record_begin();
	assert_int_equal(recorder_add(writer, &s), 0);
	record_end();
	snapshot_free(&s);
}

TEST(what_is_known_but_has_another_form_is_damage)
{
	static const char *const forms[][2] = {
		{ "\"time_ns\":1000", "\"time_ns\":1e30" },
		{ "\"time_ns\":1000", "\"time_ns\":-100" },
		{ "\"time_ns\":1000", "\"time_ns\":   0" },
		{ "\"time_ns\":1000", "\"time_ns\":null" },
		{ "\"time_ns\":1000", "\"time_ns\":[10]" },
		{ "\"wall\":1000000000.", "\"wall\":-000000000." },
		{ "\"wall\":1000000000.", "\"wall\":900000000e9" },
		{ "\"code\":0", "\"code\":-" },
		{ "\"nvswitch\":false", "\"nvswitch\":12345" },
		{ "\"snapshot\":[{", "\"otherhot\":[{" },
		{ "\"ops\":[{", "\"ops\":[[" },
		{ "\"calls.source\":\"btf\"", "\"calls.source\":12345" },
		{ "\"calls.slots_wanted\":{\"session\":64,\"tcp\":2}",
		  "\"calls.slots_wanted\":[0000000,1111111,2]" },
		{ "\"self.rpc_hook_count\":1", "\"self.rpc_hook_count\":9" },
	};

	for (size_t i = 0; i < COUNT(forms); i++) {
		fresh();
		record(1);
		expand();
		rename_all(forms[i][0], forms[i][1]);
		if (replay(text, text_len) != -EBADMSG)
			fail_msg("%s is no damage: %s", forms[i][1], problem);
		assert_string_equal(problem, "it is damaged after line 1");
	}
}

TEST(what_is_wrong_is_said)
{
	static const char other[] = "something else\n";

	assert_int_equal(replay(other, strlen(other)), -EBADMSG);
	assert_string_equal(problem, "it is no recording of xidscope trace");
	record(1);
	expand();
	text[text_len - 5] ^= 1;
	assert_int_equal(replay(text, text_len), -EILSEQ);
	assert_string_equal(problem, "it is damaged: the checksum after line 2 is wrong");
	rename_all("\"time_buckets\":117", "\"time_buckets\":118");
	assert_int_equal(replay(text, text_len), -EPROTO);
	assert_string_equal(problem, "version 0.2.0 wrote it with other buckets; use that version");
	rename_all("xidscope-recording", "xidscope-recorders");
	assert_int_equal(replay(text, text_len), -EBADMSG);
}
