// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reports of the kernel that take many lines: an oops, a warning, corrupt memory, a CPU that is stuck.
 *
 *	BUG: kernel NULL pointer dereference, address: 00000000000000a8		begins it
 *	Oops: Oops: 0000 [#1] SMP NOPTI						the same one
 *	CPU: 3 UID: 1000 PID: 4711 Comm: cuda-EvtHandlr Tainted: ...		whom it met
 *	RIP: 0010:uvm_hmm_unregister_gpu+0x51/0x3a0 [nvidia_uvm]		where
 *	 uvm_gpu_release+0x10/0x20 [nvidia_uvm]					called by, of which "? f+0x1/0x2" is a guess
 *	---[ end trace 0000000000000000 ]---					ends it, but not all
 *
 * It is one event, with the module that failed: that of RIP, or else the first on the stack. Of a CPU that is stuck it is the
 * first function of NFS or of the GPU driver that counts, because it spins on behalf of that. A report is handed out at its end,
 * with the next one, or after a second. */
#include "base/safe_text.h"
#include "faults/recognise/recognise.h"

#define REPORT_NS 1000000000ull

void kernel_report_end(struct fault_events *e)
{
	struct kernel_report *r = &e->report;
	const struct kernel_place *place = r->stuck && *r->watched.module ? &r->watched :
					   !r->stuck && !*r->top.module && *r->first.module ?
									    &r->first :
									    &r->top;
	char about[sizeof(r->task) + sizeof(place->function) + 8];
	const struct fault_signal_report signal = { .kind = r->kind,
						    .device = r->stuck ? r->cpu : place->module,
						    .about = about,
						    .time_ns = r->time_ns,
						    .pid = -1,
						    .text = r->text,
						    .text_len = strlen(r->text) };

	if (!r->kind)
		return;
	snprintf(about, sizeof(about), "%s%s%s", r->task,
		 *r->task && *place->function ? " in " : "", place->function);
	r->kind = NULL;
	fault_events_add_signal(e, &signal);
}

void kernel_report_expire(struct fault_events *e, uint64_t now_ns)
{
	if (e->report.kind && now_ns >= e->report.time_ns + REPORT_NS)
		kernel_report_end(e);
}

/* An oops often comes with a warning, or after the line on what is corrupt. */
static int gravity(const char *kind)
{
	return !strcmp(kind, "kernel_oops") ? 2 : strcmp(kind, "kernel_warning") != 0;
}

void kernel_report_begin(struct fault_events *e, const struct kernel_line *line, uint64_t time_ns)
{
	struct kernel_report *r = &e->report;
	bool stuck = strncmp(line->name, "kernel_", 7) != 0;

	if (r->kind && !stuck && !r->stuck && !*r->top.function) {
		if (gravity(line->name) > gravity(r->kind))
			r->kind = line->name;
		return;
	}
	kernel_report_end(e);
	*r = (struct kernel_report){ .kind = line->name, .time_ns = time_ns, .stuck = stuck };
	safe_copy(r->cpu, sizeof(r->cpu), line->device, strlen(line->device), false, "");
	snprintf(r->task, sizeof(r->task), "%s", line->task);
	snprintf(r->text, sizeof(r->text), "%.*s", (int)line->text_len, line->text);
}

void kernel_report_add(struct fault_events *e, const struct kernel_line *line)
{
	struct kernel_report *r = &e->report;
	struct kernel_place place;

	if (!r->kind)
		return;
	if (line->kind == KERNEL_LINE_REPORT_ENDS)
		kernel_report_end(e);
	if (*line->task && !*r->task)
		snprintf(r->task, sizeof(r->task), "%s", line->task);
	if (!*line->function)
		return;
	snprintf(place.function, sizeof(place.function), "%s", line->function);
	safe_copy(place.module, sizeof(place.module), line->device, strlen(line->device), false,
		  "");
	if (line->kind == KERNEL_LINE_RIP && !*r->top.function)
		r->top = place;
	if (*place.module && !*r->first.module)
		r->first = place;
	if (fault_module_is_watched(place.module) && !*r->watched.module)
		r->watched = place;
}
