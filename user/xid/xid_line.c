// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parser of the driver's fault lines:
 *
 * 	NVRM: Xid (PCI:0000:c1:00 GPU-I:01): 31, pid=7, name=python3, MMU Fault ...
 * 	nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48 ...
 *
 * A header is all up to the number; it counts only when complete. The driver prints as a continuation (KERN_CONT), so
 * a header may begin anywhere in a line, and a message ends at the newline or at the next header. */
#include <limits.h>

#include "xid/xid_line.h"

/* The most bytes of a process's name: the kernel's limit. */
#define NAME_MAX_LENGTH 15

/* The most bytes of a header; the longest of a driver has some 50. */
#define HEADER_MAX_LENGTH 128

/* MIG: " GPU-I:01" or " GPU-I:01 GPU-CI:00"; -1 where absent. */
static int take_instance(struct span *s, const char *label)
{
	struct span rest = *s;
	uint64_t instance;

	if (!span_take(&rest, label) || !span_take_number(&rest, 10, INT_MAX, &instance))
		return -1;
	*s = rest;
	return (int)instance;
}

static bool take_header(struct span *s, struct xid_line *out)
{
	struct span rest = *s;
	struct pci_address pci;
	uint64_t number;
	size_t length;

	if (span_take(&rest, "NVRM: Xid ("))
		out->kind = XID_LINE_XID;
	else if (span_take(&rest, "nvidia-nvswitch") &&
		 span_take_number(&rest, 10, UINT32_MAX, &number) && span_take(&rest, ": SXid ("))
		out->kind = XID_LINE_SXID;
	else
		return false;

	span_take(&rest, "PCI:");
	if (!pci_address_take(&rest, &pci))
		return false;
	pci_address_text(out->pci, &pci);
	out->gpu_instance = take_instance(&rest, " GPU-I:");
	out->compute_instance = take_instance(&rest, " GPU-CI:");
	/* Room for what later drivers put there, after a space as MIG is. */
	if (span_starts_with(rest, " "))
		span_take_until(&rest, ")(\n");
	if (!span_take(&rest, "):"))
		return false;
	span_take_run(&rest, " ");
	if (!span_take_number(&rest, 10, UINT_MAX, &number))
		return false;
	out->code = (unsigned int)number;
	/* "46" and "46, ..." are numbers, "46th" and "0x2e" are not. */
	if (span_left(rest) > 0 && (span_digit(*rest.at) < 36 || *rest.at == '_'))
		return false;
	length = (size_t)(rest.at - s->at);
	if (length > HEADER_MAX_LENGTH || memchr(s->at, 0, length))
		return false;
	*s = rest;
	return true;
}

/* Where the first whole header at or after s.at begins; s.end if there is none. */
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

/* Moves past a value and ", ". */
static struct span take_value(struct span *s)
{
	struct span value = *s;

	if (span_take_through(s, ", ")) {
		value.end = s->at - 2;
		return value;
	}
	s->at = s->end;
	if (span_left(value) && value.end[-1] == ',')
		value.end--;
	return value;
}

static bool starts_message(struct span s)
{
	static const char *const starts[] = { "Ch ",       "channel 0x", "Contained: ",  "GPU ",
					      "Graphics ", "Timeout ",   "Uncontained: " };

	return ARRAY_FIND(x, starts, COUNT(starts), span_starts_with(s, *x));
}

/* As take_value(), but a name may have ", " in it. The kernel's names have 15 bytes at most: if a known message
 * begins after one of the ", " within these, the name ends there; otherwise at the first ", ". */
static struct span take_name(struct span *s)
{
	struct span rest = *s, name = *s;

	while (span_take_through(&rest, ", ") && rest.at - s->at <= NAME_MAX_LENGTH + 2) {
		if (starts_message(rest)) {
			name.end = rest.at - 2;
			*s = rest;
			return name;
		}
	}
	return take_value(s);
}

/* Cuts to size; control bytes become '?', so that the copy is one line. */
static void copy_one_line(char *to, size_t size, struct span from)
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
	struct span value, rest;
	bool quoted;
	uint64_t pid;

	if (span_take(s, "pid=")) {
		value = take_value(s);
		quoted = span_take(&value, "'"); /* as the unknown ones are */
		if (span_take_number(&value, 10, INT_MAX, &pid) &&
		    (!quoted || span_take(&value, "'")) && span_left(value) == 0)
			out->pid = (int)pid;
	}
	if (span_take(s, "name=")) {
		value = take_name(s);
		if (!span_is(value, "<unknown>") && !span_is(value, "'<unknown>'"))
			copy_one_line(out->process, sizeof(out->process), value);
		rest = *s;
		while (span_take_through(&rest, ", ") && rest.at - value.at <= NAME_MAX_LENGTH + 2)
			out->name_left = (size_t)(rest.at - s->at);
	}
}

/* A number that is not at the end of the text, and therefore whole. */
static bool take_whole_number(struct span *s, const char *prefix, unsigned int base, uint64_t max,
			      uint64_t *value)
{
	struct span rest = *s;

	if (!span_take(&rest, prefix) || !span_take_number(&rest, base, max, value) ||
	    !span_left(rest) || span_digit(*rest.at) < 36)
		return false;
	*s = rest;
	return true;
}

/* The documented form has "RLW, nonfatal, cross-contain=0". */
static struct span without_comma(struct span word)
{
	if (span_left(word) && word.end[-1] == ',')
		word.end--;
	return word;
}

static enum xid_fatality read_fatality(struct span word)
{
	word = without_comma(word);
	if (span_is(word, "Fatal") || span_is(word, "fatal"))
		return XID_FATAL;
	if (span_is(word, "Nonfatal") || span_is(word, "nonfatal"))
		return XID_NONFATAL;
	return XID_FATALITY_UNSTATED;
}

/* "(0x10 0x20" or "(0x10, 0x20" */
static void read_words(struct nvlink *out, struct span s)
{
	uint64_t number;

	span_take(&s, "(");
	while (out->word_count < NVLINK_WORDS &&
	       take_whole_number(&s, "0x", 16, UINT32_MAX, &number)) {
		out->words[out->word_count++] = (unsigned int)number;
		span_take(&s, ",");
		span_take(&s, " ");
	}
}

/* "NVLink: fatal error detected on link 14(0x0, ..." */
static void read_link_error(struct nvlink *out, struct span s)
{
	uint64_t link;

	if (!span_take_through(&s, "detected on link ") ||
	    !take_whole_number(&s, "", 10, INT_MAX, &link))
		return;
	out->link = (int)link;
	read_words(out, s);
}

/* "RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x...": the last fatality before the parenthesis counts, and the words around
 * it, because the rest of a process name with ", " may come first. */
static void read_nvlink5(struct xid_line *line, struct span s)
{
	struct nvlink *out = &line->nvlink;
	struct span before = { s.at, s.at };
	uint64_t number;

	while (span_left(s) && *s.at != '(') {
		struct span word = span_take_until(&s, " ("), rest = { word.at, s.end };
		enum xid_fatality fatality = read_fatality(word);

		if (fatality != XID_FATALITY_UNSTATED) {
			line->fatality = fatality;
			*out = (struct nvlink){ .xc = -1, .instance = -1, .link = -2 };
			copy_one_line(out->unit, sizeof(out->unit), without_comma(before));
		} else if (take_whole_number(&rest, "XC", 10, INT_MAX, &number) ||
			   take_whole_number(&rest, "cross-contain=", 10, INT_MAX, &number)) {
			out->xc = (int)number;
		} else if (take_whole_number(&rest, "i", 10, INT_MAX, &number)) {
			out->instance = (int)number;
		} else if (span_is(word, "Link")) {
			if (take_whole_number(&rest, "Link ", 10, INT_MAX, &number))
				out->link = (int)number;
			else if (take_whole_number(&rest, "Link -", 10, 1, &number))
				out->link = -(int)number;
		}
		if (span_left(word))
			before = word;
		span_take(&s, " ");
	}
	read_words(out, s);
}

/* "Graphics SM Warp Exception on (GPC 9, TPC 1, SM 1): ...". The place is the TPC, because faults of a TPC may show in each of its SMs. */
static unsigned int read_place(struct span s)
{
	uint64_t gpc, tpc;

	if (!span_take_through(&s, "(GPC ") || !span_take_number(&s, 10, 0xff, &gpc) ||
	    !span_take(&s, ", TPC ") || !take_whole_number(&s, "", 10, 0xff, &tpc))
		return 0;
	return (unsigned int)(1 << 16 | gpc << 8 | tpc);
}

/* "0x1 (GPU Reset Required)": the number decides, because some names have changed. If the line ends within the action, that is the
 * part that is there for an unknown number, and empty for 0: what is cut clears nothing. */
static bool take_action(struct span *s, char *action, size_t size)
{
	static const char *const names[] = {
		"None",      "GPU Reset Required", "Node Reboot Required",
		"Drain P2P", "Drain and Reset",    "Recover IMEX Domain",
		"Bus Reset", "System Reboot"
	};
	struct span name, all = *s;
	uint64_t number;

	if (!span_take(s, "0x") || !span_take_number(s, 16, UINT_MAX, &number))
		return false;
	name = *s;
	if (span_take(&name, " (") && span_take_through(s, ")"))
		all = (struct span){ name.at, s->at - 1 };
	else if (!number)
		return false;
	if (number < COUNT(names))
		all = span_of(names[number]);
	copy_one_line(action, size, all);
	return true;
}

static void read_sxid(struct xid_line *line, struct span s)
{
	if (span_starts_with(s, "Fatal,"))
		line->fatality = XID_FATAL;
	else if (span_starts_with(s, "Non-fatal,"))
		line->fatality = XID_NONFATAL;
	else if (span_starts_with(s, "Correctable,"))
		line->fatality = XID_CORRECTABLE;
	else if (span_starts_with(s, "Severity ") || span_starts_with(s, "Data {") ||
		 span_starts_with(s, "SOE HALT data["))
		line->kind = XID_LINE_NONE; /* more about the one before */
}

static void read_xid(struct xid_line *line, struct span s)
{
	struct span cause = s;
	uint64_t code;

	if (span_take_through(&cause, "caused by previous Xid ") &&
	    span_take_number(&cause, 10, UINT_MAX, &code))
		line->caused_by = (unsigned int)code;
	if (line->code == XID_GRAPHICS_EXCEPTION)
		line->place = read_place(s);
	if (line->code == XID_NVLINK_ERROR)
		read_link_error(&line->nvlink, s);
	if (line->code >= XID_NVLINK5_FIRST && line->code <= XID_NVLINK5_LAST)
		read_nvlink5(line, (struct span){ s.at + line->name_left, s.end });
	/* "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)" */
	if (line->code == XID_RECOVERY_ACTION &&
	    span_take_through(&s, "recovery action changed from ") &&
	    take_action(&s, line->recovery_from, sizeof(line->recovery_from)) &&
	    span_take(&s, " to "))
		take_action(&s, line->recovery, sizeof(line->recovery));
}

static void read_message(struct xid_line *line, const char *message, size_t len)
{
	struct span s;

	while (len > 0 && (unsigned char)message[len - 1] <= ' ')
		len--;
	line->fatality = XID_FATALITY_UNSTATED;
	line->caused_by = 0;
	line->place = 0;
	line->nvlink = (struct nvlink){ .xc = -1, .instance = -1, .link = -2 };
	line->recovery_from[0] = '\0';
	line->recovery[0] = '\0';
	line->message = message;
	line->message_len = len;
	LOWER(line->name_left, len);
	if (len == 0)
		return;

	s = (struct span){ message, message + len };
	if (line->kind == XID_LINE_XID)
		read_xid(line, s);
	else
		read_sxid(line, s);
}

/* The end of the line. If a newline may belong to a process's name, the end of the next line. */
static const char *find_end(struct span s)
{
	struct span rest = s, line = span_take_line(&rest), name = line;

	if (!span_take_through(&name, "name="))
		return line.end;
	while (line.end < s.end && line.end - name.at < NAME_MAX_LENGTH)
		line.end = span_take_line(&rest).end;
	return line.end;
}

/* The same with what is no event of its own. */
static bool next_header(const char *text, size_t len, size_t *offset, struct xid_line *out)
{
	struct span s, rest;

	*out = (struct xid_line){ .pid = -1 };
	if (*offset >= len)
		return false;

	s = (struct span){ text + *offset, text + len };
	s.at = find_header(s);
	rest = s;
	if (!take_header(&s, out)) {
		*offset = len;
		return false;
	}
	out->header = rest.at;

	s.end = find_end(s);
	s.end = find_header(s);
	*offset = (size_t)(s.end - text);

	span_take(&s, ",");
	span_take_run(&s, " ");
	if (out->kind == XID_LINE_XID)
		take_process(&s, out);
	read_message(out, s.at, span_left(s));
	return true;
}

bool xid_line_next(const char *text, size_t len, size_t *offset, struct xid_line *out)
{
	while (next_header(text, len, offset, out))
		if (out->kind != XID_LINE_NONE)
			return true;
	return false;
}
