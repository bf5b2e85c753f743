/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a fault's text states beyond device, code and process, as JSON. */
#ifndef XIDSCOPE_XID_DETAILS_H
#define XIDSCOPE_XID_DETAILS_H

#include "base/json.h"
#include "xid/xid_line.h"

/*
 * Writes the members that the line states: "mig" (gpu_instance,
 * compute_instance), "fatality", "caused_by", "recovery" (from, to; of Xid
 * 154), "nvlink" (unit, xc, instance, link, words; of Xid 144-150, and of Xid 74
 * link and words).
 */
void xid_details_write(struct json *j, const struct xid_line *line);

#endif
