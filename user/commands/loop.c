// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one event loop: ticks, kernel messages, signals. */
#include "commands/observer.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"

/* The descriptors that end a wait. */
enum wake { WAKE_SIGNAL, WAKE_HOOKS, WAKE_SERVE, WAKES };

struct loop {
	struct observer *observer;
	const struct loop_handler *handler;
	int epoll;
	int fds[WAKES];
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

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	/* The handler is there whenever they are not blocked. */
	if (!at_once)
		sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (at_once)
		sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Returns whether the loop shall end. */
static bool handle_signals(struct loop *l)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(l->fds[WAKE_SIGNAL], &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			l->handler->tick(l->handler->context);
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

static bool handle(struct loop *l, enum wake wake)
{
	if (wake == WAKE_SIGNAL)
		return handle_signals(l);
	if (wake == WAKE_HOOKS)
		observer_consume(l->observer);
	else
		serve(l);
	return false;
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

static int open_descriptors(struct loop *l)
{
	struct epoll_event event = { .events = EPOLLIN };
	sigset_t set;

	handled_signals(&set);
	l->fds[WAKE_SIGNAL] = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	l->fds[WAKE_HOOKS] = l->observer->epoll;
	l->fds[WAKE_SERVE] = l->handler->fd;
	for (uint32_t i = 0; i < (l->handler->serve ? WAKES : WAKE_SERVE); i++) {
		event.data.u32 = i;
		if (l->fds[i] < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->fds[i], &event))
			return -errno;
	}
	return 0;
}

int loop_run(struct observer *o, double interval, double duration,
	     const struct loop_handler *handler)
{
	const uint64_t begin = monotonic_ns(), interval_ns = (uint64_t)(interval * 1e9);
	struct loop l = { .observer = o,
			  .handler = handler,
			  .epoll = epoll_create1(EPOLL_CLOEXEC),
			  .interval_ns = interval_ns,
			  .tick_ns = begin + interval_ns,
			  .end_ns =
				  duration > 0 ? begin + (uint64_t)(duration * 1e9) : UINT64_MAX };
	struct epoll_event events[WAKES];
	bool end = false;
	int n, wait_ms, err;

	if (l.epoll < 0)
		return -errno;
	err = open_descriptors(&l);
	poll_hooks(&l);
	while (!end && !err && (wait_ms = handle_due(&l)) >= 0 &&
	       !(handler->over && *handler->over)) {
		n = epoll_wait(l.epoll, events, WAKES, wait_ms);
		if (n < 0 && errno != EINTR)
			err = -errno;
		else if (n < 0) /* a signal, such as that of a new size of the screen */
			serve(&l);
		for (int i = 0; i < n; i++)
			end |= handle(&l, (enum wake)events[i].data.u32);
	}
	if (l.fds[WAKE_SIGNAL] >= 0)
		close(l.fds[WAKE_SIGNAL]);
	close(l.epoll);
	return err;
}
