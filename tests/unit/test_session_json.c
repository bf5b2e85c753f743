// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a session's JSON has each figure: of a session in which all is counted, no value is 0, false or empty but those
 * named here. A member that nobody fills shows. */
#include "printed.h"
#include "sinks/report.h"
#include "snapshot.h"

/* Sets the fields of the entry: numbers to @turn times something, texts to the field's name. The first number of a histogram is
 * its sum. */
static void fill_entry(const struct table *t, char *entry, uint64_t turn)
{
	ARRAY_EACH(f, t->fields, t->field_count) {
		char *at = entry + f->offset;

		if (f->type == FIELD_TEXT)
			snprintf(at, f->size, "%s",
				 !strcmp(f->name, "op")     ? "READ" :
				 !strcmp(f->name, "status") ? "EIO" :
							      f->name);
		else if (f->type == FIELD_BOOL)
			*(bool *)at = true;
		else if (f->type == FIELD_DOUBLE)
			*(double *)at = 1e9 + (double)turn;
		for (size_t i = 0; f->type == FIELD_U32 && i < field_numbers(f); i++)
			((uint32_t *)at)[i] = (uint32_t)(4 * turn);
		for (size_t i = 0; f->type == FIELD_U64 && i < field_numbers(f); i++)
			((uint64_t *)at)[i] =
				turn * SECOND * (i || f->size == sizeof(uint64_t) ? 1 : 1000);
	}
}

static struct snapshot made_up(uint64_t turn)
{
	struct snapshot s = {};

	for (const struct table *t = tables + 1; t < tables + TABLES; t++)
		fill_entry(t, table_append(t, (char *)&s + t->part), turn);
	ARRAY_APPEND(s.calls.files, s.calls.file_count);
	s.calls.files[1] = s.calls.files[0];
	s.calls.files[1].directory = false;
	s.time_ns = turn * SECOND;
	s.wall = 1e9 + (double)turn;
	s.calls.source = RPC_SOURCE_BTF;
	s.faults.gpu_watched = true;
	return s;
}

/* Whether the value is 0, false, empty, or a list that begins with such a value. */
static bool is_nothing(const char *value)
{
	size_t zeros;

	value += *value == '[';
	zeros = strspn(value, "0.");
	return (zeros && strchr(",]}", value[zeros])) || strchr("]", *value) ||
	       !strncmp(value, "false", 5) || !strncmp(value, "\"\"", 2);
}

TEST(each_figure_is_there)
{
	/* What nothing happened to here, and the begin of the first interval. */
	static const char *const none[] = { "open_faults_before", "events_left_out", "commands",
					    "episodes",           "faults",          "start" };
	struct session t = { .keep_intervals = true, .origin = { "node", "6.1", "0.3.0", 3600 } };
	const char *verdict, *end;
	FILE *out;
	size_t values = 0;

	for (uint64_t turn = 1; turn <= 4; turn++) {
		struct snapshot s = made_up(turn);

		assert_int_equal(session_add(&t, &s), 0);
	}
	assert_int_equal(session_end(&t), 0);
	out = text_begin();
	session_json_write(out, &t);
	text_end(out);
	session_free(&t);
	/* What is empty here is there too. */
	ARRAY_EACH(n, none, COUNT(none))
		not_null(strstr(text, formatted("\"%s\":", *n)));
	/* The verdict has what it needs: test_verdict. */
	verdict = not_null(strstr(text, "\"verdict\":"));
	end = not_null(strstr(verdict, "\"commands\":"));
	for (const char *at = text; (at = strstr(at, "\":")); at += 2, values++) {
		const char *name = memrchr(text, '"', (size_t)(at - text)) + 1;
		int len = (int)(at - name);

		if (is_nothing(at + 2) && !(at > verdict && at < end) &&
		    !ARRAY_FIND(n, none, COUNT(none),
				strlen(*n) == (size_t)len && !memcmp(*n, name, (size_t)len)))
			fail_msg("%.*s is %.20s", len, name, at + 2);
	}
	assert_true(values > 200);
}
