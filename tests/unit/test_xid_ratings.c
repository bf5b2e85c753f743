// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the rating of each excerpt of tests/data/xid_ratings.tsv, and of each line of xid_lines.tsv that has one, is the
 * one that the vendor's sources ask for, by the rules that it names. */
#include "fault_world.h"
#include "health/health.h"
#include "lines.h"

#define BOOT 1700000000.0

/* Each line is a record of its own, as the driver prints it; 200 s lie between them. */
static struct snapshot after(const char *lines)
{
	struct span rest = span_of(lines);
	struct snapshot s = { .faults.gpu_watched = true };

	fresh();
	w->events.started_ns = UINT64_MAX;
	while (span_left(rest)) {
		struct span line = span_take_line(&rest);

		record_of(0, w->now, formatted("%.*s", (int)span_left(line), line.at));
		w->now += 200 * SECOND;
	}
	faults_snapshot(&w->faults, &(struct fault_clock){ BOOT, 2000 }, &s.faults);
	return s;
}

/* @wanted: the level and the rules. Returns 1 after a line on the difference, if there is one. */
static int judge(const struct line_row *row, char *const *wanted, const struct snapshot *s)
{
	static const char *const names[] = { "ok", "warning", "critical" };
	static struct health_report report;
	struct health_options o;
	char rules[200] = "-";
	size_t len = 0;

	health_defaults(&o);
	health_evaluate(s, &o, BOOT + 2000, &report);
	for (int r = 0; r < HEALTH_RULES; r++)
		if (report.rules[r] != HEALTH_OK)
			len += (size_t)snprintf(rules + len, sizeof(rules) - len, "%s%s",
						len ? " " : "", health_rules[r].name);
	if (!strcmp(names[report.level], wanted[0]) && !strcmp(rules, wanted[1]))
		return 0;
	print_message("line %u: %s by %s, not %s by %s: %s\n", row->number, names[report.level],
		      rules, wanted[0], wanted[1], row->field[1]);
	return 1;
}

TEST(each_excerpt_has_the_rating_of_the_sources)
{
	static const char *const files[] = { TEST_DATA "/xid_ratings.tsv",
					     TEST_DATA "/xid_lines.tsv" };
	int wrong = 0, excerpts = 0;

	for (size_t i = 0; i < COUNT(files); i++) {
		struct line_row row;
		FILE *file = lines_open(files[i], &row);

		while (lines_next(file, &row)) {
			char **wanted = row.field + (i ? 7 : 2);
			struct snapshot s;

			if (!**wanted)
				continue;
			s = after(row.field[1]);
			excerpts++;
			wrong += judge(&row, wanted, &s);
			snapshot_free(&s);
		}
	}
	assert_true(excerpts >= 290);
	assert_int_equal(wrong, 0);
}
