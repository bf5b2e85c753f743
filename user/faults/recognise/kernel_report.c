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
 * It is one event, with the module that failed: that of RIP, or else the first on the stack. Of a CPU that is stuck, and of a
 * task that hangs, it is the first function of NFS or of the GPU driver that counts, because it spins or waits on behalf of
 * that. The stacks of other CPUs, which may follow, do not count. A report is handed out at its end, with the next one, or 1.5 s
 * after its last line. Its task is looked up when its line is read. An oops kills the task: then bpf/spinning.bpf.c has kept its
 * group. The event's text is the first line and "cuda-EvtHandlr/4711 of job 71 on cpu3 in uvm_hmm_unregister_gpu". */
#include "base/cgroup.h"
#include "base/process.h"
#include "base/safe_text.h"
#include "faults/recognise/recognise.h"

#define REPORT_NS 1500000000ull /* a log may have whole seconds only */

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
					      .again = r->again,
					      .pid = r->pid,
					      .comm = r->comm,
					      .text = text };

	if (r->hangs && is_gpu_module(span_of(r->watched.module))) {
		signal.kind = "gpu_hang";
		signal.device = r->watched.module;
	}
	describe_report(r, place, about, sizeof(about));
	snprintf(text, sizeof(text), "%s%s%s", r->text, *about ? ": " : "", about);
	fault_events_add_signal(e, &signal);
}

void fault_events_add_task(struct fault_events *e, const char *device, int pid,
			   const char *function, uint64_t since_ns, bool again)
{
	uint64_t now_ns = monotonic_ns();
	bool runs = !strncmp(device, "cpu", 3);
	struct kernel_report r = { .time_ns = now_ns, .stuck = true, .again = again, .pid = pid };

	r.kind = runs ? "kernel_spin" : "gpu_hang";
	SET_WORD(r.cpu, device);
	SET_WORD(r.top.function, function);
	process_comm(pid, now_ns, r.comm, sizeof(r.comm));
	task_owner(r.owner, sizeof(r.owner), pid, now_ns, NULL);
	snprintf(r.text, sizeof(r.text), "a task has %s for %d s on %s",
		 runs ? "run in the kernel" : "hung", (int)((now_ns - since_ns) / 1000000000),
		 device);
	hand_out(e, &r);
}

/* An oops often comes with a warning, or after the line on what is corrupt. */
static int gravity(const char *kind)
{
	return !strcmp(kind, "kernel_oops") ? 2 : strcmp(kind, "kernel_warning") != 0;
}

void kernel_report_end(struct fault_events *e)
{
	struct kernel_report *r = &e->report;

	if (r->kind)
		hand_out(e, r);
	r->ended = r->kind && !r->stuck && gravity(r->kind);
	r->kind = NULL;
}

void kernel_report_expire(struct fault_events *e, uint64_t now_ns)
{
	if (e->report.kind && now_ns > e->report.last_ns + REPORT_NS)
		kernel_report_end(e);
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

/* Whether another than the report's caller has printed the line. */
static bool is_of_other_caller(const struct kernel_report *r, const struct kernel_line *line)
{
	return *r->caller && line->caller && strcmp(r->caller, line->caller) != 0;
}

/* Whether the line is the panic to which the report, but not of a task that hangs, has led: an oops. It may come behind its end. */
static bool is_its_panic(struct kernel_report *r, const struct kernel_line *line, uint64_t time_ns)
{
	if (strncmp(line->text, "Kernel panic", 12) != 0 || !(r->kind || r->ended) ||
	    time_ns > r->last_ns + REPORT_NS || is_of_other_caller(r, line) || r->hangs)
		return false;
	r->kind = r->kind ? line->name : NULL;
	r->stuck = false;
	return true;
}

void kernel_report_begin(struct fault_events *e, const struct kernel_line *line, uint64_t time_ns)
{
	struct kernel_report *r = &e->report;
	bool stuck = strncmp(line->name, "kernel_", 7) != 0, begins = r->kind && !*r->top.function;
	struct kernel_report begun;

	if (is_its_panic(r, line, time_ns))
		return;
	/* Printing from an interrupt may cause a warning, in the middle of the report. One of a task that hangs has no RIP. */
	if (begins && r->stuck && !*r->first.module && !strcmp(line->name, "kernel_warning"))
		return;
	if (begins && !stuck && !r->stuck) {
		bool graver = gravity(line->name) > gravity(r->kind);

		if (graver && !is_of_other_caller(r, line))
			r->kind = line->name;
		if (!graver || !is_of_other_caller(r, line))
			return;
	}
	begun = (struct kernel_report){ .kind = line->name,
					.time_ns = time_ns,
					.last_ns = time_ns,
					.stuck = stuck,
					.hangs = !strcmp(line->name, "hung_task"),
					.pid = -1 };
	if (stuck)
		SET_WORD(begun.cpu, line->device);
	if (line->caller)
		SET_WORD(begun.caller, line->caller);
	set_task(&begun, e, line, time_ns);
	snprintf(begun.text, sizeof(begun.text), "%.*s", (int)line->text_len, line->text);
	/* A CPU that waits for a lock which an oops has left held locks up in the middle of the oops, which goes on. */
	if (begins && stuck && !r->stuck) {
		hand_out(e, &begun);
		r->aside = true;
		SET_WORD(r->other, begun.cpu);
		return;
	}
	kernel_report_end(e);
	*r = begun;
}

/* Whether the line, in the middle of an oops, is another CPU's. The log may show who prints. Otherwise the other's lines
 * follow its first one or its task, up to this one's task. Of two RIPs the first is that of the first task. */
static bool is_aside(struct kernel_report *r, const struct kernel_line *line, bool task)
{
	const char *cpu = *r->cpu ? r->cpu : r->other;

	if (r->stuck || *r->top.function || (*r->caller && line->caller))
		return !r->stuck && is_of_other_caller(r, line);
	if (task) {
		bool other = *cpu && (cpu == r->cpu) == (strcmp(cpu, line->device) != 0);

		r->other_rip |= other && r->aside;
		r->aside = other;
	} else if (line->kind == KERNEL_LINE_RIP) {
		r->aside = r->other_rip;
		r->other_rip = false;
	} else if (line->kind == KERNEL_LINE_TASK) { /* of a stall */
		SET_WORD(r->other, line->device);
		return true;
	}
	return r->aside && line->kind != KERNEL_LINE_REPORT_ENDS;
}

void kernel_place_set(struct kernel_place *place, struct span function, struct span module)
{
	static const char *const built_in[][2] = {
		{ "nfs_", "nfs" },     { "nfs4_", "nfsv4" },    { "rpc_", "sunrpc" },
		{ "xprt_", "sunrpc" }, { "nlmclnt_", "lockd" },
	};

	span_copy(span_cut(function, sizeof(place->function) - 1), place->function,
		  sizeof(place->function));
	for (size_t i = 0; i < COUNT(built_in) && !span_left(module); i++)
		if (span_starts_with(function, built_in[i][0]))
			module = span_of(built_in[i][1]);
	span_copy(span_cut(module, sizeof(place->module) - 1), place->module,
		  sizeof(place->module));
}

void kernel_report_add(struct fault_events *e, const struct kernel_line *line, uint64_t time_ns)
{
	struct kernel_report *r = &e->report, other;
	bool task = !strcmp(line->name, "task");
	struct kernel_place place;

	if (!r->kind)
		return;
	r->last_ns = time_ns;
	if (is_aside(r, line, task))
		return;
	/* Of a task that hangs there is no such line: the stacks of all CPUs may follow. */
	if (line->kind == KERNEL_LINE_REPORT_ENDS ||
	    (task && (r->hangs || (*r->cpu && strcmp(r->cpu, line->device) != 0)))) {
		kernel_report_end(e);
		return;
	}
	/* RCU names all CPUs first. The stack that follows is the first one's. */
	if (line->kind == KERNEL_LINE_TASK && !task && *r->cpu) {
		other = *r;
		SET_WORD(other.cpu, line->device);
		hand_out(e, &other);
		return;
	}
	if (line->kind == KERNEL_LINE_TASK && !*r->cpu)
		SET_WORD(r->cpu, line->device);
	set_task(r, e, line, time_ns);
	if (!*line->function)
		return;
	kernel_place_set(&place, span_of(line->function), span_of(line->device));
	if (line->kind == KERNEL_LINE_RIP && !*r->top.function)
		r->top = place;
	if (*place.module && !*r->first.module)
		r->first = place;
	if (fault_module_is_watched(place.module) && !*r->watched.module)
		r->watched = place;
}
