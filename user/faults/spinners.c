// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tasks that run in the kernel without leaving it.
 *
 * A CPU that a task spins on in the kernel serves nobody else. The kernel's watchdogs see it only if the task gives up no
 * CPU: one that loops and calls cond_resched() may do so for days, and watchdogs can be off. What each CPU runs shows both.
 * Every 5 s a BPF program reads that from the run queues (256 CPUs: 30 us; reading all tasks would cost hundreds of times
 * as much). A task may spin if between two looks 40 s apart its user time and its counts of reads and writes that have
 * returned are unchanged, and it has run for three quarters of the time or more. Its system time must have grown as well, but
 * by a thirtieth is enough: it is counted in ticks, of which a busy virtual machine loses most. Where a CPU has no ticks
 * (nohz_full), a task's user time is counted only when it enters the kernel, and system time tells.
 *
 *	at 100 s	python3/4711 on cpu3	user 17.2 s, 900 reads, has run for 22.3 s, in the kernel 5.1 s
 *	at 115 s	...			the same, 37.2 s, 20.0 s
 *	at 140 s	...			the same, 62.1 s, 44.9 s: it may spin
 *	at 143 s	...			has made no system call since: it spins
 *
 * User time is counted in ticks as well: a task with long system calls may have none. Therefore a program is attached to them for
 * the last 3 s. A second one is attached to the expiry of timers, because the stack of a task that runs on another CPU cannot be
 * read until a timer interrupts it. Both stay while a task spins: to attach them again, the kernel would wait until all CPUs have
 * left what they run. Threads of the kernel and of io_uring may run for hours because there is work: they count only in a
 * function of NFS or of the GPU driver. */
#include "faults/fault_observer.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "base/file_text.h"
#include "spinning.skel.h"

#define LOOK_NS 5000000000ull
#define SPIN_NS 40000000000ull
#define LOST_NS 40000000000ull /* meanwhile others ran on its CPU at each look */
#define ASK_NS 3000000000ull

void spinners_free(struct spinners *s)
{
	spinning_bpf__destroy(s->bpf);
	free(s->list);
	*s = (struct spinners){ .failed = s->failed };
}

/* ---- who spins ---- */

/* Notes that @cpu runs @now. */
static void note_task(struct spinners *s, const struct spin_task *now, unsigned int cpu,
		      uint64_t now_ns)
{
	struct spinner *t = ARRAY_FIND(x, s->list, s->count,
				       x->since.pid == now->pid && x->since.began == now->began);
	bool goes_on = t && t->since.outside == now->outside &&
		       now->run_ns - t->since.run_ns >= (now_ns - t->since_ns) / 4 * 3 &&
		       now->system_ns - t->since.system_ns >= (now_ns - t->since_ns) / 30;

	t = t ?: ARRAY_APPEND(s->list, s->count);
	if (!goes_on)
		*t = (struct spinner){ .since = *now, .since_ns = now_ns };
	t->seen_ns = now_ns;
	t->cpu = cpu;
}

struct spinner *spinners_take(struct spinners *s, const struct spin_task *tasks, size_t cpus,
			      uint64_t now_ns)
{
	struct spinner *found = NULL;
	size_t kept = 0;

	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (tasks[cpu].pid)
			note_task(s, &tasks[cpu], cpu, now_ns);
	for (size_t i = 0; i < s->count; i++)
		if (now_ns < s->list[i].seen_ns + LOST_NS)
			s->list[kept++] = s->list[i];
	s->count = kept;
	ARRAY_EACH(t, s->list, s->count)
		if (t->seen_ns == now_ns &&
		    now_ns >= (t->told_ns ? t->told_ns : t->since_ns) + SPIN_NS)
			found = t;
	return found;
}

bool spinners_function(struct span stack, struct kernel_place *place)
{
	struct span line;

	*place = (struct kernel_place){};
	while (span_next_line(&stack, &line)) {
		struct kernel_place p = {};
		struct span function = span_take_until(&line, "+");
		bool watched;

		span_take_until(&line, "[");
		span_take(&line, "[");
		kernel_place_set(&p, function, span_take_until(&line, "]"));
		watched = fault_module_is_watched(p.module);
		if (watched || (*p.module && !*place->module))
			*place = p;
		if (watched)
			return true;
	}
	return false;
}

/* ---- the kernel side ---- */

/* Looks at all tasks, and reads the functions of the stack. */
static struct span run_iterator(struct spinning_bpf *bpf, char *text, size_t size)
{
	struct bpf_link *link = bpf_program__attach_iter(bpf->progs.look_at_tasks, NULL);
	OPEN_FILE fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	struct span stack = { text, text };
	ssize_t n;

	while (fd >= 0 && (n = read(fd, text + span_left(stack), size - span_left(stack))) > 0)
		stack.end += n;
	bpf_link__destroy(link);
	return stack;
}

/* Once: CPUs that the kernel starts later are not looked at. Returns whether there is a queue. */
static bool find_queues(struct spinning_bpf *bpf)
{
	char none[1];

	run_iterator(bpf, none, sizeof(none));
	return ARRAY_FIND(q, bpf->bss->spin_queues, SPIN_CPUS, *q);
}

static bool load_once(struct spinners *s, const struct log *log)
{
	if (s->bpf || s->failed)
		return s->bpf;
	bpf_error_log_clear();
	s->bpf = spinning_bpf__open_and_load();
	s->failed = !s->bpf || !find_queues(s->bpf);
	if (!s->failed) {
		s->bpf->links.task_dies = bpf_program__attach(s->bpf->progs.task_dies);
		bpf_object_memory(s->bpf->obj, &s->memory);
		return true;
	}
	log_info(log, "cannot look for tasks that spin in the kernel: %s",
		 s->bpf ? "the kernel does not show what its CPUs run" : bpf_reason(errno));
	spinning_bpf__destroy(s->bpf);
	s->bpf = NULL;
	return false;
}

/* The task that was asked for has made a system call or ended: its time begins again. */
static void forget_spinner(struct spinners *s, uint64_t now_ns)
{
	ARRAY_EACH(t, s->list, s->count)
		if (t->told_ns == s->asked.told_ns)
			*t = (struct spinner){ t->since, now_ns, t->seen_ns, 0, t->cpu };
}

static void tell_spinner(struct spinners *s, struct fault_events *e)
{
	const struct spinner *t = &s->asked;
	char cpu[16], stack[SPIN_FRAMES * 128];
	struct kernel_place place;
	bool watched = spinners_function(run_iterator(s->bpf, stack, sizeof(stack)), &place);

	if (t->since.of_kernel && !watched)
		return;
	snprintf(cpu, sizeof(cpu), "cpu%u", t->cpu);
	fault_events_add_task(e, cpu, t->since.pid, place.function, t->since_ns, false);
}

static void ask_for_stack(struct spinners *s, struct spinner *t, uint64_t now_ns)
{
	t->told_ns = now_ns;
	s->asked = *t;
	s->asked_ns = now_ns;
	s->bpf->bss->spin_frames[0] = 0;
	s->bpf->bss->spin_wanted = (uint32_t)t->since.pid;
	if (!s->bpf->links.running_stack)
		s->bpf->links.running_stack = bpf_program__attach(s->bpf->progs.running_stack);
	if (!s->bpf->links.makes_call)
		s->bpf->links.makes_call = bpf_program__attach(s->bpf->progs.makes_call);
}

void spinners_look(struct spinners *s, struct fault_events *e, uint64_t now_ns)
{
	struct spinner *t = NULL;

	if (!load_once(s, e->log))
		return;
	e->dead = (const struct dead_task *)s->bpf->bss->dead_tasks;
	if (s->asked_ns && now_ns >= s->asked_ns + ASK_NS) {
		s->asked_ns = 0;
		if (s->bpf->bss->spin_wanted)
			tell_spinner(s, e);
		else
			forget_spinner(s, now_ns);
		s->bpf->bss->spin_wanted = 0;
	}
	if (now_ns >= s->looked_ns + LOOK_NS) {
		s->looked_ns = now_ns;
		bpf_run(s->bpf->progs.running_tasks, NULL, 0);
		t = spinners_take(s, (const struct spin_task *)s->bpf->bss->spin_tasks, SPIN_CPUS,
				  now_ns);
	}
	if (t && !s->asked_ns)
		ask_for_stack(s, t, now_ns);
	if (!ARRAY_FIND(x, s->list, s->count, x->told_ns)) {
		bpf_link__destroy(s->bpf->links.running_stack);
		bpf_link__destroy(s->bpf->links.makes_call);
		s->bpf->links.running_stack = s->bpf->links.makes_call = NULL;
	}
}
