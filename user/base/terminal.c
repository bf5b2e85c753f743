// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/safe_text.h"

#define LEAST_ROOM 8

bool terminal_ask(int fd, struct terminal_size *size)
{
	struct winsize answer;

	if (ioctl(fd, TIOCGWINSZ, &answer))
		return false;
	size->columns = answer.ws_col ? answer.ws_col : TERMINAL_COLUMNS;
	size->rows = answer.ws_row;
	return true;
}

static bool continues_letter(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

bool terminal_has_colours(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!none || !*none) && term && strcmp(term, "dumb") != 0;
}

size_t terminal_columns(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += !continues_letter(text[i]);
	return columns;
}

size_t terminal_fit(const char *text, size_t len, size_t columns)
{
	size_t fits = len;

	while (terminal_columns(text, fits) > columns ||
	       (fits < len && continues_letter(text[fits])))
		fits--;
	return fits;
}

static size_t room_behind(size_t indent, size_t columns)
{
	return columns > indent + LEAST_ROOM ? columns - indent : LEAST_ROOM;
}

size_t terminal_wrap(FILE *out, const char *text, size_t columns, size_t first, size_t indent)
{
	size_t room = room_behind(first, columns), used = 0, lines = 1, len, width;

	fprintf(out, "%*s", (int)first, "");
	for (const char *word = text; *word; word += len, word += *word == ' ') {
		len = terminal_fit(word, strcspn(word, " "), room_behind(indent, columns));
		if (!len && *word != ' ')
			break;
		width = terminal_columns(word, len);
		if (word != text && used + 1 + width > room) {
			fprintf(out, "\n%*s", (int)indent, "");
			room = room_behind(indent, columns);
			lines++;
			used = 0;
		} else if (word != text) {
			fputc(' ', out);
			used++;
		}
		fwrite(word, 1, len, out);
		used += width;
	}
	return lines;
}

void terminal_line(FILE *out, size_t indent, const char *format, ...)
{
	struct terminal_size size;
	FREED char *line = NULL;
	size_t len;
	va_list args;
	FILE *text = terminal_ask(fileno(out), &size) ? open_memstream(&line, &len) : NULL;

	va_start(args, format);
	safe_vline(text ? text : out, format, args);
	va_end(args);
	if (text && !fclose(text) && len) {
		line[len - 1] = 0;
		terminal_wrap(out, line, size.columns, 0, indent);
		fputc('\n', out);
	}
}

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
	size_t size = 0, len;
	FREED char *all = TEXT_OF(size, out, {
		fputs("\x1b[H", out);
		for (size_t i = 0; i < rows; i++, text += len + !!text[len]) {
			len = strcspn(text, "\n");
			fprintf(out, "%s\x1b[K%.*s", i ? "\n" : "", (int)len, text);
		}
	});

	if (all)
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
