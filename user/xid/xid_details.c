// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a fault's text states beyond device, code and process, as JSON. */
#include "xid/xid_details.h"

static void write_nvlink(struct json *j, const struct nvlink *n)
{
	char word[16];

	json_object(j, "nvlink");
	if (n->unit[0])
		json_text(j, "unit", n->unit);
	if (n->xc >= 0)
		json_signed(j, "xc", n->xc);
	if (n->instance >= 0)
		json_signed(j, "instance", n->instance);
	if (n->link >= -1)
		json_signed(j, "link", n->link);
	json_array(j, "words");
	for (int i = 0; i < n->word_count; i++) {
		snprintf(word, sizeof(word), "0x%08x", n->words[i]);
		json_text(j, NULL, word);
	}
	json_array_end(j);
	json_object_end(j);
}

void xid_details_write(struct json *j, const struct xid_line *line)
{
	static const char *const fatalities[] = {
		[XID_CORRECTABLE] = "correctable",
		[XID_NONFATAL] = "nonfatal",
		[XID_FATAL] = "fatal",
	};

	if (line->gpu_instance >= 0) {
		json_object(j, "mig");
		json_signed(j, "gpu_instance", line->gpu_instance);
		if (line->compute_instance >= 0)
			json_signed(j, "compute_instance", line->compute_instance);
		json_object_end(j);
	}
	if (line->fatality != XID_FATALITY_UNSTATED)
		json_text(j, "fatality", fatalities[line->fatality]);
	if (line->caused_by)
		json_unsigned(j, "caused_by", line->caused_by);
	if (line->recovery[0]) {
		json_object(j, "recovery");
		json_text(j, "from", line->recovery_from);
		json_text(j, "to", line->recovery);
		json_object_end(j);
	}
	if (line->nvlink.unit[0] || line->nvlink.word_count)
		write_nvlink(j, &line->nvlink);
}
