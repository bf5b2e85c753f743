// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for recordings, which users send: whatever is in one, reading ends, and what it gives makes a
 * report of safe lines, valid JSON and a page in which no name ends an element. */
#include "fuzz.h"
#include "json_valid.h"
#include "session/recording.h"
#include "session/session.h"
#include "sinks/report.h"

/* Of one frame, without its checksum and compression. */
#define FRAME_MAX 4096

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

static void read_file(struct session *t, struct live *view, const uint8_t *data, size_t size)
{
	FILE *in = fmemopen((void *)data, size, "r");
	struct recording *r = recording_new(in);
	struct snapshot s = {};

	while (recording_next(r, &s) > 0 && add(t, view, &s))
		;
	recording_free(r);
	fclose(in);
}

/* Frames of two bytes of length and their bytes. */
static struct recording *read_frames(struct session *t, struct live *view, const uint8_t *data,
				     size_t size)
{
	struct recording *r = recording_new(stdin);
	struct snapshot s = {};
	size_t len;

	while (size >= 2) {
		len = (data[0] | (size_t)data[1] << 8) % FRAME_MAX;
		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		if (recording_decode(r, data, len, &s) <= 0 || !add(t, view, &s))
			break;
		data += len;
		size -= len;
	}
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session t = { .keep_intervals = true };
	struct live view = { .terminal = -1, .size.columns = 80 };
	struct recording *r = NULL;
	FILE *out = begin_text();

	view.out = out;
	if (size > 1 && data[0] & 1)
		r = read_frames(&t, &view, data + 1, size - 1);
	else if (size > 1)
		read_file(&t, &view, data + 1, size - 1);
	end_text(out);
	require_lines(text, text_size);
	free(text);
	if (t.first.time_ns && !session_end(&t))
		require_sinks(&t);
	session_free(&t);
	live_end(&view);
	recording_free(r);
	return 0;
}
