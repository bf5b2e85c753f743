// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether file systems of servers can be used: what the kernel's list of mounts says, and what their servers answer. */
#include "health/node.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file_text.h"

#define PROC_MAX_BYTES (64 << 20)
#define ASK_NS 30000000000ull
#define ASKED 'a' /* a process is about to ask the server */

/* ---- what the kernel knows ---- */

/* Without the list of mounts, all count as fine. */
void node_mounts_look(struct node_state *node, const char *mountinfo)
{
	FILE_TEXT text = {};
	struct mountinfo_line m;
	struct span rest;
	bool read = node->mount_count && !file_text_read(&text, mountinfo, PROC_MAX_BYTES);

	ARRAY_EACH(mount, node->mounts, node->mount_count) {
		mount->state = read ? MOUNT_ABSENT : MOUNT_FINE;
		mount->device[0] = 0;
	}
	rest = file_text_span(&text);
	while (mountinfo_next_line(&rest, &m))
		ARRAY_EACH(mount, node->mounts, node->mount_count)
			node_mount_look(mount, &m);
	ARRAY_EACH(mount, node->mounts, node->mount_count)
		if (mount->helpers && mount->state == MOUNT_ABSENT)
			mount->state = MOUNT_FINE;
}

/* Of a round of questions: .bytes is NULL before the first needs it, and if it cannot be read. Returns UINT64_MAX then. */
static uint64_t count_replies(struct file_text *stats, const char *path)
{
	if (!stats->bytes && file_text_read(stats, "/proc/self/mountstats", PROC_MAX_BYTES))
		return UINT64_MAX;
	return mount_replies(file_text_span(stats), path);
}

/* ---- asking ---- */

/* The state of a mount by the error of a question; 0: no error. A server that refuses has answered. */
static char state_of_error(int error)
{
	switch (error) {
	case ESTALE:
		return MOUNT_STALE;
	case EIO:
	case ETIMEDOUT:
	case ECONNREFUSED:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return MOUNT_HUNG;
	default:
		return MOUNT_FINE;
	}
}

/* Whether the open file is on that device, as in "0:52". Asks no server. */
static bool is_on_device(int fd, const char *device)
{
	char text[32];
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st))
		return false;
	snprintf(text, sizeof(text), "%u:%u", st.stx_dev_major, st.stx_dev_minor);
	return !strcmp(text, device);
}

/* In a process of its own. A user may have mounted a file system of their own there since the look at the mounts, or on the way, or
 * this process may see other mounts than process 1: that is found out before the server is asked, and then nothing is known. */
static void ask_server(const void *context, FILE *out)
{
	const struct node_mount *mount = context;
	struct statx status;
	int folder, error = 0;

	folder = chdir("/") ? -1 : open(mount->path, O_PATH | O_CLOEXEC); /* asks no server */
	if (folder < 0 || !is_on_device(folder, mount->device))
		return;
	fputc(ASKED, out);
	fflush(out);
	if (statx(folder, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status))
		error = errno;
	fputc(state_of_error(error), out);
}

static void begin_question(struct mount_question *q, const struct node_mount *mount, double limit,
			   uint64_t now_ns, struct file_text *stats)
{
	q->due_ns = now_ns + ASK_NS;
	if (!helper_start(&q->helper, "xidscope-mount", ask_server, mount))
		return;
	q->asked = false;
	q->replies = count_replies(stats, mount->path);
	q->deadline_ns = now_ns + (uint64_t)(limit * 1e9);
}

/* Reads the answer, if it has come: ASKED, and the state. */
static void read_answer(struct mount_question *q)
{
	if (!q->helper.running)
		return;
	helper_collect(&q->helper, 0);
	q->asked = q->helper.len;
	if (q->helper.running)
		return;
	if (!q->killed)
		q->state = q->helper.len > 1 ? (enum mount_state)q->helper.text[1] : MOUNT_FINE;
	q->killed = false;
}

/* A server that sends other replies is slow, but does not hang. */
static void give_up(struct mount_question *q, const char *path, struct file_text *stats)
{
	uint64_t replies = q->asked ? count_replies(stats, path) : UINT64_MAX;
	bool hung = replies != UINT64_MAX && replies == q->replies;

	if (q->asked && !helper_sleeps(&q->helper))
		return; /* it has had no CPU */
	q->killed = true;
	q->state = hung ? MOUNT_HUNG : MOUNT_FINE;
	helper_kill(&q->helper);
}

bool node_mounts_ask(struct node_state *node, struct mount_question *questions, double limit,
		     uint64_t now_ns)
{
	FILE_TEXT stats = {};
	bool changed = false;

	for (size_t i = 0; i < node->mount_count; i++) {
		struct node_mount *mount = &node->mounts[i];
		struct mount_question *q = &questions[i];

		read_answer(q);
		if (q->helper.running && !q->killed && now_ns >= q->deadline_ns)
			give_up(q, mount->path, &stats);
		if (!*mount->device)
			q->state = MOUNT_FINE;
		else if (now_ns >= q->due_ns)
			begin_question(q, mount, limit, now_ns, &stats);
		changed |= mount->answer != q->state;
		mount->answer = q->state;
	}
	return changed;
}

/* ---- texts of the system: which mounts there are to be ---- */

/* Whether @options, separated by commas, have this one. */
static bool has_option(struct span options, const char *name)
{
	while (span_left(options))
		if (span_is(span_take_field(&options, ","), name))
			return true;
	return false;
}

/* Adds a mount, with its path as in mountinfo: without double and final slashes. */
static void add_mount(struct node_state *node, const char *path, bool read_only, bool helpers)
{
	struct node_mount *m, new = { .read_only = read_only, .helpers = helpers };
	size_t used = 0;

	for (; *path; path++) {
		if (*path == '/' && (path[1] == '/' || (!path[1] && used)))
			continue;
		if (used + 1 == sizeof(new.path))
			return;
		new.path[used++] = *path;
	}
	m = ARRAY_FIND(x, node->mounts, node->mount_count, !strcmp(x->path, new.path));
	if (m) {
		m->read_only |= read_only;
		m->helpers &= helpers;
	} else if (node->mount_count < NODE_MOUNTS_MAX) {
		node->mounts[node->mount_count++] = new;
	} else {
		node->mounts_left_out++;
	}
}

void node_mounts_add(struct node_state *node, const char *path)
{
	size_t len = strlen(path);
	bool read_only = len > 3 && !strcmp(path + len - 3, ",ro");
	char name[LABEL_SIZE];

	snprintf(name, sizeof(name), "%.*s", (int)(read_only ? len - 3 : len), path);
	add_mount(node, name, read_only, false);
}

/* The kernel's types, and those of helpers (mount.efs, mount.aznfs) that make mounts of these. */
static bool is_nfs(struct span type)
{
	static const char *const types[] = { "nfs", "nfs4", "efs", "aznfs" };

	return ARRAY_FIND(t, types, COUNT(types), span_is(type, *t));
}

void node_mounts_add_fstab(struct node_state *node, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line, source, path, type, options;
	char name[LABEL_SIZE];

	while (span_next_line(&rest, &line)) {
		source = span_take_word(&line);
		path = span_take_word(&line);
		type = span_take_word(&line);
		options = span_take_word(&line);
		if (span_starts_with(source, "#") ||
		    (!is_nfs(type) && !memchr(source.at, ':', span_left(source))))
			continue;
		if (!has_option(options, "noauto") && !has_option(options, "x-systemd.automount") &&
		    mount_path(name, sizeof(name), path))
			add_mount(node, name, has_option(options, "ro"), !is_nfs(type));
	}
}

/* ---- texts of the system: which mounts there are ---- */

/* Whether it is a file system that a user has mounted: whoever may write to a folder can mount one over it (fusermount3(1)). */
static bool is_users(struct span type, struct span super)
{
	while (span_starts_with(type, "fuse") && span_left(super)) {
		struct span option = span_take_field(&super, ",");

		if (span_take(&option, "user_id="))
			return !span_is(option, "0");
	}
	return false;
}

/* The mount at this path, which a later one may cover. */
static void look_at_own(struct node_mount *mount, const struct mountinfo_line *m)
{
	mount->state = MOUNT_FINE;
	mount->device[0] = 0;
	/* What is mounted on demand is not asked for here. */
	if (span_is(m->type, "autofs") || (mount->helpers && !is_nfs(m->type)))
		return;
	if (!mount->read_only &&
	    (has_option(m->options, "ro") || has_option(m->super_options, "ro")))
		mount->state = MOUNT_READ_ONLY;
	else
		span_copy(m->device, mount->device, sizeof(mount->device));
}

void node_mount_look(struct node_mount *mount, const struct mountinfo_line *m)
{
	char point[LABEL_SIZE];

	if (!mount_path(point, sizeof(point), m->point) || !mount_leads_to(mount->path, point))
		return;
	/* The node's own mount cannot be asked through it. */
	if (mount->state != MOUNT_ABSENT && is_users(m->type, m->super_options))
		mount->device[0] = 0;
	else if (!strcmp(point, mount->path))
		look_at_own(mount, m);
}

/* Of "xprt: tcp" and rdma the seventh figure, of udp the fourth. */
static uint64_t replies_of(struct span transport)
{
	bool udp = span_is(span_take_word(&transport), "udp");
	uint64_t value;

	for (int i = 0; i < (udp ? 3 : 6); i++)
		span_take_word(&transport);
	return span_number(span_take_word(&transport), UINT64_MAX, &value) ? value : 0;
}

uint64_t mount_replies(struct span mountstats, const char *path)
{
	struct mountstats_place place = {};
	struct span line;
	uint64_t replies = 0;
	char point[LABEL_SIZE];
	bool here = false;

	while (span_next_line(&mountstats, &line)) {
		/* "device nas:/export mounted on /mnt/with\\040blank with fstype nfs4" */
		if (mountstats_is_head(&place, line))
			here = span_take_through(&line, " mounted on ") &&
			       mount_path(point, sizeof(point), span_take_word(&line)) &&
			       !strcmp(point, path) && span_take(&line, " with fstype nfs");
		else if (here && span_take(&line, "\txprt:\t"))
			replies += replies_of(line);
	}
	return replies;
}
