// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The name nearest to a mistyped word. */
#include "base/nearest.h"

#define MAX_LENGTH 40

/* Levenshtein's distance: characters that were inserted, dropped or replaced. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[MAX_LENGTH + 1], diagonal, least;

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 0; i < a_len; i++) {
		diagonal = i;
		row[0] = i + 1;
		for (size_t j = 0; j < b_len; j++) {
			least = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			if (diagonal < least)
				least = diagonal + 1;
			if (row[j] < least)
				least = row[j] + 1;
			row[j + 1] = least;
		}
	}
	return row[b_len];
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t len = strlen(name), d;

	if (n->len > MAX_LENGTH || len > MAX_LENGTH)
		return;
	if (n->len > 2 && n->len < len && !strncmp(name, n->word, n->len))
		d = 1;
	else
		d = distance(n->word, n->len, name, len);
	if (d <= (n->len + 1) / 3 && (!n->name || d < n->distance)) {
		n->name = name;
		n->distance = d;
	}
}
