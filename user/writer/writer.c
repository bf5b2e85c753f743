// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's side of the files that another process writes.
 *
 * Why: a disk may stop answering at any time. A process that waits for it cannot be interrupted, often not even
 * killed. The agent must go on observing, and end when it is told to. Therefore one other process opens, locks, writes
 * and renames all files on disks. The agent knows nothing of how that is done.
 *
 * Protocol: a pair of sockets that keep messages apart. The agent sends one request, the process answers it, then the
 * agent sends the next. A request names the file and what to do:
 *
 *	open	check what is at the path and take the lock; read the state into its text
 *	write	replace the file by the text, or append the text's lines
 *	end	remove the locks and the output, then end
 *
 * The answer is 0 or -errno, and how many bytes were written. Each file has two texts in memory that the process maps
 * (memfd_create(2)): the process has one while the agent fills the other. A message is thus small, and sending one
 * never waits. The pages are in use only while a text waits.
 *
 * Invariant: the agent never waits, and what waits is bounded. A newer text replaces the one that waits. Lines are
 * appended to those that wait, up to WRITER_LINES_MAX in both texts; a line without room is logged and counted as lost.
 *
 * A process that has ended is replaced within a second, and gets the same request again. One that hangs is not
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
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/output_file.h"

/* A turn of waiting, and how much longer the start and the end take if the process has no CPU. */
#define SLICE_NS 100000000ull
#define STARVED_NS 15000000000ull

/* The time until a failed write is tried again. */
#define RETRY_NS 500000000ull

/* Pause after a lack of memory for an answer: it stays readable, and the loop comes back at once. */
#define NO_MEMORY_US 20000

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

static struct writer_text *current_text(struct writer_output *f)
{
	return &f->texts[f->current];
}

static struct writer_text *next_text(struct writer_output *f)
{
	return &f->texts[!f->current];
}

/* Gives its memory back. If that fails, the next text writes over it. */
static void drop_text(struct writer_text *t)
{
	(void)!ftruncate(fileno(t->memory), 0);
	*t = (struct writer_text){ .memory = t->memory };
}

/* ---- messages ---- */

/* Logs @err, 0 or -errno, if it differs from the last one. Returns it. */
static int report(struct writer *w, int file, int err)
{
	struct writer_output *f = &w->files[file];
	int before = f->error;

	f->error = err;
	if (!err && before)
		log_info(w->log, "%s is written again", f->path);
	else if (err != before)
		log_error(w->log, "cannot write %s: %s; %s, or name another %s. %s", f->path,
			  output_error(err), output_advice(err), writer_options[file],
			  meanwhile[file]);
	return err;
}

static bool has_work(const struct writer_output *f)
{
	return f->path && (!f->opened || f->texts[0].used || f->texts[1].used);
}

/* Reports each file that waits. */
static void report_hang(struct writer *w)
{
	for (int i = 0; i < WRITER_FILES; i++)
		if (has_work(&w->files[i]))
			report(w, i, i == w->busy ? -ETIMEDOUT : -EINPROGRESS);
}

/* ---- requests ---- */

static void end_process(struct writer *w)
{
	if (w->socket >= 0)
		close(w->socket);
	w->socket = w->busy = -1;
}

/* Returns 0 or -errno. */
static int start_process(struct writer *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	w->socket = writer_process_start(w);
	if (w->socket < 0)
		return w->socket;
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->socket, &event) ? -errno : 0;
}

/* Sends the request, to a new process if there is none. Returns 0 or -errno. */
static int send_request(struct writer *w, const struct writer_request *r)
{
	int err = 0;

	if (w->socket >= 0 && send(w->socket, r, sizeof(*r), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	/* It has ended while it was idle. */
	end_process(w);
	err = start_process(w);
	if (!err && send(w->socket, r, sizeof(*r), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		err = -errno;
	if (err)
		end_process(w);
	return err;
}

static int request_work(struct writer *w, int file)
{
	struct writer_output *f = &w->files[file];
	struct writer_request r = { .work = f->opened ? WRITER_WRITE : WRITER_OPEN, .file = file };
	int err;

	if (f->opened && !current_text(f)->used)
		f->current ^= 1;
	r.text = f->current;
	r.size = current_text(f)->size;
	r.done = current_text(f)->done;
	strncpy(r.aside, f->aside ?: "", sizeof(r.aside) - 1);
	err = send_request(w, &r);
	if (!err)
		w->busy = file;
	w->waited = wait_begin();
	return err;
}

/* Takes the result of a write. @again: it was not begun, or not finished, and is tried again; at the end only if the process
 * has ended. */
static void take_result(struct writer *w, int file, int err, bool again)
{
	struct writer_output *f = &w->files[file];

	again &= !w->ending || err == -ECHILD;
	f->retry_ns = again && !w->ending ? monotonic_ns() + RETRY_NS : 0;
	if (!f->opened)
		return; /* the first write will report it */
	if (!again)
		drop_text(current_text(f));
	report(w, file, err);
	if (w->written)
		w->written(w->context, (enum writer_file)file, err);
}

/* Gives an idle process the next work that is due. */
static void give_work(struct writer *w)
{
	uint64_t now = monotonic_ns();
	int err;

	for (int i = 0; i < WRITER_FILES && w->busy < 0; i++) {
		if (!has_work(&w->files[i]) || now < w->files[i].retry_ns)
			continue;
		err = request_work(w, i);
		if (err)
			take_result(w, i, err, true);
	}
}

/* ---- answers ---- */

static void take_opened(struct writer *w, struct writer_output *f, const struct writer_answer *a)
{
	bool reads = f == &w->files[WRITER_STATE] && !w->started;

	f->opened = true;
	f->open_error = a->error;
	f->read_error = a->read_error;
	if (reads && !a->read_error) {
		f->size = a->done;
		f->content = malloc(f->size + 1);
		if (!f->content || pread(fileno(current_text(f)->memory), f->content, f->size, 0) !=
					   (ssize_t)f->size)
			f->read_error = -ENOMEM;
	}
	drop_text(current_text(f));
}

static void take_written(struct writer *w, int file, const struct writer_answer *a)
{
	struct writer_output *f = &w->files[file];

	f->took_ns = monotonic_ns() - w->waited.begin_ns;
	f->written |= !a->error;
	if (!a->error)
		f->aside = NULL;
	current_text(f)->done = a->done;
	take_result(w, file, a->error, a->error && file == WRITER_EVENTS);
}

/* Returns 0, -EAGAIN: there is none, or -ECHILD: the process has ended. */
static int receive(struct writer *w, struct writer_answer *a)
{
	ssize_t n = recv(w->socket, a, sizeof(*a), MSG_DONTWAIT);

	if (n < 0 && (errno == ENOMEM || errno == ENOBUFS))
		usleep(NO_MEMORY_US);
	if (n < 0)
		return errno == ECONNRESET ? -ECHILD : -EAGAIN;
	return n ? 0 : -ECHILD;
}

void writer_serve(struct writer *w)
{
	struct writer_answer a;
	int file, err;

	wait_turn(&w->waited, WRITER_HANG_NS / 2);
	while (w->socket >= 0 && (err = receive(w, &a)) != -EAGAIN) {
		file = w->busy;
		w->busy = -1;
		if (err)
			end_process(w);
		if (err && file >= 0)
			take_result(w, file, err, true);
		else if (!err && w->files[file].opened)
			take_written(w, file, &a);
		else if (!err)
			take_opened(w, &w->files[file], &a);
		give_work(w);
	}
	if (writer_hangs(w))
		report_hang(w);
	give_work(w);
}

bool writer_hangs(const struct writer *w)
{
	return w->busy >= 0 && w->waited.sum_ns > WRITER_HANG_NS;
}

/* ---- texts ---- */

FILE *writer_begin(struct writer *w, enum writer_file file)
{
	struct writer_text *t = next_text(&w->files[file]);

	drop_text(t);
	rewind(t->memory);
	return t->memory;
}

int writer_end(struct writer *w, enum writer_file file)
{
	struct writer_text *t = next_text(&w->files[file]);
	int err = fflush(t->memory) ? -errno : ferror(t->memory) ? -EFBIG : 0;

	t->size = (size_t)ftell(t->memory);
	if (err || t->size > WRITER_TEXT_MAX) {
		drop_text(t);
		return report(w, file, err ?: -EFBIG);
	}
	t->used = true;
	give_work(w);
	return 0;
}

bool writer_append(struct writer *w, const char *line, size_t size)
{
	struct writer_output *f = &w->files[WRITER_EVENTS];
	struct writer_text *now = current_text(f), *next = next_text(f);
	bool room = now->size - now->done + next->size + size <= WRITER_LINES_MAX &&
		    pwrite(fileno(next->memory), line, size, (off_t)next->size) == (ssize_t)size;

	if (!room) {
		log_warn(w->log, "not in %s: %.*s", f->path, (int)size - 1, line);
		return false;
	}
	next->size += size;
	next->used = true;
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

/* A state that is read later is not used: it is set aside. */
static void end_start(struct writer *w)
{
	struct writer_output *state = &w->files[WRITER_STATE];

	w->started = true;
	if (!is_started(w))
		report_hang(w);
	if (!state->path || state->opened)
		return;
	state->aside = "late";
	log_warn(
		w->log,
		"%s could not be read: what is counted begins with the kernel log. When it answers "
		"again, what it has is kept as %s.late",
		state->path, state->path);
}

int writer_start(struct writer *w, const struct log *log, const char *const paths[WRITER_FILES],
		 bool keep, uint64_t most_ns)
{
	struct writer_output *state = &w->files[WRITER_STATE];

	*w = (struct writer){ .keep = keep, .socket = -1, .busy = -1 };
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0)
		return -errno;
	for (int i = 0; i < WRITER_FILES; i++) {
		for (int t = 0; t < 2; t++) {
			int fd = memfd_create(writer_options[i] + strlen("--"), MFD_CLOEXEC);

			w->files[i].texts[t].memory = fd < 0 ? NULL : fdopen(fd, "w+");
			if (!w->files[i].texts[t].memory)
				return -errno;
		}
		w->files[i].path = paths[i];
	}
	/* Room for what the process reads. With a limit of files' sizes there is none. */
	if (ftruncate(fileno(state->texts[0].memory), WRITER_TEXT_MAX)) {
		state->opened = true;
		state->read_error = -errno;
	}
	w->log = log;
	wait_until(w, most_ns, is_started);
	end_start(w);
	return 0;
}

/* Asks for the end when nothing is left to write. Returns whether it is reached. */
static bool is_ended(struct writer *w)
{
	const struct writer_request end = { .work = WRITER_END };

	for (int i = 0; i < WRITER_FILES; i++)
		if (has_work(&w->files[i]))
			return false;
	if (!w->ended)
		w->ended = !send_request(w, &end);
	return w->ended && w->socket < 0;
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
		report(w, WRITER_OUTPUT, -ETIMEDOUT);
	end_process(w);
	close(w->epoll);
	for (int i = 0; i < WRITER_FILES; i++) {
		for (int t = 0; t < 2; t++)
			if (w->files[i].texts[t].memory)
				fclose(w->files[i].texts[t].memory);
		free(w->files[i].content);
	}
}
