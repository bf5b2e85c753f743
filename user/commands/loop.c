// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one event loop: ticks, kernel messages, signals. */
#include "commands/observer.h"

#include <math.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* The descriptors that end a wait. */
enum wake { WAKE_TICK, WAKE_POLL, WAKE_END, WAKE_SIGNAL, WAKE_HOOKS, WAKE_SERVE, WAKES };

struct loop {
	struct observer *observer;
	const struct loop_handler *handler;
	int epoll;
	int fds[WAKES]; /* negative: none */
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

static struct timespec timespec_of(double seconds)
{
	double whole = floor(seconds);

	return (struct timespec){ .tv_sec = (time_t)whole,
				  .tv_nsec = (long)((seconds - whole) * 1e9) };
}

/* Makes the timer fire after @first seconds and then every @interval, if any. */
static int timer_set(int fd, double first, double interval)
{
	struct itimerspec spec = { .it_value = timespec_of(first),
				   .it_interval = timespec_of(interval) };

	return timerfd_settime(fd, 0, &spec, NULL);
}

static int timer_new(double first, double interval)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && timer_set(fd, first, interval)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Reads the timer's expirations, so that it is no longer readable. */
static void clear_timer(int fd)
{
	uint64_t expirations;

	while (read(fd, &expirations, sizeof(expirations)) > 0)
		;
}

static void report(const struct loop *l, enum loop_state state)
{
	if (l->handler->report)
		l->handler->report(l->handler->context, state);
}

/* Returns whether the loop shall end. */
static bool handle_signals(struct loop *l)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(l->fds[WAKE_SIGNAL], &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			report(l, LOOP_RELOADING);
			l->handler->tick(l->handler->context);
			report(l, LOOP_RELOADED);
		} else {
			end = true;
		}
	}
	return end;
}

static void serve(const struct loop *l)
{
	if (l->handler->serve)
		l->handler->serve(l->handler->context);
}

/* Returns whether the loop shall end. */
static bool handle(struct loop *l, enum wake wake)
{
	switch (wake) {
	case WAKE_TICK:
		clear_timer(l->fds[WAKE_TICK]);
		l->handler->tick(l->handler->context);
		break;
	case WAKE_POLL:
		clear_timer(l->fds[WAKE_POLL]);
		timer_set(l->fds[WAKE_POLL], observer_poll(l->observer) / 1e3, 1);
		serve(l);
		report(l, LOOP_ALIVE);
		break;
	case WAKE_SIGNAL:
		return handle_signals(l);
	case WAKE_HOOKS:
		observer_consume(l->observer);
		break;
	case WAKE_SERVE:
		serve(l);
		break;
	case WAKE_END:
	case WAKES:
		return true;
	}
	return false;
}

/* Returns 0 or -errno. */
static int open_descriptors(struct loop *l, double interval, double duration)
{
	struct epoll_event event = { .events = EPOLLIN };
	sigset_t set;

	handled_signals(&set);
	l->fds[WAKE_TICK] = timer_new(interval, interval);
	/* With an interval, so that one failure to set it is not the last poll. */
	l->fds[WAKE_POLL] = timer_new(observer_poll(l->observer) / 1e3, 1);
	l->fds[WAKE_SIGNAL] = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	l->fds[WAKE_END] = duration > 0 ? timer_new(duration, 0) : -1;
	l->fds[WAKE_HOOKS] = l->observer->epoll;
	l->fds[WAKE_SERVE] = l->handler->fd;
	for (uint32_t i = 0; i < WAKES; i++) {
		if ((i == WAKE_END && duration <= 0) || (i == WAKE_SERVE && !l->handler->serve))
			continue;
		event.data.u32 = i;
		if (l->fds[i] < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->fds[i], &event))
			return -errno;
	}
	return 0;
}

int loop_run(struct observer *o, double interval, double duration,
	     const struct loop_handler *handler)
{
	struct loop l = { .observer = o,
			  .handler = handler,
			  .epoll = epoll_create1(EPOLL_CLOEXEC) };
	struct epoll_event events[WAKES];
	bool end = false;
	int n, err;

	if (l.epoll < 0)
		return -errno;
	err = open_descriptors(&l, interval, duration);
	while (!end && !err) {
		n = epoll_wait(l.epoll, events, WAKES, -1);
		if (n < 0 && errno != EINTR)
			err = -errno;
		for (int i = 0; i < n; i++)
			end |= handle(&l, (enum wake)events[i].data.u32);
	}
	report(&l, LOOP_STOPPING);
	for (int i = 0; i < WAKES; i++)
		if (i != WAKE_HOOKS && i != WAKE_SERVE && l.fds[i] >= 0)
			close(l.fds[i]);
	close(l.epoll);
	return err;
}
