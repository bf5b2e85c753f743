/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How grave one event is and what to do about it: by its text where that decides (xid_text.tsv), otherwise by the
 * catalogs. */
#pragma once

#include "xid/xid_line.h"

/* Both are label values, see xid_catalog.h; action is "" for an SXid. */
struct xid_rating {
	const char *severity;
	const char *action;
};

/* The rating of one event. An SXid has the severity that its text states, unless the catalog knows that the text says
 * less than it is; without one it has the catalog's. An Xid 45 that names its cause is "info": the cause has the
 * severity. */
struct xid_rating xid_line_rating(const struct xid_line *line);

/* Whether the text of this Xid can decide. */
bool xid_text_decides(unsigned int xid);

/* Whether the event is an Xid 154 by which the driver no longer asks for an action. */
bool xid_asks_no_more(const struct xid_line *line);

/* Whether the action that it asked for until then was a reset or a reboot. */
bool xid_reset_is_done(const struct xid_line *line);
