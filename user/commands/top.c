// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* `xidscope top`: the latest interval of a session, on the whole screen or as text. trace.c observes, or reads a recording. */
#include "commands/top.h"

#include <ctype.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/safe_text.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/options.h"

int top_begin(struct top *t, const struct options *o)
{
	*t = (struct top){ .options = o, .view.by = o->by, .left = o->batch };
	if (t->left)
		return 0;
	t->view.colour = terminal_has_colours();
	if (screen_possible())
		return 0;
	return trouble("top needs a terminal that can place text; use top --batch 1, or trace");
}

/* ---- the header ---- */

static void write_faults(char *text, size_t size, const struct session *s)
{
	const struct known_fault *f = s->faults; /* open ones first, the gravest first */
	size_t open = 0;

	ARRAY_EACH(x, s->faults, s->fault_count)
		open += x->standing == STANDING_OPEN;
	safe_format(text, size, "%zu open, %zu since boot%s%s%s%s", open, s->fault_count,
		    open ? ": " : "", open ? FAULT_NAME(f->kind, f->what) : "",
		    open && *f->device ? " on " : "", open ? f->device : "");
}

/* The headline, the faults, the agent's judgement: a line each. */
static void write_header(const struct top *t, char *text, size_t size)
{
	const struct session *s = t->session;
	struct headline all;
	char faults[160] = "not observed", agent[640] = "not in a recording";

	session_headline(s, &all);
	if (s->last.faults.gpu_watched)
		write_faults(faults, sizeof(faults), s);
	if (!t->options->replay)
		agent_line(agent, sizeof(agent), t->options);
	snprintf(text, size, "%s\nGPU faults: %s\nAgent: %s", all.items[0].text, faults, agent);
}

/* ---- views ---- */

static void draw(struct top *t)
{
	struct terminal_size size = { TERMINAL_COLUMNS, 0 };
	FREED char *text = NULL;
	size_t len;

	terminal_ask(STDOUT_FILENO, &size);
	t->view.columns = size.columns;
	t->view.rows = size.rows ? size.rows : 24;
	text = TEXT_OF(len, out, top_write(out, &t->view, t->session, t->header));
	if (text)
		screen_write(text, t->view.rows);
}

int top_show(struct top *t, const struct session *session)
{
	t->session = session;
	write_header(t, t->header, sizeof(t->header));
	if (!t->left) {
		screen_begin();
		draw(t);
		return 0;
	}
	top_write(stdout, &t->view, session, t->header);
	putchar('\n');
	fflush(stdout);
	return --t->left ? 0 : -ECANCELED;
}

/* ---- keys ---- */

static void type_key(struct top_view *v, int key)
{
	size_t len = strlen(v->filter);

	if (key == SCREEN_ESCAPE)
		memset(v->filter, 0, sizeof(v->filter));
	if (key == SCREEN_ESCAPE || key == '\n' || key == '\r')
		v->typing = false;
	else if (key == SCREEN_ERASE && len)
		v->filter[len - 1] = 0;
	else if (isprint(key) && len + 1 < sizeof(v->filter))
		v->filter[len] = (char)key; /* NULs follow */
}

/* Returns whether top shall end. */
static bool press_key(struct top_view *v, int key)
{
	static const char rows[] = "mobpsc"; /* as enum top_by */
	const char *by = key > 0 ? strchr(rows, key) : NULL;

	if (by) {
		v->by = (enum top_by)(by - rows);
	} else if (key == '<' || key == '>') {
		v->sort = (v->sort + (key == '>' ? 1 : TOP_COLUMNS - 1)) % TOP_COLUMNS;
	} else if (key == 'f') {
		v->frozen = !v->frozen;
	} else if (key == '/') {
		v->typing = true;
		memset(v->filter, 0, sizeof(v->filter));
	}
	return key == 'q';
}

bool top_keys(struct top *t)
{
	bool again = screen_changed(), over = false;
	int key;

	while (!over && (key = screen_key())) {
		again = true;
		if (key == SCREEN_GONE)
			over = true;
		else if (t->view.typing)
			type_key(&t->view, key);
		else
			over = press_key(&t->view, key);
	}
	if (again && !over && t->session)
		draw(t);
	return over;
}

int top_wait(struct top *t, bool last)
{
	uint64_t end = monotonic_ns() + (uint64_t)(t->options->interval * 1e9);

	while (!t->left && (last || t->view.frozen || monotonic_ns() < end)) {
		poll(&(struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN }, 1, 50);
		if (top_keys(t))
			return -ECANCELED;
	}
	return 0;
}
