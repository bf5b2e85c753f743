// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counts of faults as a text, for the state file. */
#include "faults/fault_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file_text.h"
#include "base/span.h"
#include "xid/xid_line.h"

#define HEAD "xidscope-state 1\n"

static uint32_t checksum(const char *text, size_t len)
{
	return (uint32_t)crc32(crc32(0, NULL, 0), (const Bytef *)text, (uInt)len);
}

/* ---- writing ---- */

static void put_word(FILE *out, const char *word)
{
	fputc(' ', out);
	if (!*word)
		fputc('%', out);
	for (; *word; word++) {
		unsigned char c = (unsigned char)*word;

		if (c > ' ' && c < 0x7f && c != '%')
			fputc(c, out);
		else
			fprintf(out, "%%%02x", c);
	}
}

static bool has_places(const struct fault *f)
{
	return !f->nvswitch && f->code == XID_GRAPHICS_EXCEPTION;
}

/* Writes a line for each repeat, the oldest first, if there is room for all. @place: NULL, or that of them. */
static void put_repeats(FILE *out, const struct fault_repeats *r, const unsigned int *place,
			size_t *lines)
{
	if (*lines + r->count > MAX_REPEAT_LINES)
		return;
	*lines += r->count;
	for (unsigned int i = r->count; i-- > 0;)
		if (place)
			fprintf(out, "place %u %.6f\n", *place, r->times[i]);
		else
			fprintf(out, "repeat %.6f\n", r->times[i]);
}

/* @lines: those of repeats that there are already. */
static void put_fault(FILE *out, const struct faults *faults, const struct fault *f, size_t *lines)
{
	const struct fault_place *end = faults->places + faults->place_count;

	fputs("fault", out);
	put_word(out, f->device);
	fprintf(out, " %u %d", f->code, f->nvswitch);
	put_word(out, f->severity);
	put_word(out, f->action);
	fprintf(out, " %" PRIu64 " %" PRIu64 " %.6f %.6f\n", f->count, f->incidents, f->first,
		f->last);
	if (!has_places(f) && f->repeats.count > 1)
		put_repeats(out, &f->repeats, NULL, lines);
	for (const struct fault_place *p = faults->places; has_places(f) && p < end; p++)
		if (!strcmp(p->device, f->device))
			put_repeats(out, &p->repeats, &p->place, lines);
}

/* The oldest first. */
static void put_past(FILE *out, const struct past_fault *p, bool boot,
		     const struct fault_repeats *r)
{
	for (unsigned int i = r->count; i-- > 0;) {
		fputs("past", out);
		put_word(out, p->gpu);
		fprintf(out, " %u %d %.6f\n", p->code, boot, r->times[i]);
	}
}

static void put_lines(FILE *out, const struct fault_state *state)
{
	const struct past_fault *past = state->faults.past, *end = past + state->faults.past_count;
	const struct snapshot *s = &state->faults.counts;
	size_t repeat_lines = 0;

	fputs("boot", out);
	put_word(out, state->boot);
	fputc('\n', out);
	/* A clock that is set to a time before the boot tells no time: nothing is known then. */
	if (state->boot_to_wall > 0)
		fprintf(out, "wall %.6f\n", state->boot_to_wall);
	for (; past < end; past++) {
		put_past(out, past, true, &past->boots);
		put_past(out, past, false, &past->incidents);
	}
	fprintf(out, "next %" PRIu64 "\nlost %" PRIu64 "\npaths", state->next, s->faults.log_lost);
	for (int p = 0; p < FAULT_PATHS; p++)
		fprintf(out, " %" PRIu64, s->faults.fault_paths[p]);
	fputc('\n', out);
	for (size_t i = 0; i < s->faults.fault_count; i++)
		put_fault(out, &state->faults, &s->faults.faults[i], &repeat_lines);
	for (size_t i = 0; i < s->faults.kernel_event_count; i++) {
		const struct kernel_event *e = &s->faults.kernel_events[i];

		fprintf(out, "event %d", e->gpu_driver);
		put_word(out, e->kind);
		put_word(out, e->device);
		fprintf(out, " %" PRIu64 " %.6f\n", e->count, e->last);
	}
	for (size_t i = 0; i < s->faults.gpu_count; i++) {
		const struct gpu_info *g = &s->faults.gpus[i];

		fputs("gpu", out);
		put_word(out, g->gpu);
		put_word(out, g->uuid);
		put_word(out, g->serial);
		fprintf(out, " %d\n", g->rate_limited);
	}
	for (size_t i = 0; i < s->faults.unverified_count; i++) {
		fputs("unverified", out);
		put_word(out, s->faults.unverified[i].gpu);
		fprintf(out, " %u %" PRIu64 "\n", s->faults.unverified[i].code,
			s->faults.unverified[i].count);
	}
	for (size_t i = 0; i < s->faults.recovery_count; i++) {
		fputs("recovery", out);
		put_word(out, s->faults.recoveries[i].gpu);
		put_word(out, s->faults.recoveries[i].evidence);
		fprintf(out, " %.6f\n", s->faults.recoveries[i].time);
	}
}

char *fault_state_write(const struct fault_state *state, size_t *len)
{
	char *text = NULL, *whole = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	fputs(HEAD, out);
	put_lines(out, state);
	if (!fclose(out)) {
		int n = asprintf(&whole, "%send %08" PRIx32 "\n", text, checksum(text, *len));

		if (n < 0)
			whole = NULL;
		else
			*len = (size_t)n;
	}
	free(text);
	return whole;
}

/* ---- reading ---- */

/* The rest of a line; the take_ functions note in it what is wrong. */
struct line {
	struct span rest;
	int error;
};

static struct span take(struct line *l)
{
	struct span word = span_take_until(&l->rest, " ");

	span_take(&l->rest, " ");
	if (!span_left(word))
		l->error = -EINVAL;
	return word;
}

static void take_word(struct line *l, char *to, size_t size)
{
	struct span word = take(l);
	size_t len = 0;

	if (span_is(word, "%"))
		word.at++;
	while (span_left(word)) {
		char c = *word.at++;

		if (c == '%' && span_left(word) >= 2) {
			unsigned int high = span_digit(word.at[0]), low = span_digit(word.at[1]);

			c = (char)(high < 16 && low < 16 ? high << 4 | low : 0);
			word.at += 2;
		} else if (c == '%') {
			c = 0;
		}
		if (!c || len + 1 >= size) {
			l->error = -EINVAL;
			return;
		}
		to[len++] = c;
	}
	to[len] = 0;
}

static uint64_t take_number(struct line *l, uint64_t max)
{
	uint64_t value = 0;

	if (!span_number(take(l), max, &value))
		l->error = -EINVAL;
	return value;
}

static double take_time(struct line *l)
{
	char text[32], *end = text;
	double value = 0;

	if (span_copy(take(l), text, sizeof(text)))
		value = strtod(text, &end);
	if (end == text || *end || !(value >= 0 && value < 1e12))
		l->error = -EINVAL;
	return value;
}

#define TAKE_WORD(l, to) take_word(l, to, sizeof(to))

/* Copies what a line held to @to, its entry; NULL: there is none. */
static void store(struct line *l, void *to, const void *from, size_t size)
{
	if (to)
		memcpy(to, from, size);
	else if (!l->error)
		l->error = -ENOMEM;
}

static void read_fault(struct line *l, struct snapshot *s)
{
	struct fault like = {}, *known = NULL;
	size_t before = s->faults.fault_count;

	TAKE_WORD(l, like.device);
	like.code = (unsigned int)take_number(l, UINT32_MAX);
	like.nvswitch = take_number(l, 1);
	TAKE_WORD(l, like.severity);
	TAKE_WORD(l, like.action);
	like.count = take_number(l, UINT64_MAX);
	like.incidents = take_number(l, UINT64_MAX);
	like.first = take_time(l);
	like.last = take_time(l);
	if (!l->error)
		known = snapshot_fault(&s->faults, &like);
	if (s->faults.fault_count > MAX_FAULTS_IN_ALL + FOLDED_CODES ||
	    (known && s->faults.fault_count == before))
		l->error = -EINVAL;
	store(l, known, &like, sizeof(like));
}

/* A repeat of the last fault, or of a place of its device. */
static void read_repeat(struct line *l, struct faults *faults, bool place)
{
	struct fault_counts *c = &faults->counts.faults;
	struct fault *f = c->fault_count ? &c->faults[c->fault_count - 1] : NULL;
	unsigned int where = place ? (unsigned int)take_number(l, UINT32_MAX) : 0;
	double time = take_time(l);

	if (!f || has_places(f) != place)
		l->error = -EINVAL;
	if (l->error)
		return;
	if (!place)
		faults_note_repeat(&f->repeats, time);
	else if (faults_note_place(faults, f->device, where, 0, time))
		l->error = -ENOMEM;
}

static void read_event(struct line *l, struct snapshot *s)
{
	struct kernel_event like = { .gpu_driver = take_number(l, 1) };

	TAKE_WORD(l, like.kind);
	TAKE_WORD(l, like.device);
	like.count = take_number(l, UINT64_MAX);
	like.last = take_time(l);
	if (s->faults.kernel_event_count > (size_t)2 * MAX_KERNEL_EVENTS)
		l->error = -EINVAL;
	store(l,
	      l->error ? NULL :
			 snapshot_kernel_event(&s->faults, like.gpu_driver, like.kind, like.device),
	      &like, sizeof(like));
}

static void read_gpu(struct line *l, struct snapshot *s)
{
	struct gpu_info like = {};

	TAKE_WORD(l, like.gpu);
	TAKE_WORD(l, like.uuid);
	TAKE_WORD(l, like.serial);
	like.rate_limited = take_number(l, 1);
	if (s->faults.gpu_count > MAX_GPUS)
		l->error = -EINVAL;
	store(l, l->error ? NULL : snapshot_gpu(&s->faults, like.gpu), &like, sizeof(like));
}

static void read_unverified(struct line *l, struct snapshot *s)
{
	struct unverified_xid like = {};

	TAKE_WORD(l, like.gpu);
	like.code = (unsigned int)take_number(l, UINT32_MAX);
	like.count = take_number(l, UINT64_MAX);
	if (s->faults.unverified_count > MAX_UNVERIFIED)
		l->error = -EINVAL;
	store(l, l->error ? NULL : snapshot_unverified(&s->faults, like.gpu, like.code), &like,
	      sizeof(like));
}

static void read_recovery(struct line *l, struct snapshot *s)
{
	struct gpu_recovery like = {};

	TAKE_WORD(l, like.gpu);
	TAKE_WORD(l, like.evidence);
	like.time = take_time(l);
	if (s->faults.recovery_count >= (size_t)2 * MAX_RECOVERIES)
		l->error = -EINVAL;
	store(l, l->error ? NULL : snapshot_recovery(&s->faults, like.gpu, like.evidence), &like,
	      sizeof(like));
}

static void read_past(struct line *l, struct faults *faults)
{
	struct past_fault like;
	bool boot;
	double time;

	TAKE_WORD(l, like.gpu);
	like.code = (unsigned int)take_number(l, UINT32_MAX);
	boot = take_number(l, 1);
	time = take_time(l);
	if (!l->error && faults_note_past(faults, like.gpu, like.code, boot, time))
		l->error = -ENOMEM;
}

static int read_line(struct fault_state *state, struct span text)
{
	struct snapshot *s = &state->faults.counts;
	struct line l = { .rest = text };
	struct span kind = take(&l);

	if (span_is(kind, "boot"))
		TAKE_WORD(&l, state->boot);
	else if (span_is(kind, "wall"))
		state->boot_to_wall = take_time(&l);
	else if (span_is(kind, "past"))
		read_past(&l, &state->faults);
	else if (span_is(kind, "next"))
		state->next = take_number(&l, UINT64_MAX);
	else if (span_is(kind, "lost"))
		s->faults.log_lost = take_number(&l, UINT64_MAX);
	else if (span_is(kind, "paths"))
		for (int p = 0; p < FAULT_PATHS; p++)
			s->faults.fault_paths[p] = take_number(&l, UINT64_MAX);
	else if (span_is(kind, "fault"))
		read_fault(&l, s);
	else if (span_is(kind, "repeat") || span_is(kind, "place"))
		read_repeat(&l, &state->faults, span_is(kind, "place"));
	else if (span_is(kind, "event"))
		read_event(&l, s);
	else if (span_is(kind, "gpu"))
		read_gpu(&l, s);
	else if (span_is(kind, "unverified"))
		read_unverified(&l, s);
	else if (span_is(kind, "recovery"))
		read_recovery(&l, s);
	else
		l.error = -EINVAL;
	return l.error || !span_left(l.rest) ? l.error : -EINVAL;
}

/* The text without its last line, if that is the right checksum. */
static bool check_end(const char *text, size_t *len)
{
	const size_t end_len = strlen("end 01234567\n");
	char want[16];

	if (*len < end_len)
		return false;
	*len -= end_len;
	snprintf(want, sizeof(want), "end %08" PRIx32 "\n", checksum(text, *len));
	return !memcmp(text + *len, want, end_len);
}

int fault_state_read(struct fault_state *state, const char *text, size_t len)
{
	struct span s = { text, text };
	int err = 0;

	*state = (struct fault_state){};
	if (!check_end(text, &len))
		return -EINVAL;
	s.end = text + len;
	if (!span_take(&s, HEAD) || (span_left(s) && s.end[-1] != '\n'))
		return -EINVAL;
	while (span_left(s) && !err)
		err = read_line(state, span_take_line(&s));
	if (err)
		fault_state_free(state);
	for (size_t i = 0; i < state->faults.counts.faults.fault_count; i++) {
		struct fault *f = &state->faults.counts.faults.faults[i];

		if (!f->repeats.count)
			faults_note_repeat(&f->repeats, f->last);
	}
	return err;
}

void fault_state_free(struct fault_state *state)
{
	faults_free(&state->faults);
	*state = (struct fault_state){};
}

void boot_id_read(char boot[BOOT_ID_SIZE])
{
	file_first_line("/proc/sys/kernel/random/boot_id", boot, BOOT_ID_SIZE);
}
