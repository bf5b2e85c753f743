// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a fault's text tells beyond device, code and process, as JSON. */
#include "xid/xid_details.h"

#include <string.h>

#include "base/log.h"

static void text_member(FILE *out, const char *comma, const char *name, const char *text)
{
	fprintf(out, "%s\"%s\":", comma, name);
	json_string(out, text, strlen(text));
}

static void write_nvlink(FILE *out, const struct nvlink5 *n)
{
	text_member(out, ",\"nvlink\":{", "unit", n->unit);
	if (n->xc >= 0)
		fprintf(out, ",\"xc\":%d", n->xc);
	if (n->instance >= 0)
		fprintf(out, ",\"instance\":%d", n->instance);
	if (n->link >= -1)
		fprintf(out, ",\"link\":%d", n->link);
	fputs(",\"words\":[", out);
	for (int i = 0; i < n->word_count; i++)
		fprintf(out, "%s\"0x%08x\"", i ? "," : "", n->words[i]);
	fputs("]}", out);
}

void xid_details_write(FILE *out, const struct xid_line *line)
{
	static const char *const fatalities[] = {
		[XID_CORRECTABLE] = "correctable",
		[XID_NONFATAL] = "nonfatal",
		[XID_FATAL] = "fatal",
	};

	if (line->gpu_instance >= 0) {
		fprintf(out, ",\"mig\":{\"gpu_instance\":%d", line->gpu_instance);
		if (line->compute_instance >= 0)
			fprintf(out, ",\"compute_instance\":%d", line->compute_instance);
		fputc('}', out);
	}
	if (line->fatality != XID_FATALITY_UNSTATED)
		text_member(out, ",", "fatality", fatalities[line->fatality]);
	if (line->caused_by)
		fprintf(out, ",\"caused_by\":%u", line->caused_by);
	if (line->recovery[0]) {
		text_member(out, ",\"recovery\":{", "from", line->recovery_from);
		text_member(out, ",", "to", line->recovery);
		fputc('}', out);
	}
	if (line->nvlink5.unit[0])
		write_nvlink(out, &line->nvlink5);
}
