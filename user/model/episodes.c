// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bursts of writes and reads. */
#include "model/episodes.h"

#include <stdlib.h>

const char *const episode_kind_names[EPISODE_KINDS] = {
	[EPISODE_SAVE] = "save",
	[EPISODE_LOAD] = "load",
};

struct episode_watch {
	char server[LABEL_SIZE];
};

void episodes_free(struct episodes *e)
{
	free(e->list);
	free(e->watches);
	*e = (struct episodes){};
}

int episodes_add(struct episodes *e, const struct snapshot *before, const struct snapshot *now)
{
	(void)e, (void)before, (void)now;
	return 0;
}

int episodes_end(struct episodes *e)
{
	(void)e;
	return 0;
}
