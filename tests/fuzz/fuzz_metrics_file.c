// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the reader of metrics files: any bytes give either one line of complaint or a snapshot; a
 * snapshot that is written and read again stays what it is, and its health is well-formed. */
#include "fuzz.h"
#include "health/health.h"
#include "health/metrics_file.h"
#include "sinks/metrics.h"

/* Caller frees. */
static char *write_text(const struct snapshot *s, enum metrics_format format, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	require(out != NULL);
	openmetrics_write(out, s, format, DETAIL_NODE);
	require(!fclose(out));
	return text;
}

/* Writes what was read, and returns what is read of that. */
static struct snapshot again(const struct snapshot *s, enum metrics_format format)
{
	struct snapshot copy = {};
	char error[80] = "";
	size_t len;
	char *text = write_text(s, format, &len);

	require(!metrics_file_parse(&copy, text, len, error, sizeof(error)));
	/* without its last byte it is none */
	if (len) {
		struct snapshot cut = {};

		require(metrics_file_parse(&cut, text, len - 1, error, sizeof(error)));
	}
	free(text);
	return copy;
}

static void require_same(const struct snapshot *a, const struct snapshot *b)
{
	size_t a_len, b_len;
	char *a_text = write_text(a, FORMAT_OPENMETRICS, &a_len);
	char *b_text = write_text(b, FORMAT_OPENMETRICS, &b_len);

	require(a_len == b_len && !memcmp(a_text, b_text, a_len));
	free(a_text);
	free(b_text);
}

static void require_health(const struct snapshot *s)
{
	static struct health_report report;
	enum health_level worst = HEALTH_OK;
	struct health_options o;

	health_defaults(&o);
	health_evaluate(s, &o, 1700000000, &report);
	require(report.count <= report.total && report.count <= HEALTH_MAX_FINDINGS);
	for (size_t i = 0; i < report.count; i++) {
		const struct health_finding *f = &report.findings[i];

		require(*f->reason && *f->brief);
		require_safe(f->reason, sizeof(f->reason));
		require_safe(f->brief, sizeof(f->brief));
		require(report.rules[f->rule] == f->level && f->level > HEALTH_OK);
		require(!i || f->level <= f[-1].level);
	}
	for (int r = 0; r < HEALTH_RULES; r++)
		if (report.rules[r] > worst)
			worst = report.rules[r];
	require(report.level == worst && !report.total == !worst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot s = {}, openmetrics, prometheus;
	char error[80];

	memset(error, 'x', sizeof(error));
	if (metrics_file_parse(&s, (const char *)data, size, error, sizeof(error))) {
		require(memchr(error, 0, sizeof(error)) && !strchr(error, '\n'));
		require(!s.faults.faults && !s.calls.servers && !s.faults.kernel_events &&
			!s.faults.recoveries && !s.faults.gpus);
		return 0;
	}
	require_health(&s);
	openmetrics = again(&s, FORMAT_OPENMETRICS);
	prometheus = again(&s, FORMAT_PROMETHEUS);
	require_same(&s, &openmetrics);
	require_same(&s, &prometheus);
	snapshot_free(&openmetrics);
	snapshot_free(&prometheus);
	snapshot_free(&s);
	return 0;
}
