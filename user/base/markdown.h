/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A report as Markdown (CommonMark), for a ticket. */
#pragma once

#include "base/std.h"

#define MARKDOWN_LINES 60

/* Writes a report of safe text as at most MARKDOWN_LINES lines. Its lines are items ("- TEXT", the headline first), commands that
 * belong to the item before (behind four blanks), and tables (all others, behind an empty line). Lines before the first item are
 * left out. No name in the report can begin markup. */
void markdown_write(FILE *out, const char *report);
