// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counts of faults as a text, for the state file. */
#include "faults/fault_state.h"

#include <zlib.h>

#include "base/file_text.h"
#include "base/span.h"
#include "snapshot/table.h"

#define HEAD "xidscope-state 1\n"

static uint32_t checksum(const char *text, size_t len)
{
	return (uint32_t)crc32(crc32(0, NULL, 0), (const Bytef *)text, (uInt)len);
}

/* Lines whose fields are rows of a table; behind those of a fault are its repeats. */
static const struct kind {
	const char *name;
	enum table_id table;
	const char *rows; /* their numbers, in the order of the line */
	size_t most; /* entries before a line that is read */
} kinds[] = {
	{ "fault", TABLE_FAULTS, "012345786", MAX_FAULTS_IN_ALL + FOLDED_CODES - 1 },
	{ "event", TABLE_KERNEL_EVENTS, "01234", 2 * (size_t)MAX_KERNEL_EVENTS },
	{ "gpu", TABLE_GPUS, "0123", MAX_GPUS },
	{ "unverified", TABLE_UNVERIFIED, "012", MAX_UNVERIFIED },
	{ "recovery", TABLE_RECOVERIES, "012", 2 * MAX_RECOVERIES - 1 },
};

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

/* Appends the times, the oldest first. */
static void put_times(FILE *out, const struct fault_repeats *r)
{
	for (unsigned int i = r->count; i-- > 0;)
		fprintf(out, " %.6f", r->times[i]);
}

static void put_list(FILE *out, const char *name, const char *id, unsigned int number,
		     const char *more, const struct fault_repeats *r)
{
	if (!r->count)
		return;
	fputs(name, out);
	put_word(out, id);
	fprintf(out, " %u%s", number, more);
	put_times(out, r);
	fputc('\n', out);
}

static void put_faults(FILE *out, const struct faults *f)
{
	ARRAY_EACH(p, f->past, f->past_count) {
		put_list(out, "past", p->gpu, p->code, " 1", &p->boots);
		put_list(out, "past", p->gpu, p->code, " 0", &p->incidents);
	}
	for (size_t i = 0; i < f->bus_count; i++)
		fprintf(out, "bus %s\n", f->bus[i].gpu);
	ARRAY_EACH(p, f->places, f->place_count)
		put_list(out, "place", p->device, p->place, "", &p->repeats);
}

static void put_entries(FILE *out, const struct kind *k, const struct fault_counts *c)
{
	const struct table *t = &tables[k->table];
	const char *entry = table_array(t, c);
	size_t times = 0;

	for (size_t i = table_count(t, c); i--; entry += t->size) {
		const struct fault_repeats *r = &((const struct fault *)entry)->repeats;

		fputs(k->name, out);
		for (const char *row = k->rows; *row; row++) {
			const struct field *f = &t->fields[*row - '0'];
			const void *at = entry + f->offset;

			if (f->type == FIELD_TEXT)
				put_word(out, at);
			else if (f->type == FIELD_DOUBLE)
				fprintf(out, " %.6f", *(const double *)at);
			else if (f->type == FIELD_U64)
				fprintf(out, " %" PRIu64, *(const uint64_t *)at);
			else
				fprintf(out, " %u",
					f->type == FIELD_U32 ? *(const uint32_t *)at :
							       *(const bool *)at);
		}
		if (k->table == TABLE_FAULTS && r->count > 1 &&
		    times + r->count <= MAX_STATE_TIMES) {
			times += r->count;
			put_times(out, r);
		}
		fputc('\n', out);
	}
}

char *fault_state_write(const struct fault_state *state, size_t *len)
{
	const struct fault_counts *c = &state->faults.counts;
	char *text = NULL, *whole = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	fputs(HEAD "boot", out);
	put_word(out, state->boot);
	/* A clock that is set to a time before the boot gives no time. */
	fprintf(out, "\nwall %.6f\nnext %" PRIu64 "\nlost %" PRIu64,
		state->boot_to_wall > 0 ? state->boot_to_wall : 0, state->next, c->log_lost);
	if (state->hooks.until > 0)
		fprintf(out, "\nhooks %.6f %.6f", state->hooks.since, state->hooks.until);
	fputc('\n', out);
	put_faults(out, &state->faults);
	for (size_t k = 0; k < COUNT(kinds); k++)
		put_entries(out, &kinds[k], c);
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

static void read_entry(struct line *l, const struct kind *k, struct fault_counts *c)
{
	const struct table *t = &tables[k->table];
	union {
		struct fault fault;
		struct kernel_event event;
		struct gpu_info gpu;
		struct unverified_xid unverified;
		struct gpu_recovery recovery;
	} like = {};
	void *entry;

	for (const char *row = k->rows; *row; row++) {
		const struct field *f = &t->fields[*row - '0'];
		void *at = (char *)&like + f->offset;

		if (f->type == FIELD_TEXT)
			take_word(l, at, f->count);
		else if (f->type == FIELD_DOUBLE)
			*(double *)at = take_time(l);
		else if (f->type == FIELD_U64)
			*(uint64_t *)at = take_number(l, UINT64_MAX);
		else if (f->type == FIELD_U32)
			*(uint32_t *)at = (uint32_t)take_number(l, UINT32_MAX);
		else
			*(bool *)at = take_number(l, 1);
	}
	while (k->table == TABLE_FAULTS && !l->error && span_left(l->rest))
		faults_note_repeat(&like.fault.repeats, take_time(l));
	if (k->table == TABLE_FAULTS && !like.fault.repeats.count)
		faults_note_repeat(&like.fault.repeats, like.fault.last);
	if (table_count(t, c) > k->most)
		l->error = -EINVAL;
	if (l->error)
		return;
	entry = table_get_labels(t, c, &like);
	if (entry)
		memcpy(entry, &like, t->size);
	else
		l->error = -ENOMEM;
}

/* A line "past" or "place". */
static void read_list(struct line *l, struct faults *faults, bool past)
{
	unsigned int number;
	bool boot;
	char id[48];

	take_word(l, id, past ? sizeof(id) : PCI_ADDRESS_SIZE);
	number = (unsigned int)take_number(l, UINT32_MAX);
	boot = past && take_number(l, 1);
	do {
		double time = take_time(l);

		if (!l->error && (past ? faults_note_past(faults, id, number, boot, time) :
					 faults_note_place(faults, id, number, 0, time)))
			l->error = -ENOMEM;
	} while (!l->error && span_left(l->rest));
}

static void read_period(struct line *l, struct fault_period *p)
{
	p->since = take_time(l);
	p->until = take_time(l);
}

static int read_line(struct fault_state *state, struct span text)
{
	struct fault_counts *c = &state->faults.counts;
	struct line l = { .rest = text };
	struct span name = take(&l);
	const struct kind *k = ARRAY_FIND(x, kinds, COUNT(kinds), span_is(name, x->name));

	if (k)
		read_entry(&l, k, c);
	else if (span_is(name, "boot"))
		take_word(&l, state->boot, sizeof(state->boot));
	else if (span_is(name, "wall"))
		state->boot_to_wall = take_time(&l);
	else if (span_is(name, "next"))
		state->next = take_number(&l, UINT64_MAX);
	else if (span_is(name, "hooks"))
		read_period(&l, &state->hooks);
	else if (span_is(name, "lost"))
		c->log_lost = take_number(&l, UINT64_MAX);
	else if (span_is(name, "past") || span_is(name, "place"))
		read_list(&l, &state->faults, span_is(name, "past"));
	else if (span_is(name, "bus") && state->faults.bus_count < MAX_BUS_GPUS)
		take_word(&l, state->faults.bus[state->faults.bus_count++].gpu, PCI_ADDRESS_SIZE);
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
