// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why the kernel refused a BPF program: the meaning of libbpf's and the verifier's messages. */

#include "kernel/bpf_support.h"

#define PARTS 3
#define PART_SIZE 128 /* bytes, with the NUL */

#define LOCKED_DOWN "lockdown mode 'confidentiality' forbids BPF programs to read kernel memory"

/* The first row that matches, words and parts, wins. */
static const struct {
	const char *words; /* the message contains these */
	const char *scan; /* sscanf() format of what follows; parts are texts */
	int parts;
	const char *feature; /* snprintf() format for the parts */
} rows[] = {
	/* libbpf turns an instruction that it cannot relocate into a call of a
	 * helper that does not exist, and rewrites the kernel's error about it. */
	{ "failed to resolve CO-RE relocation <", "%*[^>]> [%*u] %31s %127[^. ].%127s", 3,
	  "in this kernel's types, %s %s has no member %s, or one of another type" },
	{ "failed to resolve CO-RE relocation <", "%*[^>]> [%*u] %31s %127s", 2,
	  "this kernel's types have no %s %s" },
	{ "invalid func unknown#195896080", "", 0,
	  "this kernel's types lack something that the program reads" },
	{ "failed to find kernel BTF type ID of '", "%127[^']", 1,
	  "this kernel's types have no tracepoint %s" },
	{ "failed to find valid kernel BTF", "", 0, "this kernel's types (BTF) cannot be read" },

	{ "Couldn't load trivial BPF program", "", 0, "this process may not load any BPF program" },
	{ "failed to find the address for kernel symbol '", "%127[^']", 1,
	  "the kernel does not list its symbol %s" },
	{ "map '", "%127[^']': failed to create: %127[^(\n]", 2,
	  "the kernel cannot create the BPF map %s: %s" },

	/* All programs that trace may call it, but for lockdown. */
	{ "func bpf_probe_read", "", 0, LOCKED_DOWN },
	{ "helper bpf_probe_read", "", 0, LOCKED_DOWN },
	/* The first form is up to 6.12, the second is later. */
	{ "unknown func ", "%127[^#\n]#", 1,
	  "on this kernel, this type of program may not call the helper %s" },
	{ "program of this type cannot use helper ", "%127[^#\n]#", 1,
	  "on this kernel, this type of program may not call the helper %s" },
	{ "invalid func unknown#", "%127[0-9]", 1, "the kernel has no helper of number %s" },
	{ "calling kernel function ", "%127s is not allowed", 1,
	  "on this kernel, this type of program may not call the kernel's function %s" },
	{ "func '", "%127[^']' doesn't have %127[0-9]", 2, "the tracepoint %s has no argument %s" },
	{ "BPF program is too large. Processed ", "%127[0-9]", 1,
	  "the program is too long for this kernel's verifier, which followed %s instructions" },
	/* Of kernels up to 5.11, but RHEL 8's. */
	{ "BPF_STX uses reserved fields", "", 0,
	  "the kernel has no atomic instructions that return a value (from 5.12)" },
	{ "The sequence of ", "%127[0-9] jumps is too complex", 1,
	  "the program is too complex for this kernel's verifier, which followed %s jumps" },

	{ "failed to determine tracepoint '", "%127[^']' perf event ID: %127[^\n]", 2,
	  "tracefs does not have the event %s: %s" },
	{ "perf_event_open() failed: Permission denied", "", 0,
	  "this process may not open events (perf_event_open): it needs CAP_PERFMON, or where "
	  "kernel.perf_event_paranoid is above 2, as on Debian, CAP_SYS_ADMIN" },
	{ "tracepoint '", "%127[^']' perf_event_open() failed: %127[^\n]", 2,
	  "the kernel cannot open the event %s (perf_event_open): %s" },
	{ "failed to attach to tracepoint '", "%127[^']': %127[^\n]", 2,
	  "the kernel cannot attach programs to the event %s: %s" },
	{ "failed to attach to raw tracepoint '", "%127[^']': %127[^\n]", 2,
	  "the kernel cannot attach programs to the raw tracepoint %s: %s" },
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
