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
#include <stdio.h>
#include <string.h>

#include "xid_line.h"

struct span {
	const char *at;
	const char *end;
};

static size_t left(struct span s)
{
	return (size_t)(s.end - s.at);
}

static bool starts_with(struct span s, const char *literal)
{
	size_t len = strlen(literal);

	return left(s) >= len && memcmp(s.at, literal, len) == 0;
}

static bool is(struct span s, const char *literal)
{
	return left(s) == strlen(literal) && starts_with(s, literal);
}

/* The take_ functions move past what they recognise, else leave the span alone. */
static bool take(struct span *s, const char *literal)
{
	if (!starts_with(*s, literal))
		return false;
	s->at += strlen(literal);
	return true;
}

/* Moves past the first occurrence of literal. */
static bool take_through(struct span *s, const char *literal)
{
	for (struct span rest = *s; rest.at < rest.end; rest.at++) {
		if (take(&rest, literal)) {
			*s = rest;
			return true;
		}
	}
	return false;
}

/* Locale-free; 36 for what is no digit in any base. */
static unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'z')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'Z')
		return (unsigned int)(c - 'A') + 10;
	return 36;
}

static bool take_number(struct span *s, unsigned int base, uint32_t max, uint32_t *value)
{
	const char *p = s->at;
	uint64_t sum = 0;

	for (; p < s->end && digit_value(*p) < base; p++) {
		sum = sum * base + digit_value(*p);
		if (sum > max)
			return false;
	}
	if (p == s->at)
		return false;
	s->at = p;
	*value = (uint32_t)sum;
	return true;
}

/* domain:bus:slot[.function], or bus:slot as printed until about 2010. */
static bool take_address(struct span *s, char *pci, size_t size)
{
	uint32_t domain, bus, slot, function = 0;

	if (!take_number(s, 16, UINT32_MAX, &domain) || !take(s, ":") ||
	    !take_number(s, 16, 0xff, &bus))
		return false;
	if (take(s, ":")) {
		if (!take_number(s, 16, 0xff, &slot))
			return false;
	} else {
		slot = bus;
		bus = domain;
		domain = 0;
	}
	if (bus > 0xff || (take(s, ".") && !take_number(s, 16, 7, &function)))
		return false;
	snprintf(pci, size, "%04x:%02x:%02x.%x", domain, (uint8_t)bus, (uint8_t)slot,
		 (uint8_t)function);
	return true;
}

/* MIG: " GPU-I:01" or " GPU-I:01 GPU-CI:00"; -1 where absent. */
static int take_instance(struct span *s, const char *label)
{
	struct span rest = *s;
	uint32_t instance;

	if (!take(&rest, label) || !take_number(&rest, 10, INT_MAX, &instance))
		return -1;
	*s = rest;
	return (int)instance;
}

static bool take_header(struct span *s, struct xid_line *out)
{
	struct span rest = *s;
	uint32_t minor;

	if (take(&rest, "NVRM: Xid ("))
		out->kind = XID_LINE_XID;
	else if (take(&rest, "nvidia-nvswitch") && take_number(&rest, 10, UINT32_MAX, &minor) &&
		 take(&rest, ": SXid ("))
		out->kind = XID_LINE_SXID;
	else
		return false;

	take(&rest, "PCI:");
	if (!take_address(&rest, out->pci, sizeof(out->pci)))
		return false;
	out->gpu_instance = take_instance(&rest, " GPU-I:");
	out->compute_instance = take_instance(&rest, " GPU-CI:");
	/* Room for what later drivers put there, after a space as MIG is. */
	if (starts_with(rest, " ")) {
		while (left(rest) > 0 && *rest.at != ')' && *rest.at != '(' && *rest.at != '\n')
			rest.at++;
	}
	if (!take(&rest, "):"))
		return false;
	while (take(&rest, " "))
		;
	if (!take_number(&rest, 10, UINT_MAX, &out->code))
		return false;
	/* "46" and "46, ..." are numbers, "46th" and "0x2e" are not. */
	if (left(rest) > 0 && (digit_value(*rest.at) < 36 || *rest.at == '_'))
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
	if (!take(s, label))
		return false;
	*value = *s;
	if (take_through(s, ", ")) {
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
	return is(s, "<unknown>") || is(s, "'<unknown>'");
}

/* Cuts to size; control bytes become '?', so that the copy is one line. */
static void copy(char *to, size_t size, struct span from)
{
	size_t len = left(from) < size ? left(from) : size - 1;

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

	if (take_field(s, "pid=", &value) && take_number(&value, 10, INT_MAX, &pid) &&
	    left(value) == 0)
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
		if (is(word, "Fatal"))
			fatality = XID_FATAL;
		else if (is(word, "Nonfatal"))
			fatality = XID_NONFATAL;
		take(&s, " ");
	}
	return fatality;
}

/* "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)" */
static void read_recovery(struct xid_line *line, struct span s)
{
	struct span name;

	if (!take_through(&s, "recovery action changed from ") || !take_through(&s, ") to ") ||
	    !take_through(&s, "("))
		return;
	name = s;
	if (!take_through(&s, ")"))
		return;
	name.end = s.at - 1;
	copy(line->recovery, sizeof(line->recovery), name);
}

static void read_sxid(struct xid_line *line, struct span s)
{
	if (starts_with(s, "Fatal,"))
		line->fatality = XID_FATAL;
	else if (starts_with(s, "Non-fatal,"))
		line->fatality = XID_NONFATAL;
	else if (starts_with(s, "Severity ") || starts_with(s, "Data {") ||
		 starts_with(s, "SOE HALT data["))
		line->kind = XID_LINE_SXID_DETAIL;
}

static void read_xid(struct xid_line *line, struct span s)
{
	struct span cause = s;
	uint32_t code;

	if (take_through(&cause, "caused by previous Xid ") &&
	    take_number(&cause, 10, UINT_MAX, &code))
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

	newline = memchr(s.at, '\n', left(s));
	if (newline)
		s.end = newline;
	s.end = find_header(s);
	*offset = (size_t)(s.end - text);

	take(&s, ",");
	while (take(&s, " "))
		;
	if (out->kind == XID_LINE_XID)
		take_process(&s, out);
	xid_line_read_message(out, s.at, left(s));
	return true;
}
