// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the log, the report and the metrics file: whatever names a snapshot has and whatever a message
 * is about, no character that could do harm to a terminal comes out, and each message and series is a line. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "fuzz.h"
#include "sinks/metrics.h"
#include "sinks/report.h"

/* Up to the next zero byte. */
static const char *take(char *to, size_t size, const char **at, const char *end)
{
	size_t len = strnlen(*at, (size_t)(end - *at));

	snprintf(to, size, "%.*s", (int)len, *at);
	*at += len + (*at + len < end);
	return to;
}

static void require_message(const char *text, enum log_format format, const char *more)
{
	const struct log log = { .format = format, .verbose = true };
	int file = memfd_create("log", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
	static char written[64 << 10];
	size_t lines = 1;
	ssize_t len;

	require(file >= 0 && saved >= 0);
	dup2(file, STDERR_FILENO);
	log_write_lines(&log, LOG_LEVEL_WARN, more, "cannot do it with %s", text);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	len = pread(file, written, sizeof(written), 0);
	require(len > 0 && len < (ssize_t)sizeof(written));
	if (format == LOG_JSON)
		require(json_valid(written, (size_t)len - 1));
	else
		for (; *more; more += strcspn(more, "\n"), more += *more == '\n')
			lines++;
	require(require_lines(written, (size_t)len) == lines);
	close(saved);
	close(file);
}

static void add_names(struct snapshot *s, const char *at, const char *end)
{
	char a[LABEL_SIZE], b[32], status[RPC_STATUS_LEN];
	struct rpc_transport_state *t;
	struct rpc_op *op;
	struct fault f = { .code = 79 };

	take(a, sizeof(a), &at, end);
	take(b, RPC_OP_LEN, &at, end);
	op = snapshot_op(&s->calls, a, b);
	op->total.bucket[10] = 5;
	op->total.sum_ns = op->phase[RPC_PHASE_RTT].sum_ns = 1000;
	snapshot_error(&s->calls, a, b, take(status, sizeof(status), &at, end))->count = 1;
	snapshot_server(&s->calls, a)->oldest_ns[0] = 5;
	t = snapshot_transport(&s->calls, a, take(b, sizeof(t->name), &at, end));
	t->alive = true;
	t->saturated_ns[0] = 2000000000;
	take(f.device, sizeof(f.device), &at, end);
	take(f.severity, sizeof(f.severity), &at, end);
	take(f.action, sizeof(f.action), &at, end);
	snapshot_fault(&s->faults, &f)->count = 2;
	f.nvswitch = true;
	snapshot_fault(&s->faults, &f)->count = 3;
	take(a, sizeof(a), &at, end);
	take(b, sizeof(b), &at, end);
	snapshot_kernel_event(&s->faults, false, b, a)->count = 1;
	strcpy(s->calls.rpc_missing, "none is loaded");
}

/* At most so many lines, and code that ends. */
static void require_markdown(const struct session *t)
{
	char *text = NULL, *line;
	size_t size, lines = 0, fences = 0;
	FILE *out = open_memstream(&text, &size);

	require(out != NULL);
	report_markdown(out, t);
	require(!fclose(out));
	for (line = text; (line = strchr(line, '\n')); line++) {
		lines++;
		fences += !strncmp(line, "\n```\n", 5) || !strncmp(line, "\n  ```\n", 7);
	}
	require(lines && lines <= MARKDOWN_LINES && fences % 2 == 0);
	require_lines(text, size);
	free(text);
}

static void require_report(struct snapshot *s)
{
	struct snapshot first = { .time_ns = 1 }, last;
	struct live view = { .terminal = -1, .size.columns = 80 };
	struct session t = {};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	require(out != NULL);
	s->time_ns = 10000000001;
	last = *s;
	require(!session_add(&t, &first) && !session_add(&t, &last));
	view.out = out;
	live_interval(&view, &t);
	require(!session_end(&t));
	report_session(out, &t, 80);
	require_markdown(&t);
	t.last = (struct snapshot){}; /* its arrays are @s' own */
	session_free(&t);
	openmetrics_write(out, s, FORMAT_OPENMETRICS, DETAIL_OP);
	openmetrics_write(out, s, FORMAT_PROMETHEUS, DETAIL_NODE);
	require(!fclose(out));
	require_lines(text, size);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct snapshot s = {};
	char text[1024], more[1024];

	add_names(&s, at, end);
	require_report(&s);
	snapshot_free(&s);
	take(text, sizeof(text), &at, end);
	take(more, sizeof(more), &at, end);
	for (int format = LOG_TEXT; format <= LOG_JOURNAL; format++)
		require_message(text, (enum log_format)format, more);
	return 0;
}
