// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "faults/fault_observer.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/file_text.h"
#include "base/json.h"
#include "base/pci_address.h"
#include "base/span.h"

#define PROCESS "xidscope-gpus"
#define GROUPS 256 /* of all GPUs that are noted */

/* A control group that holds a GPU. */
struct holder {
	unsigned int minor;
	struct cgroup group;
	int pid; /* of one of its processes */
	char comm[32];
	unsigned int processes;
};

struct scan {
	const char *root;
	unsigned int major; /* of the device files */
	uint64_t deadline_ns;
	bool late;
	unsigned int unread;
	size_t count;
	struct holder holders[GROUPS];
};

/* ---- the scan, in a process of its own ---- */

/* The number at the end of a link to ".../dev/nvidia3". */
static bool is_gpu(const char *link, size_t len, unsigned int *minor)
{
	static const char name[] = "/dev/nvidia";
	struct span s = { link, link + len };
	uint64_t number;

	/* In another root the path may have more before it. */
	while (span_take_through(&s, name))
		if (span_number(s, UINT32_MAX, &number)) {
			*minor = (unsigned int)number;
			return true;
		}
	return false;
}

/* The text after @name and blanks in @text; empty if @name is not there. */
static struct span value_of(struct span text, const char *name)
{
	struct span value = { NULL, NULL };

	if (span_take_through(&text, name)) {
		span_take_run(&text, " \t");
		value = span_take_until(&text, " \t\n");
	}
	return value;
}

/* Whether the descriptor @fd is open on that device. A user can give any file its path, and have its
 * path alone (O_PATH). Only of such files more than the link is looked at, and no server is asked. */
static bool is_open(const struct scan *s, int pid, int folder, const char *fd, unsigned int minor)
{
	FILE_TEXT info = {};
	uint64_t flags = 0;
	struct span value;
	struct statx st;

	if (statx(folder, fd, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st) ||
	    !S_ISCHR(st.stx_mode) || st.stx_rdev_major != s->major || st.stx_rdev_minor != minor)
		return false;
	file_text_read(&info, PATHF("%s/proc/%d/fdinfo/%s", s->root, pid, fd), 65536);
	value = value_of(file_text_span(&info), "flags:");
	span_take_number(&value, 8, UINT32_MAX, &flags);
	return !(flags & O_PATH);
}

static void note_holder(struct scan *s, int pid, unsigned int minor)
{
	FILE_TEXT text = {};
	struct cgroup group = {};
	struct holder *h;

	if (!file_text_read(&text, PATHF("%s/proc/%d/cgroup", s->root, pid), 65536))
		cgroup_read(&group, text.bytes);
	h = ARRAY_FIND(x, s->holders, s->count,
		       x->minor == minor && !strcmp(x->group.path, group.path));
	if (h) {
		h->processes++;
		return;
	}
	if (s->count == GROUPS) {
		s->late = true;
		return;
	}
	h = &s->holders[s->count++];
	*h = (struct holder){ .minor = minor, .group = group, .pid = pid, .processes = 1 };
	file_first_line(PATHF("%s/proc/%d/comm", s->root, pid), h->comm, sizeof(h->comm));
}

/* A process with many files of one GPU counts once. */
static void scan_process(struct scan *s, int pid)
{
	OPEN_FOLDER *folder = opendir(PATHF("%s/proc/%d/fd", s->root, pid));
	uint64_t seen = 0;
	const char *fd;
	char link[256];
	unsigned int minor;
	ssize_t n;

	if (!folder) {
		s->unread += errno == EACCES || errno == EPERM;
		return;
	}
	while ((fd = folder_next(folder))) {
		n = readlinkat(dirfd(folder), fd, link, sizeof(link));
		if (n < 0 && (errno == EACCES || errno == EPERM)) {
			s->unread++;
			break;
		}
		if (n <= 0 || !is_gpu(link, (size_t)n, &minor))
			continue;
		if (minor < 64 && seen & 1ull << minor)
			continue;
		if (!is_open(s, pid, dirfd(folder), fd, minor))
			continue;
		seen |= minor < 64 ? 1ull << minor : 0;
		note_holder(s, pid, minor);
	}
}

/* Only if a holder's group lacks its job's number are titles of processes read, which may wait. */
static void name_jobs(struct scan *s)
{
	bool wanted = ARRAY_FIND(h, s->holders, s->count, h->group.unnamed_job);
	size_t size;
	FREED char *jobs =
		wanted ? TEXT_OF(size, out, cgroup_write_names(s->root, NULL, out)) : NULL;

	ARRAY_EACH(h, s->holders, jobs ? s->count : 0)
		cgroup_find_names(&h->group, jobs);
}

static void scan_processes(struct scan *s)
{
	OPEN_FOLDER *proc = opendir(PATHF("%s/proc", s->root));
	const char *pid;

	while (!s->late && (pid = folder_next(proc))) {
		if (!isdigit((unsigned char)*pid))
			continue;
		scan_process(s, (int)strtol(pid, NULL, 10));
		s->late |= monotonic_ns() > s->deadline_ns;
	}
	name_jobs(s);
}

static void write_gpu(const struct scan *s, const char *gpu, unsigned int minor, const char *uuid,
		      FILE *out)
{
	struct json j = { .out = out };
	unsigned int named = 0;
	bool more = false;

	fprintf(out, "%s %u %s ", gpu, minor, *uuid ? uuid : "-");
	json_array(&j, "held_by");
	ARRAY_EACH(h, s->holders, s->count) {
		if (h->minor != minor)
			continue;
		more |= ++named > GPU_HOLDERS_GROUPS;
		if (named > GPU_HOLDERS_GROUPS)
			continue;
		json_object(&j, NULL);
		json_text(&j, "cgroup", h->group.path);
		json_known(&j, "job", h->group.job);
		json_known(&j, "pod", h->group.pod);
		json_signed(&j, "pid", h->pid);
		json_text(&j, "comm", h->comm);
		json_unsigned(&j, "processes", h->processes);
		json_object_end(&j);
	}
	json_array_end(&j);
	if (s->unread)
		json_unsigned(&j, "holders_unread", s->unread);
	if (s->late || more)
		json_bool(&j, "holders_incomplete", true);
	fputc('\n', out);
}

/* Before the GPU is initialised the driver shows question marks. */
static void copy_uuid(struct span value, char uuid[GPU_UUID_SIZE])
{
	*uuid = 0;
	if (is_gpu_uuid(value))
		span_copy(value, uuid, GPU_UUID_SIZE);
}

/* "GPU UUID: 	 GPU-11111111-..." and "Device Minor: 	 3", each on a line of its own. */
bool gpu_information_read(const char *root, const char *gpu, unsigned int *minor,
			  char uuid[GPU_UUID_SIZE])
{
	FILE_TEXT text = {};
	uint64_t number;

	if (file_text_read(&text, PATHF("%s/proc/driver/nvidia/gpus/%s/information", root, gpu),
			   65536))
		return false;
	copy_uuid(value_of(file_text_span(&text), "GPU UUID:"), uuid);
	if (!span_number(value_of(file_text_span(&text), "Device Minor:"), UINT32_MAX, &number))
		return false;
	*minor = (unsigned int)number;
	return true;
}

/* "": not known. */
static const char *uuid_of(const struct gpu_minors *known, const char *gpu)
{
	const struct gpu_minor *found =
		ARRAY_FIND(m, known->list, known->count, !strcmp(m->gpu, gpu));

	return found ? found->uuid : "";
}

void gpu_holders_scan(const char *root, unsigned int major, const struct gpu_minors *minors,
		      FILE *out)
{
	struct scan *s = calloc(1, sizeof(*s));
	char uuid[GPU_UUID_SIZE];
	OPEN_FOLDER *gpus = opendir(PATHF("%s/proc/driver/nvidia/gpus", root));
	unsigned int minor;
	const char *gpu;

	if (!s)
		return;
	s->root = root;
	s->major = major;
	s->deadline_ns = monotonic_ns() + GPU_HOLDERS_SCAN_MS * 1000000ull;
	if (gpus)
		scan_processes(s);
	/* Known GPUs come first, because reading the file of another may take long. */
	for (size_t i = 0; i < minors->count; i++)
		write_gpu(s, minors->list[i].gpu, minors->list[i].minor, minors->list[i].uuid, out);
	fflush(out);
	while ((gpu = folder_next(gpus)))
		if (!*uuid_of(minors, gpu) && gpu_information_read(root, gpu, &minor, uuid))
			write_gpu(s, gpu, minor, uuid, out);
	free(s);
}

/* ---- the agent's side ---- */

static void look_for_holders(const void *minors, FILE *out)
{
	gpu_holders_scan("", GPU_MAJOR, minors, out);
}

/* Notes the numbers and UUIDs of the GPUs in what was found. */
static void note_minors(struct gpu_holders *h)
{
	struct span s = { h->helper.text, h->helper.text + h->helper.len }, line, gpu;
	struct gpu_minors *m = &h->minors;
	char name[sizeof(m->list[0].gpu)];
	struct gpu_minor *known;
	uint64_t number;

	while (span_next_line(&s, &line)) {
		gpu = span_take_word(&line);
		if (!span_number(span_take_word(&line), UINT32_MAX, &number) ||
		    !span_copy(gpu, name, sizeof(name)))
			continue;
		known = ARRAY_FIND(x, m->list, m->count, !strcmp(x->gpu, name));
		if (!known && m->count == COUNT(m->list))
			continue;
		if (!known) {
			known = &m->list[m->count++];
			*known = (struct gpu_minor){ .minor = (unsigned int)number };
			memcpy(known->gpu, name, sizeof(name));
		}
		if (!*known->uuid)
			copy_uuid(span_take_word(&line), known->uuid);
	}
}

void gpu_holders_poll(struct gpu_holders *h)
{
	if (!h->helper.running)
		return;
	helper_collect(&h->helper, 0);
	if (h->helper.whole)
		note_minors(h);
}

void gpu_holders_learn(struct gpu_holders *h)
{
	gpu_holders_poll(h);
	h->minors.count = 0;
	helper_start(&h->helper, PROCESS, look_for_holders, &h->minors);
}

const char *gpu_holders_find(struct gpu_holders *h, const char *gpu)
{
	struct span s, line;

	gpu_holders_poll(h);
	if (helper_ask(&h->helper, PROCESS, look_for_holders, &h->minors))
		note_minors(h);
	free(h->found);
	h->found = NULL;
	for (s = (struct span){ h->helper.text, h->helper.text + h->helper.len }; span_left(s);) {
		line = span_take_line(&s);
		/* The last one may be torn. */
		if (line.end == h->helper.text + h->helper.len ||
		    !span_is(span_take_word(&line), gpu))
			continue;
		span_take_word(&line);
		span_take_word(&line);
		span_take_run(&line, " ");
		h->found = strndup(line.at, span_left(line));
		break;
	}
	return h->found ? h->found : "";
}

const char *gpu_holders_uuid(struct gpu_holders *h, const char *gpu)
{
	gpu_holders_poll(h);
	return uuid_of(&h->minors, gpu);
}

void gpu_holders_free(struct gpu_holders *h)
{
	helper_free(&h->helper);
	free(h->found);
	*h = (struct gpu_holders){};
}
