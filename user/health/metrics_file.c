// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads back what openmetrics_write() wrote, as far as the rules need it.
 *
 * This program has written the file: if a number or label of a known family has another form, the file is damaged. */
#include "health/metrics_file.h"

#include "base/safe_text.h"
#include "base/span.h"
#include "sinks/metrics.h"
#include "snapshot/table.h"

/* Look-ups are linear: this limits the work for a file that another program wrote. */
#define MAX_ENTRIES 4096
#define MAX_LABELS 8
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define MAX_TIME 1e11 /* seconds: beyond the year 5000 */
#define NS_PER_SECOND UINT64_C(1000000000)

struct sample {
	size_t label_count;
	struct {
		struct span name;
		char value[LABEL_SIZE];
	} labels[MAX_LABELS];
	struct span value; /* digits and points */
};

/* The samples of a family: each is a field of an entry. */
struct family {
	enum metric_id metric;
	enum table_id table;
	const char *labels[5]; /* for the first rows of the table; NULL: an empty text, or .flag */
	size_t value; /* its offset in the entry */
	enum field_type type; /* of the value; FIELD_TEXT: it says nothing */
	bool flag; /* of faults: SXids; of events: those of the GPU driver */
	bool group; /* the entry is the first of a group of faults; a time is that of all of them */
};

/* Takes a label's value after its opening quote, and the closing quote. */
static bool take_quoted(struct span *s, char *value, size_t size)
{
	size_t used = 0;
	char c;

	while (s->at < s->end) {
		c = *s->at++;
		if (c == '"') {
			value[used] = 0;
			return true;
		}
		if (c == '\\') {
			if (s->at == s->end || !strchr("\\\"n", *s->at))
				return false;
			c = *s->at++;
			if (c == 'n')
				c = '\n';
		}
		if (!c || used + 1 == size)
			return false;
		value[used++] = c;
	}
	return false;
}

/* Another program may have written the file: its labels are made safe for what prints them. */
static bool take_labels(struct span *s, struct sample *sample)
{
	char value[LABEL_SIZE];

	if (!span_take(s, "{"))
		return true;
	do {
		if (sample->label_count == MAX_LABELS)
			return false;
		sample->labels[sample->label_count].name = span_take_run(s, NAME_LETTERS);
		if (!span_take(s, "=\"") || !take_quoted(s, value, sizeof(value)))
			return false;
		safe_copy(sample->labels[sample->label_count].value, LABEL_SIZE, value,
			  strlen(value), false, "...");
		sample->label_count++;
	} while (span_take(s, ","));
	return span_take(s, "}");
}

/* NAME{LABEL="VALUE",...} NUMBER; the name is taken already. */
static bool read_sample(struct span line, struct sample *sample)
{
	sample->label_count = 0;
	if (!take_labels(&line, sample) || !span_take(&line, " "))
		return false;
	sample->value = line;
	span_take_run(&line, "0123456789.");
	return span_left(sample->value) && !span_left(line);
}

/* NULL: no such label. */
static const char *label_of(const struct sample *sample, const char *name)
{
	const __typeof__(sample->labels[0]) *label =
		ARRAY_FIND(l, sample->labels, sample->label_count, span_is(l->name, name));

	return label ? label->value : NULL;
}

static bool get_time(const struct sample *sample, double *seconds)
{
	char text[48], *end;

	if (!span_copy(sample->value, text, sizeof(text)))
		return false;
	*seconds = strtod(text, &end);
	return end != text && !*end && *seconds < MAX_TIME;
}

/* Seconds with nine decimals, to the last digit. */
static bool get_nanoseconds(const struct sample *sample, uint64_t *ns)
{
	struct span rest = sample->value;
	uint64_t seconds;

	if (!span_take_number(&rest, 10, UINT64_MAX / NS_PER_SECOND, &seconds) ||
	    !span_take(&rest, ".") || span_left(rest) != 9 ||
	    !span_number(rest, UINT64_MAX - seconds * NS_PER_SECOND, ns))
		return false;
	*ns += seconds * NS_PER_SECOND;
	return true;
}

#define IN(in, member, as) .value = offsetof(struct in, member), .type = FIELD_##as

static const struct family families[] = {
/* clang-format off */
#define SAMPLES(id, in, ...) { METRIC_##id, TABLE_##in, __VA_ARGS__ }
#define XID { "gpu", "xid" }
#define SXID { "device", "sxid" }
	SAMPLES(RPC_OLDEST_WAITER_SECONDS, SERVERS, { "server" }, IN(rpc_server_state, oldest_ns, U64)),
	SAMPLES(NFS_STUCK_TASKS, STUCK, { "mountpoint", "state" }, IN(stuck_state, tasks, U32)),
	SAMPLES(NFS_OLDEST_STUCK_TASK_SECONDS, STUCK, { "mountpoint", "state" }, IN(stuck_state, oldest_ns, U64)),
	SAMPLES(GPU_XID_ERRORS, FAULTS, { "gpu", "xid", NULL, "severity", "action" }, IN(fault, count, U64)),
	SAMPLES(GPU_XID_INCIDENTS, FAULTS, XID, IN(fault, incidents, U64), .group = true),
	SAMPLES(GPU_XID_RECENT_INCIDENTS, FAULTS, XID, IN(fault, recent, U64), .group = true),
	SAMPLES(GPU_XID_BOOTS, FAULTS, XID, IN(fault, boots, U32), .group = true),
	SAMPLES(GPU_XID_FIRST_TIMESTAMP_SECONDS, FAULTS, XID, IN(fault, first, DOUBLE), .group = true),
	SAMPLES(GPU_XID_LAST_TIMESTAMP_SECONDS, FAULTS, XID, IN(fault, last, DOUBLE), .group = true),
	SAMPLES(NVSWITCH_SXID_ERRORS, FAULTS, { "device", "sxid", NULL, "severity" }, IN(fault, count, U64), .flag = true),
	SAMPLES(NVSWITCH_SXID_FIRST_TIMESTAMP_SECONDS, FAULTS, SXID, IN(fault, first, DOUBLE), .flag = true, .group = true),
	SAMPLES(NVSWITCH_SXID_LAST_TIMESTAMP_SECONDS, FAULTS, SXID, IN(fault, last, DOUBLE), .flag = true, .group = true),
	SAMPLES(GPU_DRIVER_ERRORS, KERNEL_EVENTS, { NULL, "kind", "gpu" }, IN(kernel_event, count, U64), .flag = true),
	SAMPLES(GPU_DRIVER_ERROR_LAST_TIMESTAMP_SECONDS, KERNEL_EVENTS, { NULL, "kind", "gpu" },
		IN(kernel_event, last, DOUBLE), .flag = true),
	SAMPLES(GPU_RECOVERED_TIMESTAMP_SECONDS, RECOVERIES, { "gpu", "evidence" }, IN(gpu_recovery, time, DOUBLE)),
	SAMPLES(GPU_PAST_FAILURES, GPUS, { "gpu" }, IN(gpu_info, past_failures, U64)),
	SAMPLES(GPU_GSP_RATE_LIMITED, GPUS, { "gpu" }, IN(gpu_info, rate_limited, BOOL)),
	SAMPLES(GPU_INFO, GPUS, { "gpu", "uuid", "serial" }, IN(gpu_info, uuid, TEXT)),
	SAMPLES(KERNEL_EVENTS, KERNEL_EVENTS, { NULL, "kind", "device" }, IN(kernel_event, count, U64)),
	/* clang-format on */
};

static bool get_u32(struct span text, uint32_t *to)
{
	uint64_t number;

	if (!span_number(text, UINT32_MAX, &number))
		return false;
	*to = (uint32_t)number;
	return true;
}

/* Sets what the labels say. False: one is missing, does not fit, or is no number. */
static bool get_labels(const struct sample *sample, const struct family *family, char *entry)
{
	const struct table *t = &tables[family->table];

	for (size_t i = 0; i < COUNT(family->labels) && i < t->field_count; i++) {
		const struct field *f = &t->fields[i];
		const char *name = family->labels[i], *text = name ? label_of(sample, name) : "";
		void *at = entry + f->offset;
		struct span value;

		if (!text)
			return false;
		value = span_of(text);
		if (!name && f->role == FIELD_LABEL && f->type == FIELD_BOOL)
			*(bool *)at = family->flag;
		else if (name && f->type == FIELD_BOOL)
			*(bool *)at = span_is(value, "rpc");
		else if (name && !(f->type == FIELD_U32 ? get_u32(value, at) :
							  span_copy(value, at, f->count)))
			return false;
	}
	return true;
}

/* The age of a queue's oldest waiter, among those of all queues. */
static bool get_oldest(const struct sample *sample, uint64_t ages[RPC_QUEUES])
{
	const char *queue = label_of(sample, "queue");
	uint64_t ns;

	if (!queue || !get_nanoseconds(sample, &ns))
		return false;
	for (int q = 0; q < RPC_QUEUES; q++)
		if (!strcmp(queue, rpc_queue_names[q]))
			ages[q] = ns;
	return true;
}

static bool get_value(const struct sample *sample, const struct family *family, char *entry)
{
	const bool seconds = *metrics[family->metric].unit;
	void *at = entry + family->value;

	switch (family->type) {
	case FIELD_TEXT:
		return get_labels(sample, family, entry);
	case FIELD_DOUBLE:
		return get_time(sample, at);
	case FIELD_U64:
		return family->table == TABLE_SERVERS ? get_oldest(sample, at) :
		       seconds                        ? get_nanoseconds(sample, at) :
							span_number(sample->value, UINT64_MAX, at);
	case FIELD_BOOL:
		*(bool *)at = span_is(sample->value, "1");
		return *(bool *)at || span_is(sample->value, "0");
	default:
		return get_u32(sample->value, at);
	}
}

static bool read_group(struct snapshot *s, const struct family *family, const struct sample *sample,
		       const struct fault *like)
{
	struct fault *f = fault_group_next(s, s->faults.faults, like);
	bool read = f;

	for (; f && read;
	     f = family->type == FIELD_DOUBLE ? fault_group_next(s, f + 1, like) : NULL)
		read = get_value(sample, family, (char *)f);
	return read;
}

/* Returns 0, -EINVAL or -ENOMEM. */
static int read_entry(struct snapshot *s, const struct family *family, const struct sample *sample)
{
	const struct table *t = &tables[family->table];
	char *part = (char *)s + t->part, *entry;
	union {
		struct rpc_server_state server;
		struct stuck_state stuck;
		struct fault fault;
		struct kernel_event event;
		struct gpu_recovery recovery;
		struct gpu_info gpu;
	} like = {};

	if (!get_labels(sample, family, (char *)&like))
		return -EINVAL;
	if (family->group)
		return read_group(s, family, sample, &like.fault) ? 0 : -EINVAL;
	entry = table_get_labels(t, part, &like);
	if (!entry)
		return -ENOMEM;
	return table_count(t, part) <= MAX_ENTRIES && get_value(sample, family, entry) ? 0 :
											 -EINVAL;
}

/* The family that has samples of this name; NULL: none that is read. */
static const struct family *find_family(struct span name)
{
	if (!span_take(&name, METRIC_PREFIX))
		return NULL;
	for (size_t i = 0; i < COUNT(families); i++) {
		const struct metric *m = &metrics[families[i].metric];
		struct span rest = name;

		if (span_take(&rest, m->name) &&
		    span_is(rest, m->type == METRIC_COUNTER ? "_total" : ""))
			return &families[i];
	}
	return NULL;
}

/* The name of the last line's sample: most lines have that of the line before, and are not read. */
struct last_name {
	struct span name;
	const struct family *family;
};

static int read_line(struct snapshot *s, struct span line, struct last_name *last)
{
	size_t len = span_left(last->name);
	struct sample sample;

	if (last->name.at && span_left(line) > len && !memcmp(line.at, last->name.at, len) &&
	    !strchr(NAME_LETTERS, line.at[len])) {
		line.at += len;
	} else {
		last->name = span_take_run(&line, NAME_LETTERS);
		last->family = find_family(last->name);
	}
	if (!last->family)
		return 0;
	return read_sample(line, &sample) ? read_entry(s, last->family, &sample) : -EINVAL;
}

/* OpenMetrics has a last line. Prometheus' format, which shows in a counter's metadata, has none: there the last line
 * must be of the last family. */
static bool is_whole(struct span text)
{
	static const char prometheus[] = "\n# TYPE " METRIC_PREFIX "export_errors_total counter\n";
	struct span line = { text.at, text.end - 1 };
	const char *newline;

	if (text.at == text.end || *line.end != '\n')
		return false;
	newline = memrchr(line.at, '\n', span_left(line));
	if (newline)
		line.at = newline + 1;
	return memmem(text.at, span_left(text), prometheus, strlen(prometheus)) ?
		       span_take(&line, METRIC_PREFIX "build_info{") :
		       span_is(line, "# EOF");
}

bool metrics_file_is(const char *text, size_t len)
{
	return !len || is_whole((struct span){ text, text + len }) ||
	       memmem(text, len, METRIC_PREFIX, strlen(METRIC_PREFIX));
}

int metrics_file_parse(struct snapshot *s, const char *text, size_t len, char *error,
		       size_t error_size)
{
	struct span rest = { text, text + len };
	struct last_name last = {};
	unsigned int number = 0;
	int err = 0;

	if (!is_whole(rest)) {
		snprintf(error, error_size,
			 metrics_file_is(text, len) ? "the end is missing: it is cut" :
						      "it is no metrics file of xidscope");
		return -EINVAL;
	}
	while (!err && rest.at < rest.end) {
		number++;
		err = read_line(s, span_take_line(&rest), &last);
	}
	if (err == -EINVAL)
		snprintf(error, error_size, "line %u is damaged", number);
	else if (err)
		snprintf(error, error_size, "no memory");
	if (err)
		snapshot_free(s);
	return err;
}
