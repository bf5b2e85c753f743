// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one event loop: ticks, kernel messages, signals. */
#include "commands/loop.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum source { SOURCE_TICK, SOURCE_POLL, SOURCE_END, SOURCE_SIGNAL, SOURCE_BPF, SOURCES };

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

static int watch(int epoll, int fd, enum source source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = source };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void drain(int fd)
{
	uint64_t expirations;

	while (read(fd, &expirations, sizeof(expirations)) > 0)
		;
}

/* Returns whether the loop shall end. */
static bool on_signal(int fd, struct observer *o, const struct loop_handler *handler)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			observer_reopen(o);
			handler->tick(handler->context);
		} else {
			end = true;
		}
	}
	return end;
}

int loop_run(struct observer *o, double interval, double duration,
	     const struct loop_handler *handler)
{
	int fds[SOURCES] = { -1, -1, -1, -1, -1 }, epoll, n, err = 0;
	struct epoll_event events[SOURCES];
	bool end = false;
	sigset_t set;

	handled_signals(&set);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return -errno;
	fds[SOURCE_TICK] = timer_new(interval, interval);
	fds[SOURCE_POLL] = timer_new(observer_poll(o) / 1e3, 0);
	fds[SOURCE_SIGNAL] = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (duration > 0)
		fds[SOURCE_END] = timer_new(duration, 0);
	fds[SOURCE_BPF] = observer_fd(o);
	if (fds[SOURCE_TICK] < 0 || fds[SOURCE_POLL] < 0 || fds[SOURCE_SIGNAL] < 0)
		err = -errno;
	for (int i = 0; i < SOURCES && !err; i++)
		if (fds[i] >= 0)
			err = watch(epoll, fds[i], (enum source)i);

	while (!end && !err) {
		n = epoll_wait(epoll, events, SOURCES, -1);
		if (n < 0 && errno != EINTR)
			err = -errno;
		for (int i = 0; i < n; i++) {
			switch (events[i].data.u32) {
			case SOURCE_TICK:
				drain(fds[SOURCE_TICK]);
				handler->tick(handler->context);
				break;
			case SOURCE_POLL:
				drain(fds[SOURCE_POLL]);
				timer_set(fds[SOURCE_POLL], observer_poll(o) / 1e3, 0);
				break;
			case SOURCE_END:
				end = true;
				break;
			case SOURCE_SIGNAL:
				end |= on_signal(fds[SOURCE_SIGNAL], o, handler);
				break;
			case SOURCE_BPF:
				observer_consume(o);
				break;
			}
		}
	}
	for (int i = 0; i < SOURCE_BPF; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	close(epoll);
	return err;
}
