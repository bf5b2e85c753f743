// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libFuzzer entry for the reader of metrics files: any bytes give either one
 * line of complaint or a snapshot, and a snapshot that is written and read
 * again stays what it is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics_file.h"
#include "openmetrics.h"

/* Not assert(): these must hold in builds with NDEBUG too. */
static void require(int condition)
{
	if (!condition)
		abort();
}

/* Caller frees. */
static char *write_text(const struct snapshot *s, enum metrics_format format, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	require(out != NULL);
	openmetrics_write(out, s, format);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot s = {}, openmetrics, prometheus;
	char error[80];

	memset(error, 'x', sizeof(error));
	if (metrics_file_parse(&s, (const char *)data, size, error, sizeof(error))) {
		require(memchr(error, 0, sizeof(error)) && !strchr(error, '\n'));
		require(!s.faults && !s.servers && !s.kernel_events && !s.recoveries && !s.gpus);
		return 0;
	}
	openmetrics = again(&s, FORMAT_OPENMETRICS);
	prometheus = again(&s, FORMAT_PROMETHEUS);
	require_same(&s, &openmetrics);
	require_same(&s, &prometheus);
	snapshot_free(&openmetrics);
	snapshot_free(&prometheus);
	snapshot_free(&s);
	return 0;
}
