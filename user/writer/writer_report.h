/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XIDSCOPE_WRITER_REPORT_H
#define XIDSCOPE_WRITER_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "writer/writer.h"

/* Logs @err, 0 or -errno, if it differs from the last one; lines that wait are logged with
 * it. It is about @part (enum output_part). */
void writer_report(struct writer *w, int err, unsigned int part);

/* Logs a line of @size bytes, newline included, that is not in the file. */
void writer_log_line(const struct writer *w, const char *line, size_t size);

#endif
