// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one event loop: ticks, kernel messages, signals. */
#include "commands/observer.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"

struct loop {
	struct observer *observer;
	const struct loop_handler *handler;
	uint64_t interval_ns;
	uint64_t tick_ns, poll_ns, end_ns; /* when they are due: CLOCK_MONOTONIC */
};

static void handled_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

void loop_block_signals(void)
{
	sigset_t set;

	handled_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The first process of a container is not ended by a signal that nobody handles. */
static void end_now(int number)
{
	raise(number);
	_exit(128 + number);
}

void loop_end_at_once(bool at_once)
{
	struct sigaction action = { .sa_handler = at_once ? end_now : SIG_DFL,
				    .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
	sigset_t set;

	handled_signals(&set);
	sigdelset(&set, SIGHUP);
	/* The handler is there whenever they are not blocked. */
	if (!at_once)
		sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (at_once)
		sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Returns whether the loop shall end. */
static bool handle_signals(const struct loop *l, int fd)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP && l->handler->hangup)
			l->handler->hangup(l->handler->context);
		else
			end = true;
	}
	return end;
}

static void serve(const struct loop *l)
{
	if (l->handler->serve)
		l->handler->serve(l->handler->context);
}

static void poll_hooks(struct loop *l)
{
	l->poll_ns = monotonic_ns() + observer_poll(l->observer) * UINT64_C(1000000);
}

/* Does what is due. Returns the milliseconds until more is; -1: the loop shall end. */
static int handle_due(struct loop *l)
{
	uint64_t now = monotonic_ns(), next;

	if (now >= l->tick_ns) {
		l->tick_ns += (1 + (now - l->tick_ns) / l->interval_ns) * l->interval_ns;
		l->handler->tick(l->handler->context);
	}
	if (now >= l->end_ns)
		return -1;
	if (now >= l->poll_ns) {
		poll_hooks(l);
		serve(l);
		if (l->handler->alive)
			l->handler->alive(l->handler->context);
	}
	next = l->tick_ns;
	LOWER(next, l->poll_ns);
	LOWER(next, l->end_ns);
	now = monotonic_ns();
	return next > now ? (int)((next - now) / 1000000) + 1 : 0;
}

int loop_run(struct observer *o, double interval, double duration,
	     const struct loop_handler *handler)
{
	enum wake { SIGNAL, HOOKS, SERVE, WAKES };
	const uint64_t begin = monotonic_ns(), interval_ns = (uint64_t)(interval * 1e9);
	struct loop l = { .observer = o,
			  .handler = handler,
			  .interval_ns = interval_ns,
			  .tick_ns = begin + interval_ns,
			  .end_ns =
				  duration > 0 ? begin + (uint64_t)(duration * 1e9) : UINT64_MAX };
	struct pollfd wakes[WAKES] = {
		[HOOKS] = { o->epoll, POLLIN, 0 }, [SERVE] = { handler->fd, POLLIN, 0 }
	};
	bool end = false;
	int n, wait_ms, err = 0;
	sigset_t set;

	handled_signals(&set);
	wakes[SIGNAL] =
		(struct pollfd){ signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), POLLIN, 0 };
	if (wakes[SIGNAL].fd < 0)
		return -errno;
	poll_hooks(&l);
	while (!end && !err && (wait_ms = handle_due(&l)) >= 0 &&
	       !(handler->over && *handler->over)) {
		n = poll(wakes, WAKES, wait_ms);
		err = n < 0 && errno != EINTR ? -errno : 0;
		if (n > 0 && wakes[SIGNAL].revents)
			end = handle_signals(&l, wakes[SIGNAL].fd);
		if (n > 0 && wakes[HOOKS].revents)
			observer_consume(o);
		/* Also after a signal, such as that of a new size of the screen. */
		if (n < 0 || wakes[SERVE].revents)
			serve(&l);
	}
	close(wakes[SIGNAL].fd);
	return err;
}
