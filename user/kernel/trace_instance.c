// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where tracefs is, and a trace instance in it (kernel: Documentation/trace/ftrace.rst, "Instances"): its event,
 * its buffers, and its end. */
#include "kernel/trace.h"

#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"

/* Room for a burst of some hundred events, which are rare. Up to 32 CPUs have it each; more share as much as these have. */
#define BUFFER_KB 32
#define BUFFERS_KB 1024

/* Pages of a CPU that buffer_size_kb leaves out: the one that is read, and where the kernel has snapshots the smallest
 * buffer for them. buffer_total_size_kb also has CPUs that were never online, which have no buffers. */
#define SNAPSHOT_PAGES 3

/* How often to read at a time, a page of text each: more than all buffers hold. No line is as long as @TEXT_BYTES. */
#define MAX_READS 1024
#define TEXT_BYTES 8192

/* Each agent or session that runs has one. */
static const char *const names[] = { "xidscope",   "xidscope_2", "xidscope_3", "xidscope_4",
				     "xidscope_5", "xidscope_6", "xidscope_7", "xidscope_8" };

/* How long to wait for the lock: a start may wait longer than an end. */
#define LOCK_START_MS 5000
#define LOCK_END_MS 300
#define LOCK_STEP_MS 10

/* The kernel creates both folders; they are empty until tracefs is mounted. */
static const char *const paths[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

static enum tracefs_state find_tracefs(const char *path)
{
	struct statfs fs;

	/* access() would not count capabilities. Lockdown that came after the boot refuses to open the files. */
	if (!statfs(PATHF("%s/instances", path), &fs)) {
		OPEN_FILE file = open(PATHF("%s/tracing_on", path), O_RDONLY | O_CLOEXEC);

		return file < 0 && errno == EPERM ? TRACEFS_EMPTY : TRACEFS_MOUNTED;
	}
	if (errno == EACCES)
		return TRACEFS_FORBIDDEN;
	if (statfs(path, &fs))
		return TRACEFS_ABSENT;
	return fs.f_type == TRACEFS_MAGIC ? TRACEFS_EMPTY : TRACEFS_UNMOUNTED;
}

enum tracefs_state tracefs_find(const char *root, char *path, size_t size)
{
	enum tracefs_state best = TRACEFS_ABSENT, state;

	path[0] = 0;
	for (size_t i = 0; i < COUNT(paths); i++) {
		const char *full = PATHF("%s%s", root, paths[i]);

		state = find_tracefs(full);
		if (state <= best)
			continue;
		best = state;
		if (state != TRACEFS_UNMOUNTED)
			snprintf(path, size, "%s", full);
	}
	return best;
}

bool tracefs_has_event(const char *path, const char *event)
{
	struct statfs fs;

	return !statfs(PATHF("%s/events/%s", path, event), &fs);
}

/* Opens a file of tracefs. Its path within tracefs is formatted as by printf(). */
#define OPEN_AT(t, flags, format, ...) \
	open(PATHF("%s/" format, (t)->tracefs, ##__VA_ARGS__), (flags) | O_CLOEXEC)

static int write_and_close(int fd, const char *text)
{
	OPEN_FILE file = fd;

	return file < 0 || write(file, text, strlen(text)) < 0 ? -errno : 0;
}

static int set_file(const struct trace_instance *t, const char *file, const char *value)
{
	return write_and_close(OPEN_AT(t, O_WRONLY, "instances/%s/%s", t->name, file), value);
}

/* While any event is on, the kernel records the name of the task at each context switch of the whole machine, which
 * costs 35 instructions each, eight times per NFS call on loopback. xidscope does not use the names. The option holds
 * for all instances, therefore it is changed only if no other event is on. */
static void disable_command_recording(const struct trace_instance *t)
{
	char any[2];

	if (!file_read_and_close(OPEN_AT(t, O_RDONLY, "set_event"), any, sizeof(any)))
		set_file(t, "trace_options", "norecord-cmd");
}

static int open_switch(const struct trace_instance *t, int flags)
{
	return OPEN_AT(t, flags, "instances/%s/events/%s/%s/enable", t->name, t->system, t->event);
}

/* Removes what killed agents and sessions have left: their events are still on and cost time in the kernel. */
static void remove_left_over(const struct trace_instance *t)
{
	/* The kernel refuses while a file in it is open: it is in use. */
	ARRAY_EACH(name, names, COUNT(names))
		rmdir(PATHF("%s/instances/%s", t->tracefs, *name));
}

/* Makes the folder. */
static int make_folder(struct trace_instance *t)
{
	ARRAY_EACH(name, names, COUNT(names)) {
		if (!mkdir(PATHF("%s/instances/%s", t->tracefs, *name), 0700)) {
			t->name = *name;
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EBUSY;
}

/* While a process makes or removes its instance, others that start or end wait. Otherwise they would take an instance that
 * is not yet opened for one that was left over. Returns a descriptor to close, or -1: another process has held the lock for
 * @ms milliseconds. */
static int lock_instances(const struct trace_instance *t, int ms)
{
	int fd = OPEN_AT(t, O_RDONLY | O_DIRECTORY, "instances");

	for (; fd >= 0 && ms > 0; ms -= LOCK_STEP_MS) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		usleep(LOCK_STEP_MS * 1000);
	}
	return file_unless(fd, -1);
}

static int make_instance(struct trace_instance *t)
{
	OPEN_FILE lock = lock_instances(t, LOCK_START_MS);
	int err;

	if (lock >= 0)
		remove_left_over(t);
	err = make_folder(t);
	if (err)
		return err;
	/* From now on no other agent can remove it. */
	t->pipe = OPEN_AT(t, O_RDONLY | O_NONBLOCK, "instances/%s/trace_pipe", t->name);
	return t->pipe < 0 ? -errno : 0;
}

/* The kernel makes the buffers of its own size, 1.4 MB for each CPU, and takes no other before. */
static void size_buffers(const struct trace_instance *t)
{
	unsigned long cpus = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN), kb = BUFFERS_KB / cpus;
	char text[16];

	LOWER(kb, BUFFER_KB);
	snprintf(text, sizeof(text), "%lu", kb + !kb);
	set_file(t, "buffer_size_kb", text);
}

struct trace_instance *trace_instance_new(const char *system, const char *event)
{
	struct trace_instance *t = calloc(1, sizeof(*t));
	enum tracefs_state state;
	int err = -ENOMEM;

	if (!t)
		goto failed;
	t->pipe = -1;
	t->system = system;
	t->event = event;
	state = tracefs_find("", t->tracefs, sizeof(t->tracefs));
	err = state == TRACEFS_MOUNTED   ? make_instance(t) :
	      state == TRACEFS_FORBIDDEN ? -EACCES :
	      state == TRACEFS_EMPTY     ? -ENODATA :
					   -ENOENT;
	if (err)
		goto failed;
	size_buffers(t);
	/* Wake up for the first record, not for a half-full buffer. */
	set_file(t, "buffer_percent", "0");
	disable_command_recording(t);
	err = set_file(t, "trace_clock", "mono");
	if (!err)
		return t;
failed:
	trace_instance_free(t);
	errno = -err;
	return NULL;
}

void trace_instance_free(struct trace_instance *t)
{
	if (!t)
		return;
	if (t->enabled)
		write_and_close(open_switch(t, O_WRONLY), "0");
	if (t->name) {
		OPEN_FILE lock = lock_instances(t, LOCK_END_MS);

		file_close(&t->pipe);
		rmdir(PATHF("%s/instances/%s", t->tracefs, t->name));
	}
	free(t);
}

void trace_instance_update(struct trace_instance *t)
{
	char state[2] = "";

	if (t->enabled)
		file_read_and_close(open_switch(t, O_RDONLY), state, sizeof(state));
	/* It was enabled, but is off: the module was loaded again. */
	if (*state == '1')
		return;
	t->since_ns = monotonic_ns();
	t->enabled = !write_and_close(open_switch(t, O_WRONLY), "1");
}

/* "           <...>-1234    [000] d..1.   100.123456: nvidia_dev_xid: TEXT", by the kernel's clock "mono". */
static bool read_event(struct span line, const char *event, uint64_t *time_ns, struct span *text)
{
	struct span time = { line.at, line.at };
	uint64_t seconds, microseconds;
	bool found = false;

	*text = line;
	while (!found && span_take_through(text, ": ")) {
		time.end = text->at - 2;
		found = span_take(text, event) && span_take(text, ": ");
	}
	time.at = memrchr(line.at, ' ', span_left((struct span){ line.at, time.end })) ?: line.at;
	span_take(&time, " ");
	if (!found || !span_take_number(&time, 10, UINT32_MAX, &seconds) ||
	    !span_take(&time, ".") || span_left(time) != 6 ||
	    !span_number(time, UINT32_MAX, &microseconds))
		return false;
	*time_ns = (seconds * 1000000 + microseconds) * 1000;
	return true;
}

static void read_line(struct trace_instance *t, struct span line, trace_handler *take,
		      void *context)
{
	uint64_t time_ns, lost;
	struct span rest;

	if (read_event(line, t->event, &time_ns, &rest)) {
		t->missed += !take(context, time_ns, rest);
		return;
	}
	/* "CPU:0 [LOST 12 EVENTS]", or without the number. */
	if (span_take(&line, "CPU:") && span_take_through(&line, " [LOST "))
		t->missed += span_take_number(&line, 10, UINT32_MAX, &lost) ? lost : 1;
}

void trace_instance_consume(struct trace_instance *t, trace_handler *take, void *context)
{
	char text[TEXT_BYTES];
	size_t kept = 0; /* the beginning of a line */
	ssize_t n = 1;

	for (int i = 0; n > 0 && i < MAX_READS; i++) {
		struct span rest = { text, text };

		n = read(t->pipe, text + kept, sizeof(text) - kept);
		rest.end += kept + (size_t)(n > 0 ? n : 0);
		while (memchr(rest.at, '\n', span_left(rest)))
			read_line(t, span_take_line(&rest), take, context);
		kept = span_left(rest) < sizeof(text) ? span_left(rest) : 0;
		memmove(text, rest.at, kept);
	}
}

uint64_t trace_instance_memory(const struct trace_instance *t)
{
	const char *folder = PATHF("%s/instances/%s", t->tracefs, t->name);
	struct statfs fs;
	long others = statfs(PATHF("%s/snapshot", folder), &fs) ? 1 : 1 + SNAPSHOT_PAGES;

	return (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) *
	       (1024 * file_number(PATHF("%s/buffer_size_kb", folder), "", 10) +
		(uint64_t)(others * sysconf(_SC_PAGESIZE)));
}

/* Reads `format` files of tracefs: a line per field,
 *
 * 	field:__data_loc char[] msg;	offset:16;	size:4;	signed:0;
 *
 * (kernel: Documentation/trace/events.rst). */

/* Reads the number after the first @label in the line. */
static bool number_after(struct span line, const char *label, uint32_t *number)
{
	uint64_t value;

	if (!span_take_through(&line, label) || !span_take_number(&line, 10, UINT32_MAX, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* The last word, without a dimension: "char comm[16]", "u32 error_code". */
static struct span name_in(struct span declaration)
{
	const char *at = declaration.at, *end = declaration.end;
	const char *bracket = memchr(at, '[', (size_t)(end - at));
	const char *begin;

	/* "__data_loc char[] msg" has its brackets before the name. */
	if (bracket && !memchr(bracket, ' ', (size_t)(end - bracket)))
		end = bracket;
	for (begin = end; begin > at && begin[-1] != ' ' && begin[-1] != '*';)
		begin--;
	return (struct span){ begin, end };
}

bool trace_field_find(struct span format, const char *name, struct trace_field *field)
{
	struct span line, declaration;

	while (span_next_line(&format, &line)) {
		span_take_run(&line, " \t");
		if (!span_take(&line, "field:"))
			continue;
		declaration = span_take_until(&line, ";");
		if (!span_is(name_in(declaration), name))
			continue;
		field->dynamic = span_starts_with(declaration, "__data_loc ");
		return !span_starts_with(declaration, "__rel_loc ") &&
		       number_after(line, "offset:", &field->offset) &&
		       number_after(line, "size:", &field->size);
	}
	return false;
}
