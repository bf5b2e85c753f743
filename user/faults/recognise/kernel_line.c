// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All lines are in one table. A pattern matches the beginning of a line; what follows does not matter. In a pattern:
 *
 * 	%p  a PCI address: the device
 * 	%n  a word, as short as possible: the device
 * 	%v  "nvidia-nvswitch" and its number: the device	%M  "MC" and its number: the same
 * 	%u  a GPU's UUID	%s  a serial number
 * 	%d  a decimal number	%x  a hexadecimal one
 * 	%X  what an oops of x86 begins with, "int3: 0000 [#1] SMP"
 * 	%a  a part of a function's name	%F  a function and, if there is one, its module: the device
 * 	%C  a CPU's number: the device
 * 	%t  "s! [comm:pid]", the task, or nothing	%T  "PID: N Comm: NAME": the same
 * 	%b  "comm:pid", the task
 * 	%w  a word up to the next space
 * 	%e  a PCIe error's severity, or nothing
 * 	%i  the driver's number of a GPU
 * 	%k  a number of an error that means refused credentials
 * 	%*  up to 200 bytes, as few as possible
 * 	%(  what may be missing, up to its %)
 * 	%$  the end of the line, or only blanks before it */
#include "faults/recognise/recognise.h"

#include "base/span.h"
#include "kernel/kernel_log.h"

/* How all lines of the GPU driver begin. */
static const char mark[] = "NVRM: ";

struct pattern {
	enum kernel_line_kind kind;
	const char *name;
	const char *pattern;
};

static const struct pattern patterns[] = {
#define TABLE_ROW(kind, name, pattern) { KERNEL_LINE_##kind, name, pattern },
#include "kernel_lines.inc"
};

/* The bytes of a word: no space, no control byte. */
static bool in_word(char c)
{
	return (unsigned char)c > ' ' && c != 0x7f;
}

/* Letters, digits and what is in @more. */
static struct span take_letters(struct span *s, const char *more)
{
	const char *start = s->at;

	while (span_left(*s) && *s->at && (span_digit(*s->at) < 36 || strchr(more, *s->at)))
		s->at++;
	return (struct span){ start, s->at };
}

/* A number whose value does not matter. */
static bool skip_number(struct span *s)
{
	uint64_t number;

	return span_take_number(s, 10, UINT32_MAX, &number);
}

/* At least one byte of a name, with a NUL. */
static bool take_name(struct span *s, char *to, size_t size)
{
	struct span rest = *s, name = take_letters(&rest, "_-");

	if (!span_left(name) || !span_copy(name, to, size))
		return false;
	*s = rest;
	return true;
}

static bool take_numbered(struct span *s, const char *name, struct kernel_line *out)
{
	const char *start = s->at;

	if (!span_take(s, name) || !skip_number(s))
		return false;
	label_from_bytes(out->device, sizeof(out->device), start, (size_t)(s->at - start));
	return true;
}

/* "Corrected", "Uncorrected (Non-Fatal)", "Uncorrected (Fatal)"; or, on newer kernels, "Correctable" and so on. */
static void take_pcie_severity(struct span *s, struct kernel_line *out)
{
	if (span_take(s, "Correct"))
		out->severity = "info";
	else if (span_take_through(s, " (Non-Fatal)"))
		out->severity = "warning";
	else if (span_take_through(s, " (Fatal)"))
		out->severity = "fatal";
}

/* EPERM, EACCES, ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED, NFS4ERR_WRONGSEC, NFS4ERR_CLID_INUSE: of another principal */
static bool take_refusal(struct span *s)
{
	static const uint64_t errors[] = { 1, 13, 126, 127, 128, 129, 10016, 10017 };
	uint64_t number;

	return span_take_number(s, 10, UINT32_MAX, &number) &&
	       ARRAY_FIND(e, errors, COUNT(errors), *e == number);
}

/* Some have a zero before it. */
static bool take_cpu(struct span *s, struct kernel_line *out)
{
	uint64_t number;

	if (!span_take_number(s, 10, UINT32_MAX, &number))
		return false;
	snprintf(out->device, sizeof(out->device), "cpu%" PRIu64, number);
	return true;
}

/* Any trap of die() in arch/x86/kernel/dumpstack.c. It is longer than a process' name, with which other messages begin. */
static bool take_trap(struct span *s)
{
	struct span rest = *s, error;

	if (!span_left(take_letters(&rest, "_- ")) || !span_take(&rest, ": "))
		return false;
	error = take_letters(&rest, "_");
	return span_left(error) == 4 && span_take(&rest, " [#") && skip_number(&rest) &&
	       span_take(&rest, "] ") && (span_take(&rest, "SMP") || span_take(&rest, "PREEMPT"));
}

/* "nfs_lock_and_join_requests+0x5a/0x1a0 [nfs]"; from 5.15 on a checksum may follow the module's name. */
static bool take_symbol(struct span *s, struct kernel_line *out)
{
	struct span name = take_letters(s, "_."), module;
	uint64_t number;

	if (!span_left(name) ||
	    !span_copy(span_cut(name, sizeof(out->function) - 1), out->function,
		       sizeof(out->function)) ||
	    !span_take(s, "+0x") || !span_take_number(s, 16, UINT32_MAX, &number) ||
	    !span_take(s, "/0x") || !span_take_number(s, 16, UINT32_MAX, &number))
		return false;
	module = *s;
	if (span_take(&module, " [") && take_name(&module, out->device, sizeof(out->device)) &&
	    (span_starts_with(module, "]") || span_starts_with(module, " ")) &&
	    span_take_through(&module, "]"))
		*s = module;
	return true;
}

/* @comm: chosen by a user. */
static bool set_task(struct kernel_line *out, struct span comm, struct span pid)
{
	uint64_t number = 0;

	label_from_bytes(out->comm, sizeof(out->comm), comm.at, span_left(comm));
	out->pid = span_number(pid, INT32_MAX, &number) ? (int)number : -1;
	return out->pid >= 0;
}

/* "python3:4711", where the name may have anything: by the line's last colon. */
static bool take_named_task(struct span *s, struct kernel_line *out)
{
	const char *colon = memrchr(s->at, ':', span_left(*s));
	struct span comm = { s->at, colon };

	s->at = colon ? colon + 1 : s->end;
	return colon && set_task(out, comm, span_take_until(s, " ]"));
}

/* "PID: 4711 Comm: cuda-EvtHandlr Tainted: G", or "Not tainted"; before them may be "Kdump: loaded" */
static bool take_task(struct span *s, struct kernel_line *out)
{
	static const char *const ends[] = { " Tainted", " Not tainted", " Kdump: loaded" };
	struct span pid, comm;

	if (!span_take(s, "PID: "))
		return false;
	pid = span_take_until(s, " ");
	if (!span_take(s, " Comm: "))
		return false;
	comm = *s;
	comm.end = comm.at + (span_left(comm) < 15 ? span_left(comm) : 15);
	for (size_t i = 0; i < COUNT(ends); i++) {
		const char *end = memmem(s->at, span_left(*s), ends[i], strlen(ends[i]));

		comm.end = end && end < comm.end ? end : comm.end;
	}
	set_task(out, comm, pid);
	return true;
}

static bool take_uuid(struct span *s, struct kernel_line *out)
{
	struct span rest = *s, uuid = take_letters(&rest, "_-");

	if (!is_gpu_uuid(uuid) || !span_copy(uuid, out->uuid, sizeof(out->uuid)))
		return false;
	*s = rest;
	return true;
}

static bool match_line(struct span *s, const char *pattern, struct kernel_line *out);

/* Takes as few bytes as let the rest of the pattern match. The recursion is as deep as a pattern of the table above has such parts. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool match_shortest(struct span *s, const char *pattern, size_t max, bool word,
			   struct kernel_line *out)
{
	const char *start = s->at;

	for (size_t len = 1; len <= max && len <= span_left(*s); len++) {
		struct span rest = { start + len, s->end };

		if (word && !in_word(start[len - 1]))
			return false;
		/* Saves the call if the next byte cannot match. */
		if (*pattern && *pattern != '%' && (!span_left(rest) || *rest.at != *pattern))
			continue;
		if (!match_line(&rest, pattern, out))
			continue;
		if (word)
			label_from_name(out->device, sizeof(out->device), start, len);
		*s = rest;
		return true;
	}
	return false;
}

/* One part of a pattern, of those that need not look at the rest of it. */
static bool match_part(struct span *s, char part, struct kernel_line *out)
{
	struct pci_address address;
	uint64_t number;

	switch (part) {
	case 'p':
		if (!pci_address_take(s, &address))
			return false;
		pci_address_text(out->device, &address);
		return true;
	case 'u':
		return take_uuid(s, out);
	case 's':
		return take_name(s, out->serial, sizeof(out->serial));
	case 'd':
		return skip_number(s);
	case 'x':
		return span_take_number(s, 16, UINT32_MAX, &number);
	case 'X':
		return take_trap(s);
	case 'v':
		return take_numbered(s, "nvidia-nvswitch", out);
	case 'M':
		return take_numbered(s, "MC", out);
	case 'w':
		for (number = 0; span_left(*s) && in_word(*s->at); number++)
			s->at++;
		return number;
	case 'a':
		return span_left(take_letters(s, "_"));
	case 'e':
		take_pcie_severity(s, out);
		return true;
	case 'C':
		return take_cpu(s, out);
	case 'F':
		return take_symbol(s, out);
	case 't':
		if (span_take(s, "s! ["))
			take_named_task(s, out);
		return true;
	case 'T':
		return take_task(s, out);
	case 'b':
		return take_named_task(s, out);
	case 'k':
		return take_refusal(s);
	case 'i':
		if (!span_take_number(s, 10, MAX_GPU_NUMBERS - 1, &number))
			return false;
		out->gpu_number = (unsigned int)number + 1;
		return true;
	case '$':
		span_take_run(s, " \r");
		return !span_left(*s);
	default: /* ')' */
		return true;
	}
}

/* The end of the optional part that begins at @at. */
static const char *optional_end(const char *at)
{
	for (int depth = 1; depth;) {
		at = strchr(at, '%') + 1;
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
	}
	return at;
}

/* The rest of a pattern from an optional part on. @out has nothing of it if it does not match. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool match_optional(struct span *s, const char *pattern, struct kernel_line *out)
{
	struct kernel_line with;

	/* Saves the copy if the next byte cannot match. */
	if (!span_left(*s) || (*pattern != '%' && *pattern != *s->at))
		return false;
	with = *out;
	if (!match_line(s, pattern, &with))
		return false;
	*out = with;
	return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool match_line(struct span *s, const char *pattern, struct kernel_line *out)
{
	struct span rest = *s;

	for (; *pattern; pattern++) {
		if (*pattern != '%') {
			if (!span_left(rest) || *rest.at != *pattern)
				return false;
			rest.at++;
			continue;
		}
		pattern++;
		if (*pattern == '(') {
			if (match_optional(&rest, pattern + 1, out))
				break;
			pattern = optional_end(pattern);
			continue;
		}
		if (*pattern == 'n' || *pattern == '*') {
			bool word = *pattern == 'n';

			if (!match_shortest(&rest, pattern + 1, word ? 255 : 200, word, out))
				return false;
			break;
		}
		if (!match_part(&rest, *pattern, out))
			return false;
	}
	*s = rest;
	return true;
}

static enum kernel_line_proof proof_of(const struct pattern *p)
{
	const char *second = strchr(p->pattern, ' ');

	if (!strncmp(p->pattern, "NVRM", strlen("NVRM")) || !strncmp(p->pattern, "%v", 2))
		return KERNEL_LINE_BY_DRIVER;
	/* As dev_printk() begins: driver and device. */
	if (second && !strncmp(second, " %p", 3))
		return KERNEL_LINE_FOR_PCI;
	return strncmp(p->pattern, "nvme ", 5) ? KERNEL_LINE_BY_KERNEL : KERNEL_LINE_FOR_DEVICE;
}

static bool read_piece(struct span s, struct kernel_line *out)
{
	for (size_t i = 0; span_left(s) && i < COUNT(patterns); i++) {
		const struct pattern *p = &patterns[i];
		struct span rest = s;

		if (*p->pattern != '%' && *p->pattern != *s.at)
			continue;
		*out = (struct kernel_line){ .name = "", .severity = "" };
		if (!match_line(&rest, p->pattern, out))
			continue;
		while (span_left(s) && (unsigned char)s.end[-1] <= ' ')
			s.end--;
		out->kind = p->kind;
		out->proof = proof_of(p);
		out->name = p->name;
		out->follows_xid =
			strstr(p->pattern, "fallen off the bus.") || !strcmp(p->name, "gpu_lost") ?
				79 :
				0;
		out->follows_itself = strstr(p->pattern, "rm_init_adapter failed");
		out->text = s.at;
		out->text_len = span_left(s);
		return true;
	}
	return false;
}

/* From s.at to the end of the line, or to where the GPU driver begins again. */
static struct span first_piece(struct span s)
{
	const char *end;

	s = span_take_line(&s);
	end = span_left(s) ? memmem(s.at + 1, span_left(s) - 1, mark, strlen(mark)) : NULL;
	if (end)
		s.end = end;
	return s;
}

bool kernel_line_next(const char *text, size_t len, size_t *offset, struct kernel_line *out)
{
	struct span s = { text + (*offset < len ? *offset : len), text + len };

	while (span_left(s)) {
		struct span piece = first_piece(s);

		s.at = piece.end;
		span_take(&s, "\n");
		if (read_piece(piece, out)) {
			*offset = (size_t)(s.at - text);
			return true;
		}
	}
	*out = (struct kernel_line){ .name = "", .severity = "" };
	*offset = len;
	return false;
}

/* ---- the form of a text ---- */

/* The messages of the driver that quote more than the name of a process: up to 63 bytes that a process calls its
 * version, through /dev/nvidiactl or /dev/nvidia-nvswitchctl, which everyone may open. */
static const char *const quoting[] = { "NVRM: API mismatch", "nvidia-nvswitch: Version mismatch" };

bool form_of_call(const char *text, size_t len, const char *at)
{
	struct span call = { text, text + len };

	return at == text || (at[-1] == '\n' && !span_starts_with(call, quoting[0]) &&
			      !span_starts_with(call, quoting[1]));
}

static bool begins_record(const struct kmsg_record *record, const char *text, const char *at)
{
	return !record->facility && at == text;
}

bool form_of_fault(const struct kmsg_record *record, const char *text, const struct xid_line *line)
{
	return begins_record(record, text, line->header) &&
	       (line->kind != XID_LINE_XID || record->continued);
}

static bool has(const struct kmsg_record *record, const char *text, const char *part)
{
	return memmem(text, record->text_len, part, strlen(part));
}

/* Whether a rule of the packet filter has printed it, after up to 127 bytes that its user chooses: nf_log_*() in
 * net/netfilter/nf_log_syslog.c. Lines that quote a name, as an Xid's, are not looked at for less than a name can hold:
 * whoever chooses the name could hide them. */
static bool is_of_packet(const struct kmsg_record *record, const char *text,
			 const struct kernel_line *line)
{
	if (line->proof == KERNEL_LINE_BY_KERNEL &&
	    (line->kind == KERNEL_LINE_EVENT || line->kind == KERNEL_LINE_REPORT ||
	     line->kind == KERNEL_LINE_TASK))
		return has(record, text, "IN=") && has(record, text, " OUT=") &&
		       has(record, text, "SRC=") && has(record, text, "DST=");
	return has(record, text, "OUT=") || has(record, text, "HTYPE=");
}

bool form_of_line(const struct kmsg_record *record, const char *text,
		  const struct kernel_line *line)
{
	if (!begins_record(record, text, line->text))
		return false;
	switch (line->proof) {
	case KERNEL_LINE_BY_DRIVER:
		/* The driver's resource manager prints without a level, as if it continued a line; nv_printf() of its
		 * kernel interface has one, as in "loading". No name of a process is as long as these lines. */
		return !is_of_packet(record, text, line);
	case KERNEL_LINE_FOR_PCI:
		return !strncmp(record->device, "+pci:", 5) &&
		       !strcmp(record->device + 5, line->device);
	case KERNEL_LINE_FOR_DEVICE:
		return *record->device;
	case KERNEL_LINE_BY_KERNEL:
		break;
	}
	return !record->continued && !is_of_packet(record, text, line);
}
