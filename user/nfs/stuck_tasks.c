// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "nfs/stuck_tasks.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/process.h"
#include "stuck.h"
#include "stuck_tasks.skel.h"

/* The kernel fills so much before it returns from a read. */
#define PART_PAGES 8

/* A call that has been outstanding for this long explains why a task hangs. So does a server that had calls outstanding at
 * each of the last LOOKS snapshots, because it may be slow. Occasional calls do not. */
#define LONG_CALL_NS 10000000000ull
#define LOOKS 4

/* The server answers "try later" in a series if it does so at least this often. The client then waits 5 s (EJUKEBOX), or up to
 * 15 s (NFS4ERR_DELAY). A series of this length explains why a task hangs. */
#define DELAYED_APART_NS 20000000000ull
#define DELAYED_LONG_NS 45000000000ull

/* A wait for the lock manager that is no lack of speed. */
#define LOCKD_NS 5000000000ull

struct stuck_server {
	char server[LABEL_SIZE];
	unsigned int looks; /* bits: it had calls outstanding; the last look is the lowest */
	uint64_t oldest_ns; /* at the last look: age of its oldest outstanding call */
	uint64_t delays, delay_begin_ns, delay_end_ns; /* "try later": how often; the last series */
	uint64_t credentials_ns; /* at the last look: grows while a call waits for them */
	uint64_t lock_answers,
		lock_answered_ns; /* of its lock manager: how many; the last came after this time */
	uint64_t explains_ns; /* when its calls explained last why tasks hang; 0: never */
	enum stuck_cause explains; /* they do now */
};

void stuck_tasks_free(struct stuck_tasks *t)
{
	stuck_tasks_bpf__destroy(t->bpf);
	free(t->tasks);
	free(t->before);
	free(t->servers);
	*t = (struct stuck_tasks){};
}

/* ---- servers ---- */

static struct stuck_server *find_server(const struct stuck_tasks *t, const char *server)
{
	return ARRAY_FIND(w, t->servers, t->server_count, !strcmp(w->server, server));
}

/* Whether calls to the server are outstanding; true if it is not known. */
static bool has_calls(const struct calls *c, const struct rpc_server_state *v)
{
	return (!snapshot_knows(c, RPC_FACT_SLOTS_IN_FLIGHT) &&
		!snapshot_knows(c, RPC_FACT_OLDEST + RPC_QUEUE_PENDING)) ||
	       v->oldest_ns[server_oldest(v)] ||
	       CALLS_FIND(t, c, transport, v->server, t->slots_in_flight);
}

/* How often the server has answered that a call be made again later. The call may be another one then, or wait within the NFS
 * client: no call is in a queue meanwhile. */
static uint64_t count_delays(const struct calls *c, const char *server)
{
	static const char *const delays[] = { "EJUKEBOX", "NFS4ERR_DELAY", "NFS4ERR_GRACE" };
	uint64_t count = 0;

	CALLS_EACH(e, c, error, server)
		if (ARRAY_FIND(d, delays, COUNT(delays), !strcmp(*d, e->status)))
			count += e->count;
	return count;
}

/* Whether the server has long been answering so. */
static bool is_delaying(struct stuck_server *w, const struct snapshot *s)
{
	uint64_t delays = count_delays(&s->calls, w->server);

	if (delays > w->delays) {
		if (s->time_ns > w->delay_end_ns + DELAYED_APART_NS)
			w->delay_begin_ns = s->time_ns;
		w->delay_end_ns = s->time_ns;
	}
	w->delays = delays;
	return w->delay_end_ns >= w->delay_begin_ns + DELAYED_LONG_NS &&
	       s->time_ns <= w->delay_end_ns + DELAYED_APART_NS;
}

void stuck_tasks_watch(struct stuck_tasks *t, const struct snapshot *s)
{
	size_t kept = 0;

	/* Those that are gone are forgotten. */
	ARRAY_EACH(w, t->servers, t->server_count)
		if (CALLS_FIND(v, &s->calls, server, w->server, true))
			t->servers[kept++] = *w;
	t->server_count = kept;
	ARRAY_EACH(v, s->calls.servers, s->calls.server_count) {
		struct stuck_server *w = find_server(t, v->server);
		uint64_t answers = v->lock_calls - v->lock_errors;

		if (!w) {
			w = ARRAY_APPEND(t->servers, t->server_count);
			memcpy(w->server, v->server, sizeof(w->server));
			w->looks = -1u;
			w->delays = count_delays(&s->calls, v->server);
			w->lock_answers = answers;
		}
		w->looks = w->looks << 1 |
			   (has_calls(&s->calls, v) || v->credentials_ns > w->credentials_ns);
		w->oldest_ns = v->oldest_ns[server_oldest(v)];
		w->credentials_ns = v->credentials_ns;
		if (w->lock_answers != answers)
			w->lock_answered_ns = t->watched_ns;
		w->lock_answers = answers;
		w->explains = is_delaying(w, s) ? STUCK_DELAYED :
			      w->oldest_ns >= LONG_CALL_NS || !(~w->looks & ((1u << LOOKS) - 1)) ?
						  STUCK_RPC :
						  STUCK_NO_RPC;
		if (w->explains)
			w->explains_ns = s->time_ns;
	}
	t->watched_ns = s->time_ns;
}

/* ---- a task ---- */

/* The mount of the device; NULL: not known. It is not the node's only mount instead: the task may be a pod's, which has others. */
static const struct nfs_mount *mount_of(const struct calls *c, uint64_t device)
{
	return device ? ARRAY_FIND(m, c->mounts, c->mount_count, m->device == device) : NULL;
}

/* Why the task hangs: for its own call, or for calls to its server; if its server is not known, for calls to any server. If none
 * explains it, *@since_ns is the time since which that is true. */
static enum stuck_cause cause_of(const struct stuck_tasks *t, const struct stuck_task *task,
				 const struct nfs_mount *mount, uint64_t *since_ns)
{
	enum stuck_cause cause = task->waits_for_call ? STUCK_RPC : STUCK_NO_RPC;

	if (mount && !find_server(t, mount->server))
		mount = NULL;
	*since_ns = task->since_ns;
	ARRAY_EACH(w, t->servers, t->server_count) {
		if (mount && strcmp(mount->server, w->server) != 0)
			continue;
		RAISE(cause, w->explains);
		RAISE(*since_ns, w->explains_ns);
	}
	return task->waits_for_lockd ? STUCK_LOCKD : task->waits_for_gssd ? STUCK_GSSD : cause;
}

static bool begins_with(struct span name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (span_starts_with(name, *prefixes))
			return true;
	return false;
}

/* Reads a line of the stack, " FUNCTION+0x1/0x2 [MODULE]"; built-in functions have no module. Returns whether the function
 * belongs to the NFS server. */
static bool take_function(struct stuck_task *task, struct span line)
{
	static const char *const server[] = { "nfsd", "svc_", NULL };
	static const char *const client[] = { "nfs",   "_nfs", "__nfs", "rpc_", "__rpc_",
					      "xprt_", "xs_",  "nlm",   NULL };
	static const char *const calls[] = { "rpc_", "__rpc_", "xprt_", "xs_", NULL };
	static const char *const locks[] = { "rwsem_", "down_", "__down_", "rwbase_", NULL };
	struct span name, module;
	bool first;

	span_take_run(&line, " ");
	name = span_take_until(&line, "+ ");
	span_take_field(&line, "[");
	module = span_take_until(&line, "]");
	if (begins_with(name, server) || begins_with(module, server))
		return true;
	/* Some kernels omit the functions of locks, as they omit those of the scheduler. */
	if (!task->client)
		task->waits_for_lock =
			begins_with(name, locks) || ((task->waits_for_lock || !*task->function) &&
						     span_starts_with(name, "nfs_start_io_"));
	first = !*task->module && is_gpu_module(module);
	if (first)
		span_copy(span_cut(module, sizeof(task->module) - 1), task->module,
			  sizeof(task->module));
	if (!*task->function || (!task->client && (first || begins_with(name, client))))
		span_copy(span_cut(name, sizeof(task->function) - 1), task->function,
			  sizeof(task->function));
	task->client |= begins_with(name, client) || span_starts_with(module, "nfs");
	/* nlmclnt_wait(), in older kernels nlmclnt_block(): another task holds the lock. */
	task->waits_for_lockd |= span_starts_with(name, "nlmclnt_") &&
				 strcmp(task->function, "nlmclnt_wait") != 0 &&
				 strcmp(task->function, "nlmclnt_block") != 0;
	task->waits_for_call |= begins_with(name, calls);
	/* Other waits for credentials do not block the task: its call sleeps (RPC_PHASE_SETUP). */
	task->waits_for_gssd |= span_starts_with(name, "gss_cred_init") ||
				span_starts_with(name, "gss_create_upcall");
	return false;
}

/* Reads the stack of the task, and moves @text behind it. */
static struct span take_stack(struct stuck_task *task, struct span *text)
{
	struct span stack = { text->at, text->at };
	bool server = false;

	while (span_starts_with(*text, " ")) {
		server |= take_function(task, span_take_line(text));
		stack.end = text->at;
	}
	if (server)
		task->client = task->waits_for_call = task->waits_for_lock = false;
	return stack;
}

/* A task's first line. The last two: if it was in the same system call at the look before, its switches and the time when it was
 * first found there. */
enum { PID, PROCESS, BEGAN, SWITCHES, ASLEEP, DEVICE, HASH, CALL_SWITCHES, CALL_SINCE, NUMBERS };

static bool take_numbers(struct stuck_task *task, uint64_t *n, struct span line, uint64_t now_ns)
{
	for (int i = 0; i < NUMBERS; i++, span_take_run(&line, " "))
		if (!span_take_number(&line, 10, UINT64_MAX, &n[i]))
			return false;
	*task = (struct stuck_task){ .pid = (int)n[PID],
				     .process = (int)n[PROCESS],
				     .began = n[BEGAN],
				     .switches = n[SWITCHES],
				     .since_ns = counted_since(now_ns, n[ASLEEP]),
				     .device = n[DEVICE] >> 20 << 32 | (n[DEVICE] & 0xfffff) };
	return true;
}

/* A task that waits for a call of its own wakes meanwhile: then it counts since it is in its system call. A call must be outstanding
 * that is as old. Those to lockd are not seen, but its answers are; where the mount is not known, those of any server count. */
static void use_call(const struct stuck_tasks *t, struct stuck_task *task, const uint64_t *n,
		     const struct snapshot *s)
{
	const struct nfs_mount *mount = mount_of(&s->calls, task->device);
	uint64_t since = n[CALL_SINCE];

	if (!since || since >= task->since_ns || !task->waits_for_call ||
	    (task->waits_for_lockd ? !!ARRAY_FIND(w, t->servers, t->server_count,
						  (!mount || !strcmp(w->server, mount->server)) &&
							  w->lock_answered_ns >= since) :
				     !ARRAY_FIND(w, t->servers, t->server_count,
						 w->oldest_ns >= s->time_ns - since)))
		return;
	task->since_ns = since;
	task->switches = n[CALL_SWITCHES];
}

/* When it is stuck, unless it wakes before. */
static uint64_t stuck_since(const struct stuck_task *task)
{
	return task->since_ns + (task->client ? STUCK_NS : STUCK_DRIVER_NS);
}

static bool is_stuck(const struct stuck_task *task, uint64_t now_ns)
{
	return now_ns >= stuck_since(task);
}

/* ---- a look ---- */

/* Reports the task if it is stuck; in NFS, once. */
static void report_task(const struct stuck_tasks *t, const struct snapshot *s,
			struct stuck_task *task, struct span stack)
{
	const struct nfs_mount *mount = mount_of(&s->calls, task->device);
	uint64_t since_ns;

	if (!t->handle || (task->told && task->client) || !is_stuck(task, s->time_ns))
		return;
	t->handle(t->context, task, stack, mount ? mount->mountpoint : "",
		  cause_of(t, task, mount, &since_ns));
	task->told = true;
}

void stuck_tasks_begin(struct stuck_tasks *t)
{
	free(t->before);
	t->before = t->tasks;
	t->before_count = t->count;
	t->tasks = NULL;
	t->count = 0;
}

/* Adds a task that is in the NFS client or in the GPU driver. */
static void add_task(struct stuck_tasks *t, const struct snapshot *s, struct stuck_task task,
		     struct span stack)
{
	/* The same task, asleep since the look before. */
	const struct stuck_task *same = ARRAY_FIND(x, t->before, t->before_count,
						   x->pid == task.pid && x->began == task.began &&
							   x->switches == task.switches);

	if (same) {
		task.since_ns = same->since_ns;
		task.told = same->told;
	}
	report_task(t, s, &task, stack);
	*ARRAY_APPEND(t->tasks, t->count) = task;
	/* The next look is due when this task may be stuck. */
	if (!is_stuck(&task, s->time_ns))
		LOWER(t->due_ns, stuck_since(&task));
}

void stuck_tasks_take(struct stuck_tasks *t, const struct snapshot *s, struct span text)
{
	uint64_t least_ns = t->bpf ? t->bpf->bss->least_asleep_ns : 0, n[NUMBERS];
	struct stuck_task task;
	struct span stack;

	while (span_left(text)) {
		if (!take_numbers(&task, n, span_take_line(&text), s->time_ns))
			continue;
		stack = take_stack(&task, &text);
		task.client |= task.device && ARRAY_FIND(m, s->calls.mounts, s->calls.mount_count,
							 m->device == task.device);
		use_call(t, &task, n, s);
		if (!task.client && !*task.module) {
			if (t->bpf)
				t->bpf->bss->other_stacks[n[HASH] & (STUCK_OTHERS - 1)] = n[HASH];
		} else if (task.since_ns + least_ns <= s->time_ns) {
			if (t->count == STUCK_TASKS_MAX)
				t->no_room++;
			else
				add_task(t, s, task, stack);
		}
	}
	if (t->bpf)
		t->bpf->bss->full = t->count == STUCK_TASKS_MAX;
}

void stuck_tasks_count(const struct stuck_tasks *t, struct snapshot *s)
{
	struct stuck_state *state;
	uint64_t since_ns;

	/* The entries without a mount exist also with 0 tasks, because 0 is known. */
	for (int rpc = 0; rpc < 2; rpc++)
		snapshot_stuck(&s->calls, "", rpc);
	ARRAY_EACH(task, t->tasks, t->count) {
		const struct nfs_mount *mount = mount_of(&s->calls, task->device);
		enum stuck_cause cause = cause_of(t, task, mount, &since_ns);

		if (!task->client || !is_stuck(task, s->time_ns))
			continue;
		state = snapshot_stuck(&s->calls, mount ? mount->mountpoint : "", cause);
		state->tasks++;
		RAISE(state->cause, cause);
		RAISE(state->oldest_ns,
		      counted_since(s->time_ns, cause ? task->since_ns : since_ns));
	}
}

/* @to: of LABEL_SIZE bytes. */
static void name_task(char *to, const struct stuck_task *task, uint64_t now_ns)
{
	char comm[32];

	if (process_comm(task->pid, now_ns, comm, sizeof(comm)))
		snprintf(to, LABEL_SIZE, "%s (%d)", comm, task->process);
}

/* Adds the tasks that, at the last look, waited for credentials, or for long for the lock manager, to their servers. If the file is
 * not known, credentials are those of the first mount with Kerberos. */
static void add_upcalls(const struct stuck_tasks *t, struct snapshot *s)
{
	ARRAY_EACH(task, t->tasks, t->count) {
		const struct nfs_mount *mount = mount_of(&s->calls, task->device);
		uint64_t waited = counted_since(t->looked_ns, task->since_ns);
		struct rpc_server_state *server;

		if (!mount && task->waits_for_gssd)
			mount = ARRAY_FIND(m, s->calls.mounts, s->calls.mount_count, m->kerberos);
		if (!mount || (!task->waits_for_gssd && !task->waits_for_lockd))
			continue;
		server = snapshot_server(&s->calls, mount->server);
		if (server && task->waits_for_gssd && waited >= server->upcall_ns) {
			server->upcall_ns = waited + 1;
			name_task(server->upcall_by, task, s->time_ns);
		} else if (server && task->waits_for_lockd && waited >= LOCKD_NS &&
			   waited > server->lock_wait_ns) {
			server->lock_wait_ns = waited;
			name_task(server->lock_wait_by, task, s->time_ns);
		}
	}
}

/* ---- the kernel side ---- */

/* Loads the programs. @count: also the one that counts sleeping tasks, which needs the address of a variable that only kernels
 * with CONFIG_KALLSYMS_ALL show. Returns 0 or -errno. */
static int load_programs(struct stuck_tasks *t, bool count)
{
	int err;

	bpf_error_log_clear();
	t->bpf = stuck_tasks_bpf__open();
	if (!t->bpf)
		return -errno;
	bpf_program__set_autoload(t->bpf->progs.nobody_sleeps, count);
	err = stuck_tasks_bpf__load(t->bpf) ?: stuck_tasks_bpf__attach(t->bpf);
	if (err) {
		stuck_tasks_bpf__destroy(t->bpf);
		t->bpf = NULL;
	}
	return err;
}

/* False: the kernel refuses it. */
static bool load_once(struct stuck_tasks *t, const struct log *log)
{
	int err;

	if (t->bpf || t->failed)
		return t->bpf;
	err = load_programs(t, true) ? load_programs(t, false) : 0;
	if (err)
		log_info(log, "cannot look for tasks that hang: %s", bpf_reason(-err));
	else
		bpf_object_memory(t->bpf->obj, &t->memory);
	t->failed = err;
	return !err;
}

/* Whether a task may have been asleep since the last snapshot: the kernel counted some then and counts some now, or its count is not known. */
static bool may_have_slept(struct stuck_tasks *t)
{
	bool before = t->sleepers;

	t->sleepers = !bpf_run(t->bpf->progs.nobody_sleeps, NULL, 0);
	return before && t->sleepers;
}

/* Each part is of whole tasks. */
static void read_parts(struct stuck_tasks *t, const struct snapshot *s)
{
	size_t size = PART_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	OPEN_FILE fd = bpf_iter_create(bpf_link__fd(t->bpf->links.stuck_tasks));
	FREED char *text = malloc(size);
	ssize_t n;

	while (text && fd >= 0 && (n = read(fd, text, size)) > 0)
		stuck_tasks_take(t, s, (struct span){ text, text + n });
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): FREED */
}

static void look_at_tasks(struct stuck_tasks *t, const struct snapshot *s, uint64_t least_asleep_ns)
{
	uint64_t begin = thread_cpu_ns(), due_ns;

	t->bpf->bss->least_asleep_ns = least_asleep_ns;
	t->bpf->bss->full = false;
	t->bpf->bss->no_room = 0;
	memset((void *)t->bpf->bss->other_stacks, 0, sizeof(t->bpf->bss->other_stacks));
	stuck_tasks_begin(t);
	t->due_ns = UINT64_MAX;
	read_parts(t, s);
	t->no_room += t->bpf->bss->no_room;
	due_ns = s->time_ns + (least_asleep_ns ? apart_ns(begin, STUCK_APART, STUCK_LEAST_APART_NS,
							  STUCK_APART_NS) :
						 apart_ns(begin, LOCK_APART, 0, STUCK_APART_NS));
	LOWER(t->due_ns, due_ns);
	t->looked_ns = s->time_ns;
}

void stuck_tasks_drop(struct stuck_tasks *t, const struct log *log, struct snapshot *s)
{
	if (t->no_room && !t->told_no_room)
		log_warn(log,
			 "more than %d tasks hang: others are left out, and counted as "
			 "xidscope_events_dropped{reason=\"stuck_task\"}",
			 STUCK_TASKS_MAX);
	t->told_no_room |= t->no_room;
	snapshot_drop(&s->self, "stuck_task", t->no_room);
}

void stuck_tasks_add(struct stuck_tasks *t, const struct log *log, struct snapshot *s, bool driver,
		     stuck_task_handler *handle, void *context)
{
	bool source = s->calls.source != RPC_SOURCE_NONE,
	     nfs = source && (s->calls.mount_count || s->calls.server_count), due;

	if (!source && !driver)
		stuck_tasks_free(t); /* sunrpc may be unloaded */
	if ((!nfs && !driver) || !load_once(t, log))
		return;
	t->handle = handle;
	t->context = context;
	stuck_tasks_watch(t, s);
	due = may_have_slept(t) || t->count || s->time_ns >= t->looked_ns + STUCK_AWAKE_APART_NS;
	if (due && s->time_ns >= t->due_ns)
		look_at_tasks(t, s, STUCK_LOOK_NS);
	if (nfs)
		stuck_tasks_count(t, s);
	add_upcalls(t, s);
	stuck_tasks_drop(t, log, s);
	s->self.map_bytes += t->memory.maps;
	s->self.program_bytes += t->memory.programs;
}

void lock_waiters_add(struct stuck_tasks *t, const struct log *log, struct snapshot *s)
{
	if (!s->calls.mount_count || !snapshot_knows(&s->calls, RPC_FACT_PHASE) ||
	    !load_once(t, log))
		return;
	stuck_tasks_watch(t, s);
	if (s->time_ns >= t->due_ns)
		look_at_tasks(t, s, 0);
	add_upcalls(t, s);
	ARRAY_EACH(task, t->tasks, t->count) {
		const struct nfs_mount *mount = mount_of(&s->calls, task->device);

		if (task->waits_for_lock && mount)
			s->calls.mounts[mount - s->calls.mounts].lock_waiters++;
	}
}
