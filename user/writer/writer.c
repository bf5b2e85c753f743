// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's side of the files that another process writes.
 *
 * Why: a disk may stop answering at any time. A process that waits for it cannot be interrupted, often not even
 * killed. The agent must go on observing, and end when it is told to. Therefore one other process opens, locks, writes
 * and renames all files on disks. The agent knows nothing of how that is done.
 *
 * Protocol: a pair of sockets. The agent sends one request, the process answers it, then the agent sends the next. A
 * request names the file and what to do:
 *
 *	open	check what is at the path; the state's content follows the answer
 *	write	replace the file by the text that follows, or append its lines
 *	end	remove the locks and the output, then end
 *
 * The answer is 0 or -errno, and how many bytes of lines were written. Both sides never share memory: a text is sent
 * whenever the socket takes some of it, and freed after the answer.
 *
 * Invariant: the agent never waits, and what waits is bounded. A newer text replaces the one that waits. Lines are
 * appended to those that wait, up to WRITER_LINES_MAX; a line without room is logged and counted as lost.
 *
 * Lines are written before the state: what the state counts is in the log, but for the repeats of a burst that goes on.
 *
 * A process that has ended is replaced within a second, and gets the same work again. One that hangs is not
 * replaced: of two, the slower one would put an older text in place of a newer one, and it has the lock. While it
 * hangs, no file is written: a process for each file would cost memory on all nodes for the sake of few. After two
 * seconds each file that waits is reported.
 *
 * Example: the output's disk hangs for a minute, the interval is 15 s. The process has the first text; the next three
 * replace each other; a line for the events waits. When the disk answers, the first text is written, then
 * the newest, then the line. On SIGTERM before that, the agent reports both files and ends after 0.6 s. The kernel ends
 * the process when the disk answers, and with it the lock; until then a new agent writes other files, not this one. */
#include "writer/writer.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/output_file.h"

/* A turn of waiting, and how much longer the start and the end take if the process has no CPU. */
#define SLICE_NS 100000000ull
#define STARVED_NS 15000000000ull

/* The time until a failed write is tried again. */
#define RETRY_NS 500000000ull

const char *const writer_options[WRITER_FILES] = {
	[WRITER_STATE] = "--state",
	[WRITER_OUTPUT] = "--output",
	[WRITER_EVENTS] = "--events",
};

static const char *const meanwhile[WRITER_FILES] = {
	[WRITER_STATE] = "Until then a restart counts from the kernel log only",
	[WRITER_OUTPUT] = "The old file stays; will try again every interval",
	[WRITER_EVENTS] = "Until then events wait, up to 4 MB; others are logged here",
};

/* ---- messages ---- */

/* Logs @err, 0 or -errno, if it differs from the last one. Returns it. */
static int report(struct writer *w, int file, int err)
{
	struct writer_output *f = &w->files[file];
	int before = f->error;

	f->error = err;
	if (!err && before)
		log_info(w->log, "%s is written again", f->path);
	else if (err != before && err != -EPIPE) /* a reader that has what it wanted */
		log_error(w->log, "cannot write %s: %s; %s, or name another %s. %s", f->path,
			  output_error(err), output_advice(err), writer_options[file],
			  meanwhile[file]);
	return err;
}

static bool has_work(const struct writer_output *f)
{
	return f->path && (!f->opened || f->now.bytes);
}

static int hang_error(const struct writer_output *f)
{
	return strcmp(f->path, "-") ? -ETIMEDOUT : -EAGAIN;
}

/* Reports each file that waits. Without one that the process works on, a failure has been reported. */
static void report_hang(struct writer *w)
{
	for (int i = 0; i < WRITER_FILES && w->busy >= 0; i++)
		if (has_work(&w->files[i]))
			report(w, i, i == w->busy ? hang_error(&w->files[i]) : -EINPROGRESS);
}

/* ---- the socket ---- */

static void end_process(struct writer *w)
{
	file_close(&w->socket);
	w->socket = -1;
}

/* What is left of a message of @size bytes, which @more bytes of @text follow, after its first @done bytes. */
static struct span message_rest(const void *message, size_t size, const char *text, size_t more,
				size_t done)
{
	const char *at = message;

	if (done < size)
		return (struct span){ at + done, at + size };
	return done < size + more ? (struct span){ text + (done - size), text + more } :
				    (struct span){};
}

/* What send() or recv() returned: 0; -EAGAIN: try again later; -ECHILD: the process has ended. */
static int transfer_error(ssize_t n)
{
	if (n > 0)
		return 0;
	return !n || errno == EPIPE || errno == ECONNRESET ? -ECHILD : -EAGAIN;
}

/* Sends as much as there is room for. Returns 0, or -ECHILD: the process has ended. */
static int send_request(struct writer *w)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct span rest;
	int err = 0;

	while (!err && span_left(rest = message_rest(&w->request, sizeof(w->request),
						     w->files[w->busy].now.bytes, w->request.size,
						     w->sent))) {
		ssize_t n = send(w->socket, rest.at, span_left(rest), MSG_NOSIGNAL | MSG_DONTWAIT);

		err = transfer_error(n);
		w->sent += err ? 0 : (size_t)n;
	}
	/* A lack of memory is no lack of room: that is tried again within a second. */
	event.events |= err == -EAGAIN && errno == EAGAIN ? EPOLLOUT : 0;
	epoll_ctl(w->epoll, EPOLL_CTL_MOD, w->socket, &event);
	return err == -EAGAIN ? 0 : err;
}

/* Returns 0: the answer is there as a whole; -EAGAIN: it is not; or another -errno: there will be none. */
static int receive_answer(struct writer *w)
{
	struct span rest;

	while (span_left(rest = message_rest(&w->answer, sizeof(w->answer), w->content.bytes,
					     w->answer.size, w->received))) {
		ssize_t n = recv(w->socket, (char *)rest.at, span_left(rest), MSG_DONTWAIT);
		int err = transfer_error(n);

		if (err)
			return err;
		w->received += (size_t)n;
		if (w->received != sizeof(w->answer) || !w->answer.size)
			continue;
		w->content.bytes = malloc(w->answer.size);
		if (!w->content.bytes)
			return -ENOMEM;
		w->content.len = w->answer.size;
	}
	w->received = 0;
	return 0;
}

/* ---- work ---- */

/* Sends the work on a file, to a new process if there is none. Returns 0 or -errno. */
static int request_work(struct writer *w, int file)
{
	struct writer_output *f = &w->files[file];
	int err;

	w->request = (struct writer_request){ f->opened ? WRITER_WRITE : WRITER_OPEN, file,
					      f->opened ? f->now.len : 0, "" };
	strncpy(w->request.aside, f->aside ?: "", sizeof(w->request.aside) - 1);
	w->sent = w->received = 0;
	w->busy = file;
	w->waited = wait_begin();
	if (w->socket >= 0 && !send_request(w))
		return 0;
	/* It has ended while it was idle. */
	end_process(w);
	w->socket = writer_process_start(w);
	err = w->socket < 0 ? w->socket : file_watch(w->epoll, w->socket);
	return err ?: send_request(w);
}

/* Takes the answer, or @err: there is none. The rest of the text is tried again; at the end only if the process has ended. */
static void take_answer(struct writer *w, int err)
{
	struct writer_output *f = &w->files[w->busy];
	const struct writer_answer *a = &w->answer;
	enum writer_file file = (enum writer_file)w->busy;
	bool opens = !f->opened;

	w->busy = -1;
	if (!err && opens) {
		f->opened = true;
		f->open_error = a->error;
		f->read_error = a->read_error;
	} else if (!err) {
		err = a->error;
		f->took_ns = monotonic_ns() - w->waited.begin_ns;
		f->aside = err ? f->aside : NULL;
		f->now.len -= a->done;
		memmove(f->now.bytes, f->now.bytes + a->done, f->now.len);
		if (!f->now.len || (err && w->ending))
			file_text_free(&f->now);
	}
	f->retry_ns = err && (opens || f->now.bytes) && !w->ending ? monotonic_ns() + RETRY_NS : 0;
	if (f->next.bytes) {
		file_text_free(&f->now);
		f->now = f->next;
		f->next = (struct file_text){};
	}
	if (!opens || err) /* the first write will report what the answer says */
		report(w, file, err);
	if (!opens && w->written)
		w->written(w->context, file, err);
}

/* Gives an idle process the next work that is due. */
static void give_work(struct writer *w)
{
	static const int order[WRITER_FILES] = { WRITER_EVENTS, WRITER_STATE, WRITER_OUTPUT };
	uint64_t now = monotonic_ns();
	int err;

	for (int n = 0; n < WRITER_FILES && w->busy < 0; n++) {
		int i = w->started ? order[n] : n;

		if (!has_work(&w->files[i]) || now < w->files[i].retry_ns)
			continue;
		err = request_work(w, i);
		if (!err)
			continue;
		end_process(w);
		take_answer(w, err);
	}
}

/* Goes on with a message. Returns whether the next may begin. */
static bool transfer(struct writer *w)
{
	int err = w->socket < 0 ? -EAGAIN : w->busy < 0 ? 0 : send_request(w);

	err = err ?: receive_answer(w);
	if (err == -EAGAIN)
		return false;
	if (err)
		end_process(w);
	if (w->busy >= 0)
		take_answer(w, err);
	return true;
}

void writer_serve(struct writer *w)
{
	wait_turn(&w->waited, WRITER_HANG_NS / 2);
	while (transfer(w))
		give_work(w);
	if (writer_hangs(w))
		report_hang(w);
	give_work(w);
}

bool writer_hangs(const struct writer *w)
{
	return w->busy >= 0 && w->waited.sum_ns > WRITER_HANG_NS;
}

int writer_replace(struct writer *w, enum writer_file file, char *text, size_t size)
{
	struct writer_output *f = &w->files[file];
	struct file_text *t = w->busy == (int)file ? &f->next : &f->now;

	if (!text)
		return report(w, file, -ENOMEM);
	file_text_free(t);
	*t = (struct file_text){ .bytes = text, .len = size };
	give_work(w);
	return 0;
}

/* The memory of lines grows in steps. */
static size_t lines_room(size_t size)
{
	return (size | 0xffff) + 1;
}

bool writer_append(void *writer, const char *line, size_t size)
{
	struct writer *w = writer;
	struct file_text *t = &w->files[WRITER_EVENTS].now;
	size_t room = lines_room(t->len + size);
	char *grown = t->bytes;

	if (t->len + size > WRITER_LINES_MAX)
		grown = NULL;
	else if (!grown || room > lines_room(t->len))
		grown = realloc(t->bytes, room);
	if (!grown) {
		log_warn(w->log, "not in %s: %.*s", w->files[WRITER_EVENTS].path, (int)size - 1,
			 line);
		return false;
	}
	memcpy(grown + t->len, line, size);
	*t = (struct file_text){ .bytes = grown, .len = t->len + size };
	give_work(w);
	return true;
}

/* ---- beginning and end ---- */

/* Serves until @is_done, for at most @most_ns with a CPU, or much longer without. */
static void wait_until(struct writer *w, uint64_t most_ns, bool (*is_done)(struct writer *w))
{
	struct waited waited = wait_begin();
	struct epoll_event event;

	give_work(w);
	while (!is_done(w) && waited.sum_ns < most_ns &&
	       waited.last_ns < waited.begin_ns + most_ns + STARVED_NS) {
		epoll_wait(w->epoll, &event, 1, (int)(SLICE_NS / 1000000));
		wait_turn(&waited, SLICE_NS);
		writer_serve(w);
	}
}

/* Also when a signal asks the agent to end: it is blocked, and the loop handles it. */
static bool is_started(struct writer *w)
{
	bool opened = true;
	sigset_t set;

	for (int i = 0; i < WRITER_FILES; i++)
		opened &= !w->files[i].path || w->files[i].opened;
	sigpending(&set);
	return opened || sigismember(&set, SIGTERM) || sigismember(&set, SIGINT);
}

int writer_start(struct writer *w, const struct log *log, const char *const paths[WRITER_FILES],
		 bool keep, uint64_t most_ns)
{
	struct writer_output *state = &w->files[WRITER_STATE];

	*w = (struct writer){ .keep = keep, .socket = -1, .busy = -1 };
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0)
		return -errno;
	for (int i = 0; i < WRITER_FILES; i++)
		w->files[i].path = paths[i];
	w->log = log;
	wait_until(w, most_ns, is_started);
	w->started = true;
	if (!is_started(w))
		report_hang(w);
	if (!state->path || state->opened)
		return 0;
	/* A state that is read later is not used. */
	state->aside = "late";
	log_warn(w->log,
		 "%s could not be read: counts begin with the kernel log. Its content is kept as "
		 "%s.late once it can be read",
		 state->path, state->path);
	return 0;
}

/* Asks for the end when nothing is left to write. Returns whether it is reached. */
static bool is_ended(struct writer *w)
{
	const struct writer_request end = { .work = WRITER_END };

	for (int i = 0; i < WRITER_FILES; i++)
		if (has_work(&w->files[i]))
			return false;
	if (!w->ended && w->socket >= 0)
		send(w->socket, &end, sizeof(end), MSG_NOSIGNAL | MSG_DONTWAIT);
	w->ended = true;
	return w->socket < 0;
}

void writer_finish(struct writer *w, uint64_t most_ns)
{
	if (!w->log)
		return;
	w->ending = true;
	for (int i = 0; i < WRITER_FILES; i++)
		w->files[i].retry_ns = 0;
	wait_until(w, most_ns, is_ended);
	report_hang(w);
	if (w->ended && w->socket >= 0 && w->files[WRITER_OUTPUT].path)
		report(w, WRITER_OUTPUT, hang_error(&w->files[WRITER_OUTPUT]));
	end_process(w);
	close(w->epoll);
	for (int i = 0; i < WRITER_FILES; i++) {
		file_text_free(&w->files[i].now);
		file_text_free(&w->files[i].next);
	}
	file_text_free(&w->content);
}
