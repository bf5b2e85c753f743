// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The options of NFS mounts from mountinfo, their connections and bytes from mountstats, readahead and modules from sysfs, what
 * is dirty from vmstat. */
#include "nfs/mount_settings.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file_text.h"
#include "base/mountinfo.h"
#include "kernel/mounts.h"
#include "kernel/types_file.h"

#define FILE_MAX (64 << 20)

void mount_settings_free(struct mount_settings *m)
{
	if (m->changes >= 0)
		close(m->changes);
	free(m->mounts);
	*m = (struct mount_settings){ .changes = -1 };
}

/* ---- options ---- */

static void set(char option[NFS_OPTION_SIZE], struct span value)
{
	span_copy(span_cut(value, NFS_OPTION_SIZE - 1), option, NFS_OPTION_SIZE);
}

/* One of the times for which attributes are taken as valid. */
static void take_time(struct span name, struct span value, uint64_t times[4])
{
	static const char *const names[] = { "acregmin", "acregmax", "acdirmin", "acdirmax" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (span_is(name, names[i]))
			span_number(value, UINT32_MAX, &times[i]);
}

void mount_settings_options(char options[NFS_OPTIONS][NFS_OPTION_SIZE], struct span text)
{
	static const char *const defaults[NFS_OPTIONS] = { [NFS_NCONNECT] = "1",
							   [NFS_MAX_CONNECT] = "1",
							   [NFS_LOOKUPCACHE] = "all",
							   [NFS_LOCAL_LOCK] = "none" };
	uint64_t times[4] = { 3, 60, 30, 60 }; /* fs/nfs/client.c: NFS_DEF_ACREGMIN, ... */
	bool none = false;

	for (int o = 0; o < NFS_OPTIONS; o++)
		snprintf(options[o], NFS_OPTION_SIZE, "%s", defaults[o] ? defaults[o] : "");
	while (span_left(text)) {
		struct span option = span_take_until(&text, ","), name;

		span_take(&text, ",");
		name = span_take_until(&option, "=");
		span_take(&option, "=");
		if (span_is(name, "hard") || span_is(name, "soft") || span_is(name, "softerr"))
			set(options[NFS_RECOVERY], name);
		none |= span_is(name, "noac");
		take_time(name, option, times);
		for (int o = 0; o < NFS_OPTIONS; o++)
			if (o != NFS_RECOVERY && o != NFS_AC && span_is(name, nfs_option_names[o]))
				set(options[o], option);
	}
	snprintf(options[NFS_AC], NFS_OPTION_SIZE, "%u,%u,%u,%u", (unsigned int)times[0],
		 (unsigned int)times[1], (unsigned int)times[2], (unsigned int)times[3]);
	if (none)
		snprintf(options[NFS_AC], NFS_OPTION_SIZE, "noac");
}

/* ---- mountstats ---- */

static void take_numbers(struct span line, uint64_t *to, size_t count)
{
	for (size_t i = 0; i < count; i++)
		span_number(span_take_word(&line), UINT64_MAX, &to[i]);
}

/* Counts the connections of the mount at the escaped path @point in the text of mountstats, and takes its bytes and events. */
static void take_stats(struct mount_setting *mount, const struct file_text *mountstats,
		       struct span point)
{
	struct span text = { mountstats->bytes, mountstats->bytes + mountstats->len };
	struct mountstats_place place = {};
	unsigned int connections = 0;
	bool here = false;

	while (span_left(text)) {
		struct span line = span_take_line(&text);

		if (mountstats_is_head(&place, line)) {
			here = span_take_through(&line, " mounted on ") &&
			       span_left(line) > span_left(point) &&
			       !memcmp(line.at, point.at, span_left(point)) &&
			       line.at[span_left(point)] == ' ';
			/* What is mounted over it comes later. */
			connections = here ? 0 : connections;
		} else if (here) {
			/* Also a line that the server has chosen, before the kernel's own. */
			connections += span_starts_with(line, "\txprt:");
			if (span_take(&line, "\tbytes:"))
				take_numbers(line, mount->bytes, MOUNT_BYTES);
			else if (span_take(&line, "\tevents:"))
				take_numbers(line, mount->events, MOUNT_EVENTS);
		}
	}
	if (connections)
		snprintf(mount->options[NFS_NCONNECT], NFS_OPTION_SIZE, "%u", connections);
}

/* Compares what the mount has moved with what it had at the reading before. Without any it is as it was then. */
static void compare(struct mount_setting *now, const struct mount_setting *then)
{
	uint64_t moved[MOUNT_BYTES], readaheads, ahead;

	for (int b = 0; b < MOUNT_BYTES; b++)
		moved[b] = counted_since(now->bytes[b], then->bytes[b]);
	readaheads = counted_since(now->events[MOUNT_READAHEADS], then->events[MOUNT_READAHEADS]);
	ahead = moved[MOUNT_PAGES_READ] * (uint64_t)sysconf(_SC_PAGESIZE);
	now->window_bytes = then->window_bytes;
	if (2 * ahead < moved[MOUNT_SERVER_READ])
		now->window_bytes = 0;
	else if (readaheads)
		now->window_bytes = ahead / readaheads;
	now->direct_writes = moved[MOUNT_SERVER_WRITTEN] ?
				     2 * moved[MOUNT_DIRECT_WRITTEN] > moved[MOUNT_SERVER_WRITTEN] :
				     then->direct_writes;
}

/* ---- the mounts ---- */

static void read_readahead(struct mount_setting *mount, const char *root, const char *device)
{
	char text[24];
	uint64_t kilobytes;

	mount->readahead_known =
		file_first_line(PATHF("%s/sys/class/bdi/%s/read_ahead_kb", root, device), text,
				sizeof(text)) &&
		span_number((struct span){ text, text + strlen(text) }, UINT64_MAX >> 10,
			    &kilobytes);
	if (mount->readahead_known)
		mount->readahead_bytes = kilobytes << 10;
}

static int add_mount(struct mount_settings *m, const char *root, const struct mountinfo_line *line,
		     const struct file_text *mountstats)
{
	char device[32];
	uint64_t number;
	struct mount_setting *mount;

	if (!span_copy(line->device, device, sizeof(device)) ||
	    !mount_device(line->device, &number))
		return 0;
	mount = ARRAY_APPEND(m->mounts, m->count);
	if (!mount)
		return -ENOMEM;
	mount->device = number;
	mount_settings_options(mount->options, line->super_options);
	take_stats(mount, mountstats, line->point);
	read_readahead(mount, root, device);
	return 0;
}

static void compare_all(struct mount_settings *m, const struct mount_setting *before, size_t count)
{
	for (struct mount_setting *now = m->mounts; now < m->mounts + m->count; now++) {
		const struct mount_setting none = {}, *then = before;

		while (then < before + count && then->device != now->device)
			then++;
		compare(now, then < before + count ? then : &none);
	}
}

static int read_mounts(struct mount_settings *m, const char *root)
{
	struct mount_setting *before = m->mounts;
	struct file_text file, mountstats;
	struct mountinfo_line line;
	size_t count = m->count;
	struct span text;
	int err = 0;

	m->mounts = NULL;
	m->count = 0;
	if (file_text_read(&file, PATHF("%s/proc/1/mountinfo", root), FILE_MAX) &&
	    file_text_read(&file, PATHF("%s/proc/self/mountinfo", root), FILE_MAX)) {
		free(before);
		return 0;
	}
	if (file_text_read(&mountstats, PATHF("%s/proc/1/mountstats", root), FILE_MAX))
		file_text_read(&mountstats, PATHF("%s/proc/self/mountstats", root), FILE_MAX);
	text = (struct span){ file.bytes, file.bytes + file.len };
	while (!err && span_left(text))
		if (mountinfo_read_line(&line, span_take_line(&text)) && mount_is_nfs(line.type))
			err = add_mount(m, root, &line, &mountstats);
	compare_all(m, before, count);
	free(before);
	file_text_free(&mountstats);
	file_text_free(&file);
	return err;
}

/* ---- dirty pages ---- */

/* Before 5.8 what NFS has to commit counts apart. */
static void read_dirty(struct calls *c, const char *root)
{
	static const char *const names[] = { "nr_dirty", "nr_writeback", "nr_unstable",
					     "nr_dirty_threshold" };
	uint64_t pages[COUNT(names)] = {}, size = (uint64_t)sysconf(_SC_PAGESIZE);
	struct file_text file;
	struct span text;

	if (file_text_read(&file, PATHF("%s/proc/vmstat", root), FILE_MAX))
		return;
	text = (struct span){ file.bytes, file.bytes + file.len };
	while (span_left(text)) {
		struct span line = span_take_line(&text), name = span_take_word(&line);

		for (size_t i = 0; i < COUNT(names); i++)
			if (span_is(name, names[i]))
				span_number(span_take_word(&line), UINT64_MAX / size, &pages[i]);
	}
	file_text_free(&file);
	c->dirty_bytes = (pages[0] + pages[1] + pages[2]) * size;
	c->dirty_limit_bytes = pages[3] * size;
}

/* ---- modules ---- */

static void read_modules(struct mount_settings *m, const char *root)
{
	static const char *const names[] = { "sunrpc", "nfs", "rpcrdma" };
	const char *origin;
	char taint[16], id[MODULE_BUILD_ID];

	m->module_count = 0;
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *folder = PATHF("%s/sys/module/%s", root, names[i]);
		struct client_module *module = &m->modules[m->module_count];

		if (access(folder, F_OK))
			continue;
		*module = (struct client_module){};
		snprintf(module->name, sizeof(module->name), "%s", names[i]);
		/* What is built in has neither a state nor a taint. */
		origin = "built-in";
		if (!access(PATHF("%s/initstate", folder), F_OK)) {
			file_first_line(PATHF("%s/taint", folder), taint, sizeof(taint));
			origin = strchr(taint, 'O') ? "out-of-tree" : "in-tree";
			if (!file_first_line(PATHF("%s/srcversion", folder), module->build,
					     sizeof(module->build)) &&
			    module_build_id(id, root, names[i]))
				snprintf(module->build, sizeof(module->build), "%.40s", id);
		}
		snprintf(module->origin, sizeof(module->origin), "%s", origin);
		m->module_count++;
	}
}

/* ---- the snapshot ---- */

static void set_mount(const struct mount_settings *m, struct nfs_mount *mount)
{
	for (const struct mount_setting *from = m->mounts; from < m->mounts + m->count; from++) {
		if (from->device != mount->device)
			continue;
		memcpy(mount->options, from->options, sizeof(mount->options));
		mount->readahead_bytes = from->readahead_bytes;
		mount->readahead_known = from->readahead_known;
		mount->window_bytes = from->window_bytes;
		mount->direct_writes = from->direct_writes;
		return;
	}
}

int mount_settings_add(struct mount_settings *m, const char *root, struct snapshot *s)
{
	bool first = m->changes < 0;
	int err = 0;

	if (first)
		m->changes = open(PATHF("%s/proc/1/mountinfo", root), O_RDONLY | O_CLOEXEC);
	if (m->changes < 0)
		m->changes = open(PATHF("%s/proc/self/mountinfo", root), O_RDONLY | O_CLOEXEC);
	if (s->calls.mount_count &&
	    (first || mounts_changed(m->changes) || s->time_ns >= m->due_ns)) {
		m->due_ns = s->time_ns + m->period_ns;
		err = read_mounts(m, root);
		read_modules(m, root);
	}
	if (s->calls.mount_count)
		read_dirty(&s->calls, root);
	for (size_t i = 0; i < s->calls.mount_count; i++)
		set_mount(m, &s->calls.mounts[i]);
	for (size_t i = 0; i < m->module_count && !err; i++) {
		struct client_module *module = snapshot_module(&s->calls, m->modules[i].name);

		if (module)
			*module = m->modules[i];
		else
			err = -ENOMEM;
	}
	return err;
}
