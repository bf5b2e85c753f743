// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads back what openmetrics_write() wrote, as far as the rules need it.
 *
 * This program has written the file: if a number or label of a known family has another form, the file is damaged. */
#include "health/metrics_file.h"

#include "base/safe_text.h"
#include "base/span.h"
#include "sinks/metrics.h"

/* Look-ups are linear: this limits the work for a file that another program wrote. */
#define MAX_ENTRIES 4096
#define MAX_LABELS 8
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

/* The reading functions return 0, -EINVAL or -ENOMEM. */
struct family {
	enum metric_id metric;
	int (*read)(struct snapshot *s, const struct sample *sample, unsigned int kind);
	/* of faults: SXIDS, FIRST; of incidents: recent; of events: of the GPU driver; of GPUs: past failures */
	unsigned int kind;
};

#define SXIDS 1u
#define FIRST 2u /* of times: the first */

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static struct span take_name(struct span *s)
{
	struct span name = { s->at, s->at };

	while (name.end < s->end && is_name(*name.end))
		name.end++;
	s->at = name.end;
	return name;
}

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
		sample->labels[sample->label_count].name = take_name(s);
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
	for (size_t i = 0; i < sample->label_count; i++)
		if (span_is(sample->labels[i].name, name))
			return sample->labels[i].value;
	return NULL;
}

/* Copies a label's value. False: there is none, or it does not fit. */
static bool get_label(const struct sample *sample, const char *name, char *to, size_t size)
{
	const char *value = label_of(sample, name);

	return value && (size_t)snprintf(to, size, "%s", value) < size;
}

#define GET_LABEL(sample, name, to) get_label(sample, name, to, sizeof(to))

static bool get_code(const struct sample *sample, const char *name, unsigned int *code)
{
	const char *text = label_of(sample, name);
	uint64_t value;

	if (!text || !span_number((struct span){ text, text + strlen(text) }, UINT32_MAX, &value))
		return false;
	*code = (unsigned int)value;
	return true;
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

static int added(const void *entry, size_t count)
{
	if (!entry)
		return -ENOMEM;
	return count > MAX_ENTRIES ? -EINVAL : 0;
}

static int read_oldest_waiter(struct snapshot *s, const struct sample *sample, unsigned int kind)
{
	const char *queue = label_of(sample, "queue");
	struct rpc_server_state *v;
	char server[LABEL_SIZE];
	uint64_t ns;
	int err;

	(void)kind;
	if (!queue || !GET_LABEL(sample, "server", server) || !get_nanoseconds(sample, &ns))
		return -EINVAL;
	v = snapshot_server(&s->calls, server);
	err = added(v, s->calls.server_count);
	if (err)
		return err;
	for (int q = 0; q < RPC_QUEUES; q++)
		if (!strcmp(queue, rpc_queue_names[q]))
			v->oldest_ns[q] = ns;
	return 0;
}

/* @age: of the oldest. */
static int read_stuck_tasks(struct snapshot *s, const struct sample *sample, unsigned int age)
{
	const char *state = label_of(sample, "state");
	char mountpoint[LABEL_SIZE];
	struct stuck_state *t;
	uint64_t tasks;
	int err;

	if (!state || !GET_LABEL(sample, "mountpoint", mountpoint))
		return -EINVAL;
	t = snapshot_stuck(&s->calls, mountpoint, !strcmp(state, "rpc"));
	err = added(t, s->calls.stuck_count);
	if (err || age)
		return err ? err : get_nanoseconds(sample, &t->oldest_ns) ? 0 : -EINVAL;
	if (!span_number(sample->value, UINT32_MAX, &tasks))
		return -EINVAL;
	t->tasks = (uint32_t)tasks;
	return 0;
}

/* Device and code of a sample about Xids or SXids. */
static bool get_fault(const struct sample *sample, bool nvswitch, struct fault *f)
{
	*f = (struct fault){ .nvswitch = nvswitch };
	return GET_LABEL(sample, nvswitch ? "device" : "gpu", f->device) &&
	       get_code(sample, nvswitch ? "sxid" : "xid", &f->code);
}

static int read_fault(struct snapshot *s, const struct sample *sample, unsigned int nvswitch)
{
	struct fault like, *f;
	uint64_t count;
	int err;

	if (!get_fault(sample, nvswitch, &like) || !GET_LABEL(sample, "severity", like.severity) ||
	    (!nvswitch && !GET_LABEL(sample, "action", like.action)) ||
	    !span_number(sample->value, UINT64_MAX, &count))
		return -EINVAL;
	f = snapshot_fault(&s->faults, &like);
	err = added(f, s->faults.fault_count);
	if (!err)
		f->count = count;
	return err;
}

static int read_incidents(struct snapshot *s, const struct sample *sample, unsigned int recent)
{
	struct fault like, *f;

	if (!get_fault(sample, false, &like))
		return -EINVAL;
	f = fault_group_next(s, s->faults.faults, &like);
	return f && span_number(sample->value, UINT64_MAX, recent ? &f->recent : &f->incidents) ?
		       0 :
		       -EINVAL;
}

static int read_boots(struct snapshot *s, const struct sample *sample, unsigned int kind)
{
	struct fault like, *f;
	uint64_t boots;

	(void)kind;
	if (!get_fault(sample, false, &like) || !span_number(sample->value, UINT32_MAX, &boots))
		return -EINVAL;
	f = fault_group_next(s, s->faults.faults, &like);
	if (!f)
		return -EINVAL;
	f->boots = (unsigned int)boots;
	return 0;
}

static int read_fault_time(struct snapshot *s, const struct sample *sample, unsigned int kind)
{
	struct fault like, *f;
	double time;

	if (!get_fault(sample, kind & SXIDS, &like) || !get_time(sample, &time))
		return -EINVAL;
	f = fault_group_next(s, s->faults.faults, &like);
	if (!f)
		return -EINVAL;
	for (; f; f = fault_group_next(s, f + 1, &like))
		*(kind & FIRST ? &f->first : &f->last) = time;
	return 0;
}

static int find_event(struct snapshot *s, const struct sample *sample, bool gpu_driver,
		      struct kernel_event **e)
{
	char kind[sizeof((*e)->kind)], device[sizeof((*e)->device)];

	if (!GET_LABEL(sample, "kind", kind) ||
	    !GET_LABEL(sample, gpu_driver ? "gpu" : "device", device))
		return -EINVAL;
	*e = snapshot_kernel_event(&s->faults, gpu_driver, kind, device);
	return added(*e, s->faults.kernel_event_count);
}

static int read_event(struct snapshot *s, const struct sample *sample, unsigned int gpu_driver)
{
	struct kernel_event *e;
	int err = find_event(s, sample, gpu_driver, &e);

	return err ? err : span_number(sample->value, UINT64_MAX, &e->count) ? 0 : -EINVAL;
}

static int read_event_time(struct snapshot *s, const struct sample *sample, unsigned int gpu_driver)
{
	struct kernel_event *e;
	int err = find_event(s, sample, gpu_driver, &e);

	return err ? err : get_time(sample, &e->last) ? 0 : -EINVAL;
}

static int read_recovery(struct snapshot *s, const struct sample *sample, unsigned int kind)
{
	struct gpu_recovery like, *r;
	int err;

	(void)kind;
	if (!GET_LABEL(sample, "gpu", like.gpu) || !GET_LABEL(sample, "evidence", like.evidence) ||
	    !get_time(sample, &like.time))
		return -EINVAL;
	r = snapshot_recovery(&s->faults, like.gpu, like.evidence);
	err = added(r, s->faults.recovery_count);
	if (!err)
		r->time = like.time;
	return err;
}

/* @past: of failures of earlier boots. */
static int read_gpu(struct snapshot *s, const struct sample *sample, unsigned int past)
{
	struct gpu_info *g;
	uint64_t value;
	char gpu[sizeof(g->gpu)];
	int err;

	if (!GET_LABEL(sample, "gpu", gpu) ||
	    !span_number(sample->value, past ? UINT64_MAX : 1, &value))
		return -EINVAL;
	g = snapshot_gpu(&s->faults, gpu);
	err = added(g, s->faults.gpu_count);
	if (!err && past)
		g->past_failures = value;
	else if (!err)
		g->rate_limited = value;
	return err;
}

static int read_identity(struct snapshot *s, const struct sample *sample, unsigned int kind)
{
	struct gpu_info like = {}, *g;
	int err;

	(void)kind;
	if (!GET_LABEL(sample, "gpu", like.gpu) || !GET_LABEL(sample, "uuid", like.uuid) ||
	    !GET_LABEL(sample, "serial", like.serial))
		return -EINVAL;
	g = snapshot_gpu(&s->faults, like.gpu);
	err = added(g, s->faults.gpu_count);
	if (err)
		return err;
	memcpy(g->uuid, like.uuid, sizeof(g->uuid));
	memcpy(g->serial, like.serial, sizeof(g->serial));
	return 0;
}

static const struct family families[] = {
	{ METRIC_RPC_OLDEST_WAITER_SECONDS, read_oldest_waiter, false },
	{ METRIC_NFS_STUCK_TASKS, read_stuck_tasks, false },
	{ METRIC_NFS_OLDEST_STUCK_TASK_SECONDS, read_stuck_tasks, true },
	{ METRIC_GPU_XID_ERRORS, read_fault, false },
	{ METRIC_GPU_XID_INCIDENTS, read_incidents, false },
	{ METRIC_GPU_XID_RECENT_INCIDENTS, read_incidents, true },
	{ METRIC_GPU_XID_BOOTS, read_boots, false },
	{ METRIC_GPU_XID_FIRST_TIMESTAMP_SECONDS, read_fault_time, FIRST },
	{ METRIC_GPU_XID_LAST_TIMESTAMP_SECONDS, read_fault_time, 0 },
	{ METRIC_NVSWITCH_SXID_ERRORS, read_fault, SXIDS },
	{ METRIC_NVSWITCH_SXID_FIRST_TIMESTAMP_SECONDS, read_fault_time, SXIDS | FIRST },
	{ METRIC_NVSWITCH_SXID_LAST_TIMESTAMP_SECONDS, read_fault_time, SXIDS },
	{ METRIC_GPU_DRIVER_ERRORS, read_event, true },
	{ METRIC_GPU_DRIVER_ERROR_LAST_TIMESTAMP_SECONDS, read_event_time, true },
	{ METRIC_GPU_RECOVERED_TIMESTAMP_SECONDS, read_recovery, false },
	{ METRIC_GPU_PAST_FAILURES, read_gpu, true },
	{ METRIC_GPU_GSP_RATE_LIMITED, read_gpu, false },
	{ METRIC_GPU_INFO, read_identity, false },
	{ METRIC_KERNEL_EVENTS, read_event, false },
};

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
	    !is_name(line.at[len])) {
		line.at += len;
	} else {
		last->name = take_name(&line);
		last->family = find_family(last->name);
	}
	if (!last->family)
		return 0;
	return read_sample(line, &sample) ? last->family->read(s, &sample, last->family->kind) :
					    -EINVAL;
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
