// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Connections and bytes of NFS mounts from mountstats, readahead and modules from sysfs, dirty pages from vmstat. */
#include "nfs/mount_settings.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/mountinfo.h"
#include "kernel/kernel_types.h"

#define FILE_MAX (64 << 20)

/* ---- mountstats ---- */

static void take_numbers(struct span line, uint64_t *to, size_t count)
{
	for (size_t i = 0; i < count; i++)
		span_number(span_take_word(&line), UINT64_MAX, &to[i]);
}

/* The setting of the last mount of @c at the mount point that a line of mountstats names, of its export if volumes share the
 * label; NULL: there is none. */
static struct mount_setting *find_setting(struct mount_settings *m, const struct calls *c,
					  struct span line)
{
	char bytes[PATH_MAX], point[LABEL_SIZE], source[2 * LABEL_SIZE];
	struct mount_setting *found = NULL;
	struct span device = line;

	if (!span_take_through(&line, " mounted on "))
		return NULL;
	span_take(&device, "device ");
	label_from_bytes(source, sizeof(source), bytes,
			 mount_unescape(bytes, sizeof(bytes), span_take_word(&device)));
	mount_point_label(point, sizeof(point), bytes,
			  mount_unescape(bytes, sizeof(bytes), span_take_word(&line)));
	for (size_t i = c->mount_count; i--;) {
		if (strcmp(c->mounts[i].mountpoint, point) != 0)
			continue;
		if (span_ends_with(span_of(source), c->mounts[i].export))
			return &m->mounts[i];
		found = found ?: &m->mounts[i];
	}
	return found;
}

/* Counts the connections of each mount, and reads its bytes and events. */
static void take_stats(struct mount_settings *m, const struct calls *c, struct span text)
{
	struct mountstats_place place = {};
	struct mount_setting *here = NULL;
	struct span line;

	while (span_next_line(&text, &line)) {
		if (mountstats_is_head(&place, line)) {
			here = find_setting(m, c, line);
			/* If a mount covers another, it comes later. */
			if (here)
				here->connections = 0;
		} else if (here) {
			/* The server may have chosen a line like this one; the kernel's own follows. */
			here->connections += span_starts_with(line, "\txprt:");
			if (span_take(&line, "\tbytes:"))
				take_numbers(line, here->bytes, MOUNT_BYTES);
			else if (span_take(&line, "\tevents:"))
				take_numbers(line, here->events, MOUNT_EVENTS);
		}
	}
}

/* Judges reads and writes by the bytes that the mount has moved since the last reading. If it moved none, nothing changes. */
static void compare_mount(struct mount_setting *now, const struct mount_setting *then)
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

static void read_readahead(struct mount_setting *mount, const char *root)
{
	char text[24];
	uint64_t kilobytes;

	mount->readahead_known = file_first_line(PATHF("%s/sys/class/bdi/%u:%u/read_ahead_kb", root,
						       (unsigned int)(mount->device >> 32),
						       (unsigned int)mount->device),
						 text, sizeof(text)) &&
				 span_number(span_of(text), UINT64_MAX >> 10, &kilobytes);
	if (mount->readahead_known)
		mount->readahead_bytes = kilobytes << 10;
}

static void read_mounts(struct mount_settings *m, const char *root, const struct calls *c)
{
	FREED struct mount_setting *before = m->mounts;
	const struct mount_setting none = {};
	size_t count = m->count;
	FILE_TEXT text = {};

	m->mounts = NULL;
	m->count = 0;
	ARRAY_EACH(mount, c->mounts, c->mount_count)
		ARRAY_APPEND(m->mounts, m->count)->device = mount->device;
	if (m->count != c->mount_count)
		return; /* no memory */
	if (file_text_read(&text, PATHF("%s/proc/1/mountstats", root), FILE_MAX))
		file_text_read(&text, PATHF("%s/proc/self/mountstats", root), FILE_MAX);
	take_stats(m, c, file_text_span(&text));
	ARRAY_EACH(now, m->mounts, m->count)
		compare_mount(now, ARRAY_FIND(x, before, count, x->device == now->device) ?: &none);
}

/* Before 5.8 nr_unstable is separate: pages that NFS must commit. All four lines are in the first half of the file. */
static void read_dirty(struct calls *c, const char *root)
{
	static const char *const names[] = { "\nnr_dirty ", "\nnr_writeback ", "\nnr_unstable ",
					     "\nnr_dirty_threshold " };
	uint64_t bytes[COUNT(names)] = {}, page = (uint64_t)sysconf(_SC_PAGESIZE);
	char text[4096];

	file_read_and_close(open(PATHF("%s/proc/vmstat", root), O_RDONLY | O_CLOEXEC), text,
			    sizeof(text));
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *at = strstr(text, names[i]);

		if (at)
			bytes[i] = strtoull(at + strlen(names[i]), NULL, 10) * page;
	}
	c->dirty_bytes = bytes[0] + bytes[1] + bytes[2];
	c->dirty_limit_bytes = bytes[3];
}

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
		/* Built-in code has neither a state nor a taint. */
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
	const struct mount_setting *from =
		ARRAY_FIND(x, m->mounts, m->count, x->device == mount->device);

	if (!from)
		return;
	if (from->connections)
		snprintf(mount->options[NFS_NCONNECT], NFS_OPTION_SIZE, "%u", from->connections);
	mount->readahead_bytes = from->readahead_bytes;
	mount->readahead_known = from->readahead_known;
	mount->window_bytes = from->window_bytes;
	mount->direct_writes = from->direct_writes;
}

static uint64_t count_calls(const struct calls *c, enum rpc_kind kind)
{
	uint64_t calls = 0;

	ARRAY_EACH(o, c->ops, c->op_count)
		if (rpc_kind_of(o->op) == kind)
			calls += time_histogram_count(&o->total);
	return calls;
}

void mount_settings_add(struct mount_settings *m, const char *root, struct snapshot *s)
{
	bool others = s->calls.mounts_version != m->version;
	uint64_t writes = count_calls(&s->calls, RPC_KIND_WRITE);

	if (s->calls.mount_count && (others || s->time_ns >= m->due_ns)) {
		uint64_t begin = thread_cpu_ns(), moved;

		if (others)
			read_modules(m, root); /* a module that is in use cannot change otherwise */
		m->version = s->calls.mounts_version;
		moved = writes + count_calls(&s->calls, RPC_KIND_READ);
		if (others || moved != m->moved)
			read_mounts(m, root, &s->calls);
		for (size_t i = 0; i < m->count; i++)
			read_readahead(&m->mounts[i], root);
		m->moved = moved;
		m->due_ns = s->time_ns;
		if (m->period_ns)
			m->due_ns +=
				apart_ns(begin, MOUNT_SETTINGS_APART, m->period_ns, UINT64_MAX);
	}
	if (writes != m->writes)
		m->written_ns = s->time_ns;
	m->writes = writes;
	/* Reading them takes a twentieth of the time of a snapshot: it is done only after writes. */
	if (m->written_ns && s->time_ns < m->written_ns + MOUNT_SETTINGS_NS)
		read_dirty(&s->calls, root);
	for (size_t i = 0; i < s->calls.mount_count; i++)
		set_mount(m, &s->calls.mounts[i]);
	ARRAY_EACH(module, m->modules, m->module_count)
		*snapshot_module(&s->calls, module->name) = *module;
}
