// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parser of the driver's fault lines:
 *
 *	NVRM: Xid (PCI:0000:c1:00 GPU-I:01): 31, pid=7, name=python3, MMU Fault ...
 *	nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48 ...
 *
 * A header is all up to the number; it counts only when complete. The driver
 * prints as a continuation (KERN_CONT), so a header may stand anywhere in a
 * line, and a message ends at the newline or at the next header.
 */
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "span.h"
#include "xid_line.h"

/* MIG: " GPU-I:01" or " GPU-I:01 GPU-CI:00"; -1 where absent. */
static int take_instance(struct span *s, const char *label)
{
	struct span rest = *s;
	uint32_t instance;

	if (!span_take(&rest, label) || !span_take_number(&rest, 10, INT_MAX, &instance))
		return -1;
	*s = rest;
	return (int)instance;
}

static bool take_header(struct span *s, struct xid_line *out)
{
	struct span rest = *s;
	uint32_t minor;

	if (span_take(&rest, "NVRM: Xid ("))
		out->kind = XID_LINE_XID;
	else if (span_take(&rest, "nvidia-nvswitch") && span_take_number(&rest, 10, UINT32_MAX, &minor) &&
		 span_take(&rest, ": SXid ("))
		out->kind = XID_LINE_SXID;
	else
		return false;

	span_take(&rest, "PCI:");
	if (!span_take_pci(&rest, out->pci))
		return false;
	out->gpu_instance = take_instance(&rest, " GPU-I:");
	out->compute_instance = take_instance(&rest, " GPU-CI:");
	/* Room for what later drivers put there, after a space as MIG is. */
	if (span_starts_with(rest, " ")) {
		while (span_left(rest) > 0 && *rest.at != ')' && *rest.at != '(' && *rest.at != '\n')
			rest.at++;
	}
	if (!span_take(&rest, "):"))
		return false;
	while (span_take(&rest, " "))
		;
	if (!span_take_number(&rest, 10, UINT_MAX, &out->code))
		return false;
	/* "46" and "46, ..." are numbers, "46th" and "0x2e" are not. */
	if (span_left(rest) > 0 && (span_digit(*rest.at) < 36 || *rest.at == '_'))
		return false;
	*s = rest;
	return true;
}

/* The first place at or after s.at where a whole header stands; s.end if none. */
static const char *find_header(struct span s)
{
	struct xid_line ignored;

	for (; s.at < s.end; s.at++) {
		struct span header = s;

		if (take_header(&header, &ignored))
			break;
	}
	return s.at;
}

/*
 * "label=value, ": a value ends at a comma and a space, so a process name keeps
 * its single commas; one that holds ", " itself is cut there.
 */
static bool take_field(struct span *s, const char *label, struct span *value)
{
	if (!span_take(s, label))
		return false;
	*value = *s;
	if (span_take_through(s, ", ")) {
		value->end = s->at - 2;
	} else {
		s->at = s->end;
		if (value->at < value->end && value->end[-1] == ',')
			value->end--;
	}
	return true;
}

static bool is_unknown(struct span s)
{
	return span_is(s, "<unknown>") || span_is(s, "'<unknown>'");
}

/* Cuts to size; control bytes become '?', so that the copy is one line. */
static void copy(char *to, size_t size, struct span from)
{
	size_t len = span_left(from) < size ? span_left(from) : size - 1;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)from.at[i];

		to[i] = from.at[i];
		if (c < ' ' || c == 0x7f)
			to[i] = '?';
	}
	to[len] = '\0';
}

static void take_process(struct span *s, struct xid_line *out)
{
	struct span value;
	uint32_t pid;

	if (take_field(s, "pid=", &value) && span_take_number(&value, 10, INT_MAX, &pid) &&
	    span_left(value) == 0)
		out->pid = (int)pid;
	if (take_field(s, "name=", &value) && !is_unknown(value))
		copy(out->process, sizeof(out->process), value);
}

/*
 * "RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x...": the last such word before the
 * parenthesis, because the rest of a process name with ", " may stand first.
 */
static enum xid_fatality read_nvlink_fatality(struct span s)
{
	enum xid_fatality fatality = XID_FATALITY_UNSTATED;

	while (s.at < s.end && *s.at != '(') {
		struct span word = s;

		while (s.at < s.end && *s.at != ' ' && *s.at != '(')
			s.at++;
		word.end = s.at;
		if (span_is(word, "Fatal"))
			fatality = XID_FATAL;
		else if (span_is(word, "Nonfatal"))
			fatality = XID_NONFATAL;
		span_take(&s, " ");
	}
	return fatality;
}

/* "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)" */
static void read_recovery(struct xid_line *line, struct span s)
{
	struct span name;

	if (!span_take_through(&s, "recovery action changed from ") || !span_take_through(&s, ") to ") ||
	    !span_take_through(&s, "("))
		return;
	name = s;
	if (!span_take_through(&s, ")"))
		return;
	name.end = s.at - 1;
	copy(line->recovery, sizeof(line->recovery), name);
}

static void read_sxid(struct xid_line *line, struct span s)
{
	if (span_starts_with(s, "Fatal,"))
		line->fatality = XID_FATAL;
	else if (span_starts_with(s, "Non-fatal,"))
		line->fatality = XID_NONFATAL;
	else if (span_starts_with(s, "Severity ") || span_starts_with(s, "Data {") ||
		 span_starts_with(s, "SOE HALT data["))
		line->kind = XID_LINE_SXID_DETAIL;
}

static void read_xid(struct xid_line *line, struct span s)
{
	struct span cause = s;
	uint32_t code;

	if (span_take_through(&cause, "caused by previous Xid ") &&
	    span_take_number(&cause, 10, UINT_MAX, &code))
		line->caused_by = code;
	if (line->code >= XID_NVLINK5_FIRST && line->code <= XID_NVLINK5_LAST)
		line->fatality = read_nvlink_fatality(s);
	if (line->code == XID_RECOVERY_ACTION)
		read_recovery(line, s);
}

void xid_line_read_message(struct xid_line *line, const char *message, size_t len)
{
	struct span s;

	while (len > 0 && (unsigned char)message[len - 1] <= ' ')
		len--;
	line->fatality = XID_FATALITY_UNSTATED;
	line->caused_by = 0;
	line->recovery[0] = '\0';
	line->message = message;
	line->message_len = len;
	if (len == 0)
		return;

	s = (struct span){message, message + len};
	if (line->kind == XID_LINE_XID)
		read_xid(line, s);
	else
		read_sxid(line, s);
}

bool xid_line_next(const char *text, size_t len, size_t *offset, struct xid_line *out)
{
	struct span s;
	const char *newline;

	*out = (struct xid_line){.pid = -1};
	if (*offset >= len)
		return false;

	s = (struct span){text + *offset, text + len};
	s.at = find_header(s);
	if (!take_header(&s, out)) {
		*offset = len;
		return false;
	}

	newline = memchr(s.at, '\n', span_left(s));
	if (newline)
		s.end = newline;
	s.end = find_header(s);
	*offset = (size_t)(s.end - text);

	span_take(&s, ",");
	while (span_take(&s, " "))
		;
	if (out->kind == XID_LINE_XID)
		take_process(&s, out);
	xid_line_read_message(out, s.at, span_left(s));
	return true;
}
