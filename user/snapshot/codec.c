// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables as JSON with the names of their fields, for recordings and for the state file.
 *
 * A file that is read back outlives the program that has written it: fields are added, moved and removed between the
 * two. Therefore nothing in a file depends on the order or the number of fields. A table is a member with
 * the table's name, an entry is an object in its array, and a field is a member with the name of the struct's member.
 * Whatever an enum counts (phases, queues, kinds, sources, facts) has names as well: a phase that is inserted must not
 * shift those behind it.
 *
 * 	{"snapshot":[{"time_ns":1000000000}],"ops":[{"phase":{"rtt":[41000,0,3]}},{}]}
 *
 * A recording has such a line for each snapshot, and most figures do not change from one to the next. An entry is
 * therefore compared with the one at the same place of the same table in the line before:
 *
 * - a new place: all its fields are written, as differences to 0;
 * - an old place: only fields that have changed, numbers as differences. "{}" is an entry as it was. Here the second
 *   op has not changed, and READ's `rtt` has 41,000 ns and three more calls in its second bucket;
 * - a histogram or another array ends with its last element that has changed;
 * - texts, times (in seconds) and booleans are never differences.
 *
 * In the state file everything is at a new place. A table that is missing has no entries.
 *
 * The reader looks each name up. It skips tables, fields and elements that it does not know. A field that is missing
 * at a new place stays 0; if a source may not measure it (struct field's .fact), it becomes unknown, as if the source
 * had not measured it: sinks then leave it out. What is known but has another form, or is not in its range, is damage.
 *
 * Why not numbers in the rows' order, as columns: a row that is inserted then shifts all others, unseen, for each file
 * that was written before. Compressed, the names cost little: a recording with names is as large as one without. */
#include "base/json.h"
#include "snapshot/table.h"

/* From the epoch up to the year 9999. */
static bool is_time(double seconds)
{
	return seconds >= 0 && seconds < 2.5e11;
}

static size_t field_elements(const struct field *f)
{
	return f->names ? f->name_count : 1;
}

/* ---- writing ---- */

static uint64_t number_at(const struct field *f, const void *at, size_t i)
{
	return f->type == FIELD_U32 ? ((const uint32_t *)at)[i] : ((const uint64_t *)at)[i];
}

static void write_number(struct json *j, const char *name, uint64_t now, uint64_t then)
{
	char text[24];

	json_raw(j, name, text,
		 (size_t)snprintf(text, sizeof(text), "%s%" PRIu64, now < then ? "-" : "",
				  now < then ? then - now : now - then));
}

/* @words numbers of a field. */
static void write_numbers(struct json *j, const char *name, const struct field *f, const void *now,
			  const void *then, size_t words)
{
	bool list = words > 1;

	if (list)
		json_array(j, name);
	while (list && words && number_at(f, now, words - 1) == number_at(f, then, words - 1))
		words--;
	for (size_t i = 0; i < words; i++)
		if (f->type == FIELD_DOUBLE) /* a time that readers do not accept is unknown */
			json_fraction(j, list ? NULL : name,
				      is_time(((const double *)now)[i]) ? ((const double *)now)[i] :
									  0,
				      9);
		else
			write_number(j, list ? NULL : name, number_at(f, now, i),
				     number_at(f, then, i));
	if (list)
		json_array_end(j);
}

/* Writes the elements that have names and have changed. */
static void write_elements(struct json *j, const struct field *f, const char *now, const char *then,
			   bool all)
{
	size_t size = f->size / f->name_count;

	json_object(j, f->name);
	for (size_t i = 0; i < f->name_count; i++, now += size, then += size)
		if (all || memcmp(now, then, size) != 0)
			write_numbers(j, f->names[i], f, now, then,
				      field_numbers(f) / f->name_count);
	json_object_end(j);
}

static void write_set(struct json *j, const struct field *f, uint64_t bits)
{
	json_array(j, f->name);
	for (size_t i = 0; i < f->name_count; i++)
		if (bits >> i & 1)
			json_text(j, NULL, f->names[i]);
	json_array_end(j);
}

static void write_field(struct json *j, const struct field *f, const void *now, const void *then,
			bool all)
{
	switch (f->type) {
	case FIELD_TEXT:
		return json_text(j, f->name, now);
	case FIELD_BOOL:
		return json_bool(j, f->name, *(const bool *)now);
	case FIELD_CHOICE:
		return json_text(j, f->name, f->names[*(const uint32_t *)now]);
	case FIELD_SET:
		return write_set(j, f, *(const uint64_t *)now);
	default:
		if (f->names)
			write_elements(j, f, now, then, all);
		else
			write_numbers(j, f->name, f, now, then, field_numbers(f));
	}
}

static void write_entry(struct json *j, const struct table *t, const char *now, const char *then,
			bool all)
{
	json_object(j, NULL);
	ARRAY_EACH(f, t->fields, t->field_count)
		if (all || memcmp(now + f->offset, then + f->offset, f->size) != 0)
			write_field(j, f, now + f->offset, then + f->offset, all);
	json_object_end(j);
}

static int write_table(struct json *j, const struct table_place *p)
{
	const struct table *t = p->table;
	size_t count = table_count(t, p->part), old = p->before ? table_count(t, p->before) : 0;
	const char *now = table_array(t, p->part), *then = old ? table_array(t, p->before) : NULL;
	FREED char *zeros = calloc(1, t->size);

	if (!zeros)
		return -ENOMEM;
	json_array(j, t->name);
	for (size_t i = 0; i < count; i++)
		write_entry(j, t, now + i * t->size, i < old ? then + i * t->size : zeros,
			    i >= old);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): FREED */
	json_array_end(j);
	return count > t->max ? -E2BIG : 0;
}

int tables_write(FILE *out, const struct table_place *places, size_t count)
{
	struct json j = { .out = out };
	int err = 0;

	json_object(&j, NULL);
	for (const struct table_place *p = places; p < places + count && !err; p++)
		if (table_count(p->table, p->part))
			err = write_table(&j, p);
	json_end(&j);
	return err;
}

const char *tables_end(char *text, uint32_t checksum)
{
	snprintf(text, TABLES_END_SIZE, "{\"end\":\"%08" PRIx32 "\"}\n", checksum);
	return text;
}

/* ---- reading ---- */

/* A line that is being read; handlers note in it what is wrong. */
struct reader {
	const struct table_place *places;
	size_t place_count;
	uint64_t read; /* bits of the places that the line has */
	uint64_t missing; /* facts that some new entry has not */
	int error;
	/* the table: */
	const struct table *t;
	void *part;
	size_t count, old; /* entries read; those that were there before */
	char *entry;
	uint64_t facts; /* that a new entry has, or all: an old one keeps what it had */
	const struct field *f;
	char *at, *end; /* numbers of the field that are still to be read */
};

static void require_form(struct reader *r, bool right)
{
	if (!right && !r->error)
		r->error = -EBADMSG;
}

/* Reads an object or an array, which begins with this bracket. */
static void read_inside(struct reader *r, struct span value, const char *bracket,
			json_handler *handle)
{
	require_form(r, span_starts_with(value, bracket) && json_read(value, handle, r));
}

/* Adds a difference to a number from 0 to @max. */
static bool add_difference(struct span value, uint64_t max, uint64_t *number)
{
	bool less = span_take(&value, "-");
	uint64_t by;

	if (!span_number(value, UINT64_MAX, &by) || by > (less ? *number : max - *number))
		return false;
	*number += less ? -by : by;
	return true;
}

static void on_number(void *context, struct span name, struct span value)
{
	struct reader *r = context;
	const struct field *f = r->f;
	bool is_short = f->type == FIELD_U32, right = r->at < r->end;
	uint64_t number;

	(void)name;
	if (right && f->type == FIELD_DOUBLE) {
		right = json_read_number(value, (double *)r->at) && is_time(*(double *)r->at);
	} else if (right) {
		number = number_at(f, r->at, 0);
		right = add_difference(value,
				       f->most  ? f->most :
				       is_short ? UINT32_MAX :
						  UINT64_MAX,
				       &number);
		if (is_short)
			*(uint32_t *)r->at = (uint32_t)number;
		else
			*(uint64_t *)r->at = number;
	}
	r->at += is_short ? sizeof(uint32_t) : sizeof(uint64_t);
	require_form(r, right);
}

static void read_numbers(struct reader *r, char *at, size_t size, struct span value)
{
	r->at = at;
	r->end = at + size;
	if (field_numbers(r->f) / field_elements(r->f) > 1)
		read_inside(r, value, "[", on_number);
	else
		on_number(r, value, value);
}

/* The index of a text among the field's names; name_count: it is none. */
static size_t find_name(const struct field *f, struct span name)
{
	size_t i = 0;

	while (i < f->name_count && !span_is(name, f->names[i]))
		i++;
	return i;
}

static void on_element(void *context, struct span name, struct span value)
{
	struct reader *r = context;
	size_t i = find_name(r->f, name), size = r->f->size / r->f->name_count;

	if (i == r->f->name_count)
		return;
	if (r->f->fact)
		r->facts |= RPC_FACT_BIT(r->f->fact + i);
	read_numbers(r, r->entry + r->f->offset + i * size, size, value);
}

static void on_member_of_set(void *context, struct span name, struct span value)
{
	struct reader *r = context;
	size_t i = r->f->name_count;
	bool text = json_inside(value, &name);

	require_form(r, text);
	if (text)
		i = find_name(r->f, name);
	if (i < r->f->name_count)
		*(uint64_t *)(r->entry + r->f->offset) |= (uint64_t)1 << i;
}

static void read_text(struct reader *r, void *at, struct span value)
{
	struct span inside;
	size_t i;

	if (!json_inside(value, &inside)) {
		require_form(r, false);
	} else if (r->f->type == FIELD_TEXT) {
		json_decode(inside, at, r->f->size);
	} else {
		i = find_name(r->f, inside);
		*(uint32_t *)at = i < r->f->name_count ? (uint32_t)i : 0;
	}
}

static void read_field(struct reader *r, void *at, struct span value)
{
	switch (r->f->type) {
	case FIELD_TEXT:
	case FIELD_CHOICE:
		return read_text(r, at, value);
	case FIELD_BOOL:
		*(bool *)at = span_is(value, "true");
		return require_form(r, *(bool *)at || span_is(value, "false"));
	case FIELD_SET:
		*(uint64_t *)at = 0;
		return read_inside(r, value, "[", on_member_of_set);
	default:
		if (r->f->names)
			read_inside(r, value, "{", on_element);
		else
			read_numbers(r, at, r->f->size, value);
	}
}

static void on_field(void *context, struct span name, struct span value)
{
	struct reader *r = context;
	const struct field *f =
		ARRAY_FIND(x, r->t->fields, r->t->field_count, span_is(name, x->name));

	if (!f || r->error)
		return;
	r->f = f;
	if (f->fact && !f->names)
		r->facts |= RPC_FACT_BIT(f->fact);
	read_field(r, r->entry + f->offset, value);
}

/* The facts that an entry of the table should have. */
static uint64_t table_facts(const struct table *t)
{
	uint64_t facts = 0;

	ARRAY_EACH(f, t->fields, t->field_count)
		for (size_t i = 0; f->fact && i < field_elements(f); i++)
			facts |= RPC_FACT_BIT(f->fact + i);
	return facts;
}

static void on_entry(void *context, struct span name, struct span value)
{
	struct reader *r = context;
	const struct table *t = r->t;
	bool new = r->count >= r->old;

	(void)name;
	require_form(r, r->count < t->max && span_starts_with(value, "{"));
	if (r->error)
		return;
	r->entry = new ? table_append(t, r->part) : table_array(t, r->part) + r->count * t->size;
	r->count++;
	r->facts = new ? 0 : UINT64_MAX;
	require_form(r, json_read(value, on_field, r));
	r->missing |= table_facts(t) & ~r->facts;
}

/* Leaves the first @count entries. */
static void cut_table(const struct table_place *p, size_t count)
{
	size_t *number = (size_t *)((char *)p->part + p->table->entries);

	if (p->table->entries)
		LOWER(*number, count);
}

static void on_table(void *context, struct span name, struct span value)
{
	struct reader *r = context;
	const struct table_place *p =
		ARRAY_FIND(x, r->places, r->place_count, span_is(name, x->table->name));

	if (!p || r->error)
		return;
	r->t = p->table;
	r->part = p->part;
	r->count = 0;
	r->old = table_count(r->t, r->part);
	r->read |= (uint64_t)1 << (p - r->places);
	read_inside(r, value, "[", on_entry);
	require_form(r, r->t->entries || r->count == 1);
	cut_table(p, r->count);
}

int tables_read(struct span line, const struct table_place *places, size_t count, uint64_t *missing)
{
	struct reader r = { .places = places, .place_count = count };
	uint64_t failed = memory_failed();

	read_inside(&r, line, "{", on_table);
	for (size_t i = 0; i < count && !r.error; i++) {
		if (r.read >> i & 1)
			continue;
		/* A table without a count is an entry that is always there. */
		require_form(&r, places[i].table->entries);
		cut_table(&places[i], 0);
	}
	*missing |= r.missing;
	return r.error ?: memory_error(failed);
}

/* ---- snapshots ---- */

/* The tables that are recorded. Returns how many. */
static size_t recorded_tables(struct table_place *places, struct snapshot *s,
			      const struct snapshot *before)
{
	size_t count = 0;

	for (const struct table *t = tables; t < tables + TABLES; t++)
		if (t->max)
			places[count++] =
				(struct table_place){ t, (char *)s + t->part,
						      before ? (const char *)before + t->part :
							       NULL };
	return count;
}

int snapshot_encode(struct codec *c, const struct snapshot *s, FILE *out)
{
	struct table_place places[TABLES];
	/* Writing changes nothing. */
	size_t count = recorded_tables(places, (struct snapshot *)s, &c->before);

	return tables_write(out, places, count) ?: snapshot_copy(&c->before, s);
}

int snapshot_decode(struct codec *c, struct span line, struct snapshot *s)
{
	struct snapshot *read = &c->before;
	struct table_place places[TABLES];
	size_t count = recorded_tables(places, read, NULL);
	uint64_t last = read->time_ns;
	int err = tables_read(line, places, count, &c->missing);

	/* The rows cannot express this. */
	if (!err && !(read->time_ns > last && read->self.rpc_hook_count <= read->self.hook_count))
		err = -EBADMSG;
	if (!err)
		err = snapshot_copy(s, &c->before);
	s->calls.unknown |= c->missing;
	if (err)
		snapshot_free(s);
	return err;
}
