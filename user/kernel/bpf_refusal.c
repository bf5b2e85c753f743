// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why the kernel refused a BPF program: the meaning of libbpf's and the verifier's messages. */

#include "kernel/bpf_support.h"

#define PARTS 3
#define PART_SIZE 128 /* bytes, with the NUL */

/* The first row that matches, words and parts, wins. */
static const struct {
	const char *words; /* the message contains these */
	const char *scan; /* sscanf() format of what follows; parts are texts */
	int parts;
	const char *feature; /* snprintf() format for the parts */
} rows[] = {
#define TABLE_ROW(words, scan, parts, feature) { words, scan, parts, feature },
#include "bpf_refusals.inc"
#undef TABLE_ROW
};

static bool explain_row(char *feature, size_t size, const char *words, size_t r)
{
	char part[PARTS][PART_SIZE] = {};
	const char *at = words;

	while ((at = strstr(at, rows[r].words))) {
		at += strlen(rows[r].words);
		/* Parts that are not in the format stay empty. */
		if (rows[r].parts &&
		    sscanf(at, rows[r].scan, part[0], part[1], part[2]) < rows[r].parts)
			continue;
		snprintf(feature, size, rows[r].feature, part[0], part[1], part[2]);
		return true;
	}
	return false;
}

/* The verifier's log ends with its reason, a line of figures, and libbpf's mark. */
static bool explain_verdict(char *feature, size_t size, const char *words)
{
	const char *end = strstr(words, "\n-- END PROG LOAD LOG --"), *begin;
	const char *figures = strstr(words, "\nprocessed ");
	const char *mark = "-- BEGIN PROG LOAD LOG --", *good = " is safe for any args that match ";

	if (figures && figures < end)
		end = figures;
	if (!end)
		return false;
	for (begin = end; begin > words && begin[-1] != '\n'; begin--)
		;
	if (memmem(begin, (size_t)(end - begin), mark, strlen(mark)) ||
	    memmem(begin, (size_t)(end - begin), good, strlen(good)))
		snprintf(feature, size,
			 "the kernel's verifier accepts the program, but something else "
			 "in the kernel refuses it, such as a security module");
	else
		snprintf(feature, size, "the kernel's verifier reports: %.*s", (int)(end - begin),
			 begin);
	return true;
}

bool bpf_refusal_explain(char *feature, size_t size, const char *words)
{
	for (size_t r = 0; r < COUNT(rows); r++)
		if (explain_row(feature, size, words, r))
			return true;
	if (explain_verdict(feature, size, words))
		return true;
	/* It did not reach the verifier. */
	if (!strstr(words, "BPF program load failed: Invalid argument"))
		return false;
	snprintf(feature, size,
		 "the kernel gives no reason; it may not support programs of this type");
	return true;
}
