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
 * first function of NFS or of the GPU driver that counts, because it spins on behalf of that. The stacks of other CPUs, which
 * may follow, do not count. A report is handed out at its end, with the next one, or a second after its last line. Its task is
 * looked up when its line is read. An oops kills the task: then bpf/spinning.bpf.c has kept its group. The event's text is the
 * first line and "cuda-EvtHandlr/4711 of job 71 on cpu3 in uvm_hmm_unregister_gpu". */
#include "base/cgroup.h"
#include "base/process.h"
#include "base/safe_text.h"
#include "faults/recognise/recognise.h"

#define REPORT_NS 1000000000ull

#define SET_WORD(to, from) safe_copy(to, sizeof(to), from, strlen(from), false, "")

/* Of a task that has ended. */
static void read_dead_group(struct cgroup *c, const struct dead_task *dead)
{
	char path[DEAD_LEVELS * sizeof(dead->groups[0])] = "";
	size_t len = 0;

	for (int i = DEAD_LEVELS; i-- > 0;)
		if (*dead->groups[i])
			len += (size_t)snprintf(path + len, sizeof(path) - len, "/%s",
						dead->groups[i]);
	cgroup_of_path(c, path);
}

void task_owner(char *owner, size_t size, int pid, uint64_t time_ns, const struct dead_task *dead)
{
	char text[4096];
	struct cgroup c;

	*owner = 0;
	dead = dead && pid > 0 ? &dead[pid % DEAD_TASKS] : NULL;
	if (process_text(pid, time_ns, "cgroup", text, sizeof(text)))
		cgroup_read(&c, text);
	else if (dead && dead->pid == pid)
		read_dead_group(&c, dead);
	else
		return;
	if (*c.job)
		snprintf(owner, size, " of job %s", c.job);
	else if (*c.pod)
		snprintf(owner, size, " of pod %s", c.pod);
}

static void describe_report(const struct kernel_report *r, const struct kernel_place *place,
			    char *about, size_t size)
{
	const struct {
		const char *before, *text;
	} parts[] = {
		{ "on ", r->stuck ? "" : r->cpu },
		{ "in ", place->function },
	};
	int len = *r->comm ? snprintf(about, size, "%s/%d%s", r->comm, r->pid, r->owner) : 0;

	about[len] = 0;
	ARRAY_EACH(part, parts, COUNT(parts))
		if (*part->text)
			len += snprintf(about + len, size - (size_t)len, "%s%s%s", len ? " " : "",
					part->before, part->text);
}

static void hand_out(struct fault_events *e, const struct kernel_report *r)
{
	const struct kernel_place *place = r->stuck && *r->watched.module ? &r->watched :
					   !r->stuck && !*r->top.module && *r->first.module ?
									    &r->first :
									    &r->top;
	char about[sizeof(r->comm) + sizeof(r->owner) + sizeof(place->function) + 48];
	char text[sizeof(r->text) + sizeof(about) + 2];
	struct fault_signal_report signal = { .kind = r->kind,
					      .device = r->stuck ? r->cpu : place->module,
					      .about = about,
					      .time_ns = r->time_ns,
					      .pid = r->pid,
					      .comm = r->comm,
					      .text = text };

	describe_report(r, place, about, sizeof(about));
	snprintf(text, sizeof(text), "%s%s%s", r->text, *about ? ": " : "", about);
	fault_events_add_signal(e, &signal);
}

void kernel_report_end(struct fault_events *e)
{
	if (e->report.kind)
		hand_out(e, &e->report);
	e->report.kind = NULL;
}

void kernel_report_expire(struct fault_events *e, uint64_t now_ns)
{
	if (e->report.kind && now_ns > e->report.last_ns + REPORT_NS)
		kernel_report_end(e);
}

/* An oops often comes with a warning, or after the line on what is corrupt. */
static int gravity(const char *kind)
{
	return !strcmp(kind, "kernel_oops") ? 2 : strcmp(kind, "kernel_warning") != 0;
}

static void set_task(struct kernel_report *r, const struct fault_events *e,
		     const struct kernel_line *line, uint64_t time_ns)
{
	if (!*line->comm || *r->comm)
		return;
	r->pid = line->pid;
	snprintf(r->comm, sizeof(r->comm), "%s", line->comm);
	task_owner(r->owner, sizeof(r->owner), r->pid, time_ns, e->dead);
}

void kernel_report_begin(struct fault_events *e, const struct kernel_line *line, uint64_t time_ns)
{
	struct kernel_report *r = &e->report;
	bool stuck = strncmp(line->name, "kernel_", 7) != 0;
	struct kernel_report begun;

	/* Printing from an interrupt may cause a warning, in the middle of the report. */
	if (r->kind && r->stuck && !*r->top.function && !strcmp(line->name, "kernel_warning"))
		return;

	if (r->kind && !stuck && !r->stuck && !*r->top.function) {
		if (gravity(line->name) > gravity(r->kind))
			r->kind = line->name;
		return;
	}
	begun = (struct kernel_report){ .kind = line->name,
					.time_ns = time_ns,
					.last_ns = time_ns,
					.stuck = stuck,
					.pid = -1 };
	if (stuck)
		SET_WORD(begun.cpu, line->device);
	set_task(&begun, e, line, time_ns);
	snprintf(begun.text, sizeof(begun.text), "%.*s", (int)line->text_len, line->text);
	/* A CPU that waits for a lock which an oops has left held locks up in the middle of the oops, which goes on. */
	if (r->kind && stuck && !r->stuck && !*r->top.function) {
		hand_out(e, &begun);
		return;
	}
	kernel_report_end(e);
	*r = begun;
}

void kernel_report_add(struct fault_events *e, const struct kernel_line *line, uint64_t time_ns)
{
	struct kernel_report *r = &e->report;
	struct kernel_place place;
	bool other_cpu;

	if (!r->kind)
		return;
	r->last_ns = time_ns;
	other_cpu = *line->comm && *r->cpu && strcmp(r->cpu, line->device) != 0;
	if (other_cpu && !r->stuck && !*r->top.function)
		return;
	if (line->kind == KERNEL_LINE_REPORT_ENDS || other_cpu) {
		kernel_report_end(e);
		return;
	}
	if (line->kind == KERNEL_LINE_TASK && !*r->cpu)
		SET_WORD(r->cpu, line->device);
	set_task(r, e, line, time_ns);
	if (!*line->function)
		return;
	SET_WORD(place.function, line->function);
	SET_WORD(place.module, line->device);
	if (line->kind == KERNEL_LINE_RIP && !*r->top.function)
		r->top = place;
	if (*place.module && !*r->first.module)
		r->first = place;
	if (fault_module_is_watched(place.module) && !*r->watched.module)
		r->watched = place;
}
