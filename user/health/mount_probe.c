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
	while (span_left(rest))
		if (mountinfo_read_line(&m, span_take_line(&rest)))
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
	if (q->helper.pipe < 0)
		return;
	helper_collect(&q->helper, 0);
	q->asked = q->helper.len;
	if (q->helper.pipe >= 0)
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
		if (q->helper.pipe >= 0 && !q->killed && now_ns >= q->deadline_ns)
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
