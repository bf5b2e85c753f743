/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of `xidscope top`: a row for each mount, owner, both, op, server or connection, with its figures of a session's latest
 * interval. They come from the same differences as those of `trace`. */
#pragma once

#include "session/session.h"

enum top_by { TOP_MOUNTS, TOP_OWNERS, TOP_BOTH, TOP_OPS, TOP_SERVERS, TOP_CONNECTIONS, TOP_BYS };

enum top_column {
	TOP_CALLS, /* that ended, each second; of a connection replies */
	TOP_IN, /* MB/s */
	TOP_OUT,
	TOP_MEAN, /* ns; of a connection from transmit to reply */
	TOP_FLIGHT, /* calls of a server or connection at the interval's end; of others the mean number in flight */
	TOP_WAITING, /* mean number of calls that waited for a slot, or to send */
	TOP_PHASE, /* with the most time; its share of the time in percent */
	TOP_OLDEST, /* ns that the oldest unanswered call has waited; of a mount that of its server */
	TOP_COLUMNS,
};

struct top_view {
	enum top_by by;
	enum top_column sort; /* the largest first, below rows that have waited for 5 s */
	char filter[32]; /* a part of the names that are shown; "": all */
	bool typing, frozen;
	bool colour;
	size_t columns, rows; /* of the screen; rows 0: text without a limit and without keys */
};

/* Writes rows as lines of a log: each with the @time before it. @head: what is above the times; NULL: no head. */
void top_lines(FILE *out, const struct top_view *v, const struct session *t, const char *head,
	       const char *time);

/* Writes the latest interval, below @header, lines of safe text. */
void top_write(FILE *out, const struct top_view *v, const struct session *t, const char *header);
