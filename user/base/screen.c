// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/screen.h"

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

/* The alternate screen, no cursor, no automatic wrap: a wide letter must not push a line down. */
#define TAKE "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J"
#define LEAVE "\x1b[?7h\x1b[?25h\x1b[?1049l"

/* Signal handlers need them. */
static struct termios before;
static volatile sig_atomic_t taken, changed;

static void write_bytes(const char *bytes, size_t len)
{
	for (ssize_t n; len; bytes += n, len -= (size_t)n) {
		n = TEMP_FAILURE_RETRY(write(STDOUT_FILENO, bytes, len));
		if (n < 0)
			return; /* nobody looks at it any more */
	}
}

/* Both are called by signal handlers: only async-signal-safe functions. */
static void take_terminal(void)
{
	struct termios raw = before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	write_bytes(TAKE, sizeof(TAKE) - 1);
}

static void leave_terminal(void)
{
	write_bytes(LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void on_signal(int number)
{
	int err = errno;

	if (number == SIGCONT) {
		take_terminal();
	} else if (number != SIGWINCH) {
		leave_terminal();
		/* Where it ends the process, the handler is gone. */
		raise(number == SIGTSTP ? SIGSTOP : number);
	}
	changed = true;
	errno = err;
}

static const int stay[] = { SIGWINCH, SIGTSTP, SIGCONT };
static const int end[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS };

bool screen_possible(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO) &&
	       isatty(STDIN_FILENO);
}

void screen_begin(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	if (taken || tcgetattr(STDIN_FILENO, &before))
		return;
	for (size_t i = 0; i < COUNT(stay); i++)
		sigaction(stay[i], &action, NULL);
	action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
	for (size_t i = 0; i < COUNT(end); i++)
		sigaction(end[i], &action, NULL);
	atexit(screen_end);
	taken = changed = true;
	take_terminal();
}

void screen_end(void)
{
	if (!taken)
		return;
	taken = false;
	for (size_t i = 0; i < COUNT(stay); i++)
		signal(stay[i], SIG_DFL);
	leave_terminal();
}

bool screen_changed(void)
{
	bool was = changed;

	changed = false;
	return was;
}

void screen_write(const char *text, size_t rows)
{
	FREED char *all = NULL;
	size_t size = 0, len;
	FILE *out = open_memstream(&all, &size);

	if (!out)
		return;
	fputs("\x1b[H", out);
	for (size_t i = 0; i < rows; i++, text += len + !!text[len]) {
		len = strcspn(text, "\n");
		fprintf(out, "%s\x1b[K%.*s", i ? "\n" : "", (int)len, text);
	}
	if (!fclose(out))
		write_bytes(all, size);
}

int screen_key(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char keys[16];
	ssize_t n;

	if (poll(&input, 1, 0) <= 0)
		return SCREEN_NO_KEY;
	n = read(STDIN_FILENO, keys, 1);
	if (n <= 0)
		return n < 0 && errno == EINTR ? SCREEN_NO_KEY : SCREEN_GONE;
	if (*keys == '\b')
		return SCREEN_ERASE;
	if (*keys != SCREEN_ESCAPE || poll(&input, 1, 0) <= 0)
		return (unsigned char)*keys;
	/* An arrow or a function key sends several bytes at once. */
	return read(STDIN_FILENO, keys, sizeof(keys)) > 0 ? SCREEN_NO_KEY : SCREEN_GONE;
}
