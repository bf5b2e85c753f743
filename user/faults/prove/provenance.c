// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether a line in the kernel log was printed by who its text names. */
#include "faults/prove/parts.h"

#include "base/span.h"

/* The messages of the driver that quote more than the name of a process: up to 63 bytes that a process calls its
 * version, through /dev/nvidiactl or /dev/nvidia-nvswitchctl, which everyone may open. */
static const char *const quoting[] = { "NVRM: API mismatch", "nvidia-nvswitch: Version mismatch" };

/* The call that printed the @len bytes at @at; NULL: it is not known. */
static const struct printk_piece *find_call(const struct provenance *p, const char *at, size_t len)
{
	size_t offset = (size_t)(at - p->text);

	return ARRAY_FIND(x, p->pieces->list, p->pieces->count,
			  offset >= x->at && offset + len <= x->at + x->len);
}

bool provenance_begins_call(const struct provenance *p, const char *at)
{
	const struct printk_piece *call = find_call(p, at, 1);

	return (p->record && p->record->facility) || (call && p->text + call->at == at);
}

size_t provenance_next_call(const struct provenance *p, size_t at)
{
	size_t next = p->len;

	ARRAY_EACH(call, p->pieces->list, p->pieces->count) {
		size_t end = call->at + call->len;

		if (call->origin != PRINTK_ORIGIN_DRIVER)
			continue;
		if (call->at > at && call->at < next)
			next = call->at;
		if (end > at && end < next)
			next = end;
	}
	return next;
}

/* Whether a line of the driver may begin there in a call of its own. */
static bool begins_line(const struct provenance *p, const struct printk_piece *call, const char *at)
{
	struct span text = { p->text + call->at, p->text + call->at + call->len };

	return at == text.at || (at[-1] == '\n' && !span_starts_with(text, quoting[0]) &&
				 !span_starts_with(text, quoting[1]));
}

enum printk_origin provenance_origin(const struct provenance *p, const char *at, size_t len)
{
	const struct printk_piece *call = find_call(p, at, len);

	/* Whoever wants what processes write to count takes it for the driver's. */
	if (p->record && p->record->facility)
		return PRINTK_ORIGIN_DRIVER;
	if (!call)
		return p->all_known ? PRINTK_ORIGIN_OTHER : PRINTK_ORIGIN_UNKNOWN;
	if (call->origin == PRINTK_ORIGIN_DRIVER && !begins_line(p, call, at))
		return PRINTK_ORIGIN_OTHER;
	return call->origin;
}

static bool begins_record(const struct provenance *p, const char *at)
{
	return p->record && !p->record->facility && at == p->text;
}

bool provenance_likely(const struct provenance *p, const char *at, bool nvswitch)
{
	return begins_record(p, at) && (nvswitch || p->record->continued);
}

/* Who may set its rules chooses up to 127 bytes before what it prints: nf_log_*() in net/netfilter/nf_log_syslog.c.
 * Not for lines that quote a name, as an Xid's: whoever chooses that could hide them. */
static bool is_of_packet_filter(const struct provenance *p)
{
	return memmem(p->text, p->len, "OUT=", 4) || memmem(p->text, p->len, "HTYPE=", 6);
}

bool provenance_accepts(const struct provenance *p, const struct kernel_line *line)
{
	switch (line->proof) {
	case KERNEL_LINE_BY_DRIVER:
		switch (provenance_origin(p, line->text, line->text_len)) {
		case PRINTK_ORIGIN_DRIVER:
			return true;
		case PRINTK_ORIGIN_OTHER:
			return false;
		case PRINTK_ORIGIN_UNKNOWN:
			break;
		}
		/* The driver's resource manager prints without a level, as if it continued a line; nv_printf() of its
		 * kernel interface has one, as in "loading". No name of a process is as long as these lines. */
		return begins_record(p, line->text) && !is_of_packet_filter(p);
	case KERNEL_LINE_FOR_PCI:
		return begins_record(p, line->text) && !strncmp(p->record->device, "+pci:", 5) &&
		       !strcmp(p->record->device + 5, line->device);
	case KERNEL_LINE_FOR_DEVICE:
		return begins_record(p, line->text) && *p->record->device;
	case KERNEL_LINE_BY_KERNEL:
		break;
	}
	return begins_record(p, line->text) && !p->record->continued;
}
