/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls that wait for slots: whether more slots would help, how many and by how much. */
#ifndef XIDSCOPE_VERDICT_SLOTS_H
#define XIDSCOPE_VERDICT_SLOTS_H

#include "limits/verdict_judgement.h"

/* Decides on a server whose calls wait for slots of @limit, BOUND_SLOT or BOUND_SESSION: that limit,
 * with the setting and the gain, or the server. */
void verdict_judge_slots(struct judgement *j, enum bound limit);

#endif
