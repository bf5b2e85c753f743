// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for recordings, which users send: whatever is in one, reading ends, and what it gives makes a
 * report of safe lines, valid JSON and a page in which no name ends an element. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "session/session.h"
#include "sinks/report.h"
#include "snapshot/table.h"

static char *text;
static size_t text_size;

static FILE *begin_text(void)
{
	FILE *out = open_memstream(&text, &text_size);

	require(out != NULL);
	return out;
}

static void end_text(FILE *out)
{
	require(!fclose(out));
}

static void require_page(const char *json, size_t size)
{
	FILE *out = begin_text();
	const char *data, *end;

	page_write(out, json, size);
	end_text(out);
	data = strstr(text, "type=\"application/json\">");
	require(data != NULL);
	data += strlen("type=\"application/json\">");
	end = strstr(data, "<");
	require(end && !strncmp(end, "</script>", 9) && end[-1] == '\n');
	require(json_valid(data, (size_t)(end - 1 - data)));
	free(text);
}

static void require_sinks(struct session *t)
{
	FILE *out = begin_text();
	char *json;

	report_session(out, t, 80);
	end_text(out);
	require_lines(text, text_size);
	free(text);
	out = begin_text();
	session_json_write(out, t);
	end_text(out);
	require(json_valid(text, text_size - 1));
	json = text;
	require_page(json, text_size);
	free(json);
}

/* Takes the snapshot over. Returns false if memory was short. */
static bool add(struct session *t, struct live *view, struct snapshot *s)
{
	bool shown = t->first.time_ns;

	if (session_add(t, s))
		return false;
	if (shown && t->last.time_ns)
		live_interval(view, t);
	return true;
}

static void read_file(struct session *t, struct live *view, struct recording *r)
{
	struct snapshot s = {};

	if (recording_check(r))
		return;
	while (recording_next(r, &s) > 0 && add(t, view, &s))
		;
}

/* Lines without head and end: nobody can guess a checksum. */
static void read_lines(struct session *t, struct live *view, struct codec *codec,
		       const uint8_t *data, size_t size)
{
	struct span rest = { (const char *)data, (const char *)data + size }, line;
	struct snapshot s = {};

	while (span_next_line(&rest, &line))
		if (snapshot_decode(codec, line, &s) || !add(t, view, &s))
			break;
}

static struct recording *open_bytes(const uint8_t *data, size_t size)
{
	int fd = memfd_create("recording", 0);
	struct recording *r;

	require(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	r = recording_new(fd);
	require(r != NULL);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session t = { .keep_intervals = true };
	struct live view = { .terminal = -1, .size.columns = 80 };
	struct recording *r = open_bytes(data, size);
	struct codec codec = {};
	FILE *out = begin_text();

	view.out = out;
	read_lines(&t, &view, &codec, data, size);
	if (!t.first.time_ns)
		read_file(&t, &view, r);
	end_text(out);
	require_lines(text, text_size);
	free(text);
	if (t.first.time_ns && !session_end(&t))
		require_sinks(&t);
	session_free(&t);
	recording_free(r);
	snapshot_free(&codec.before);
	return 0;
}
