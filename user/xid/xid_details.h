/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a fault's text tells beyond device, code and process, as JSON. */
#ifndef XIDSCOPE_XID_DETAILS_H
#define XIDSCOPE_XID_DETAILS_H

#include <stdio.h>

#include "xid/xid_line.h"

/*
 * Writes members of a JSON object, each with a comma in front, for what the
 * line states: "mig" (gpu_instance, compute_instance), "fatality",
 * "caused_by", "recovery" (from, to; of Xid 154), "nvlink" (unit, xc, instance,
 * link, words; of Xid 144-150).
 */
void xid_details_write(FILE *out, const struct xid_line *line);

#endif
