// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts each fault and each other failure, and hands out an event of it. */
#include "faults/recognise/recognise.h"

#include <sys/stat.h>
#include <zlib.h>

#include "base/cgroup.h"
#include "base/file_text.h"
#include "base/process.h"
#include "base/safe_text.h"
#include "base/span.h"
#include "faults/fault_observer.h"
#include "xid/xid_line.h"

/* The line "fallen off the bus" repeats an Xid 79 just before it, "rm_init_adapter failed" the line RmInitAdapter. */
#define FOLLOWS_SECONDS 60.0
#define UNRECOVERED_SECONDS 180.0 /* A port waits a minute and more for a GPU that it has reset. */

/* The GPU's system processor (GSP) misses heartbeats on GPUs that work: on some laptops two every few minutes. It has
 * stopped if it goes on missing them for longer than any recovery takes. Lines that do not number the GPU may be of several. */
#define HEARTBEAT_GAP_NS (60 * 1000000000ull)
#define HEARTBEATS_NS (300 * 1000000000ull)

/* SET_LABEL: of bytes from outside; SET: of what is a label or a constant. */
#define SET_LABEL(to, from) label_from_bytes(to, sizeof(to), from, strlen(from))
#define SET(to, from) safe_copy(to, sizeof(to), from, strlen(from), false, "...")

static struct event new_event(const struct fault_events *e, enum event_kind kind, uint64_t time_ns)
{
	double time = boot_seconds(&e->clocks, time_ns) + e->clocks.boot_to_wall;

	/* The clock may be set to a time before that of the boot. */
	return (struct event){ .kind = kind,
			       .pid = -1,
			       .replayed = time_ns<e->started_ns, .time = time> 0 ? time : 0,
			       .monotonic_ns = time_ns,
			       .members = "",
			       .text = "" };
}

static void set_uuid(struct fault_events *e, struct event *event)
{
	const struct fault_counts *known = &e->faults->counts;
	const char *uuid = e->holders ? gpu_holders_uuid(e->holders, event->device) : "";
	struct gpu_info *info = *uuid ? faults_gpu(e->faults, event->device) : NULL;

	/* What the driver has in proc is as true as what it has printed, and newer. */
	if (info)
		SET(info->uuid, uuid);
	info = ARRAY_FIND(g, known->gpus, known->gpu_count, !strcmp(g->gpu, event->device));
	if (info)
		SET(event->uuid, info->uuid);
}

static void write_nvlink(struct json *j, const struct nvlink *n)
{
	char word[16];

	json_object(j, "nvlink");
	json_known(j, "unit", n->unit);
	if (n->xc >= 0)
		json_signed(j, "xc", n->xc);
	if (n->instance >= 0)
		json_signed(j, "instance", n->instance);
	if (n->link >= -1)
		json_signed(j, "link", n->link);
	json_array(j, "words");
	for (int i = 0; i < n->word_count; i++) {
		snprintf(word, sizeof(word), "0x%08x", n->words[i]);
		json_text(j, NULL, word);
	}
	json_array_end(j);
	json_object_end(j);
}

/* Writes what the line states beyond device, code and process. */
static void write_details(struct json *j, const struct xid_line *line)
{
	static const char *const fatalities[] = {
		[XID_CORRECTABLE] = "correctable",
		[XID_NONFATAL] = "nonfatal",
		[XID_FATAL] = "fatal",
	};

	if (line->gpu_instance >= 0) {
		json_object(j, "mig");
		json_signed(j, "gpu_instance", line->gpu_instance);
		if (line->compute_instance >= 0)
			json_signed(j, "compute_instance", line->compute_instance);
		json_object_end(j);
	}
	if (line->fatality != XID_FATALITY_UNSTATED)
		json_text(j, "fatality", fatalities[line->fatality]);
	if (line->caused_by)
		json_unsigned(j, "caused_by", line->caused_by);
	if (line->recovery[0]) {
		json_object(j, "recovery");
		json_text(j, "from", line->recovery_from);
		json_text(j, "to", line->recovery);
		json_object_end(j);
	}
	if (line->nvlink.unit[0] || line->nvlink.word_count)
		write_nvlink(j, &line->nvlink);
}

/* Hands out @event with what @line states (NULL: no fault). */
static void hand_out(struct fault_events *e, struct event *event, const struct xid_line *line)
{
	size_t size;
	FREED char *members = TEXT_OF(size, out, {
		struct json j = { .out = out };

		if (line)
			write_details(&j, line);
		/* The driver names nobody. */
		if (e->holders && line && line->kind != XID_LINE_SXID && event->pid < 0 &&
		    !event->replayed)
			json_members(&j, gpu_holders_find(e->holders, event->device));
	});

	event->members = members ?: "";
	e->handle(e->context, event);
}

/* ---- the driver's load ---- */

void fault_events_load_begins(struct fault_events *e, uint64_t time_ns)
{
	if (!e->load_begin_ns)
		e->load_begin_ns = time_ns;
}

void fault_events_loaded(struct fault_events *e)
{
	/* Only a driver that is loaded reports Xids: the load began after the last one. */
	uint64_t over_ns = e->load_begin_ns ? e->load_begin_ns - 1 : e->last_xid_ns;

	e->load_begin_ns = 0;
	fault_events_add_recovery(e, "all", "driver_loaded", over_ns);
}

/* Whether the process that caused it has ended, and perhaps another has its number. */
static bool has_ended(const struct event *event, int pid)
{
	char name[64];

	return event->replayed || !process_comm(pid, event->monotonic_ns, name, sizeof(name));
}

static void add_unverified(struct fault_events *e, const struct xid_line *line,
			   const struct fault_report *r)
{
	struct event event = new_event(e, EVENT_KIND_KERNEL, r->time_ns);

	faults_add_unverified(e->faults, line->pci, line->code);
	SET(event.name, "unverified_xid");
	event.anybodys = true;
	event.text = r->text;
	event.text_len = r->len;
	if (r->printed_by) {
		event.pid = r->printed_pid;
		SET_LABEL(event.comm, r->printed_by);
	}
	hand_out(e, &event, NULL);
}

void fault_events_add_fault(struct fault_events *e, const struct xid_line *line,
			    const struct fault_report *r, bool proved)
{
	bool nvswitch = line->kind == XID_LINE_SXID;
	struct xid_rating rating = xid_policy_rating(e->policy, line);
	struct event event = new_event(e, nvswitch ? EVENT_KIND_SXID : EVENT_KIND_XID, r->time_ns);
	struct fault like = { .code = line->code, .nvswitch = nvswitch, .place = line->place };

	if (!proved) {
		add_unverified(e, line, r);
		return;
	}
	SET(like.device, line->pci);
	/* The cause has its own severity, and has counted. */
	if (line->caused_by && faults_open_since(e->faults, line->pci, line->caused_by, -1))
		rating = (struct xid_rating){ "info", xid_catalog_find(line->code)->action, NULL };
	SET(like.severity, rating.severity);
	SET(like.action, rating.action);
	/* Faults that a user can cause at will. */
	if (!nvswitch && !strcmp(xid_catalog_find(line->code)->category, "app"))
		like.causes[0] = fault_cause("", line->pid, has_ended(&event, line->pid));
	faults_add(e->faults, &like, boot_seconds(&e->clocks, r->time_ns));
	if (!nvswitch)
		RAISE(e->last_xid_ns, r->time_ns);
	if (xid_asks_no_more(line))
		fault_events_add_recovery(
			e, like.device,
			xid_reset_is_done(line) ? "action_none" : RECOVERY_WITHDRAWN, r->time_ns);

	event.code = line->code;
	SET(event.device, like.device);
	SET(event.severity, like.severity);
	SET(event.action, like.action);
	event.text = r->text;
	event.text_len = r->len;
	event.authority = r->authority;
	event.pid = line->pid;
	SET_LABEL(event.comm, line->process);
	if (r->printed_by)
		SET_LABEL(event.printed_by, r->printed_by);
	if (!nvswitch) {
		SET(event.name, xid_catalog_find(line->code)->mnemonic);
		set_uuid(e, &event);
	}
	hand_out(e, &event, line);
}

/* ---- what comes besides faults ---- */

void fault_events_add_signal(struct fault_events *e, const struct fault_signal_report *signal)
{
	struct event event =
		new_event(e, signal->gpu_driver ? EVENT_KIND_DRIVER_ERROR : EVENT_KIND_KERNEL,
			  signal->time_ns);
	const char *device = signal->device ?: "";

	faults_add_kernel_event(e->faults, signal->gpu_driver, signal->kind, device, signal->about,
				boot_seconds(&e->clocks, signal->time_ns))
		->count -= signal->again;
	if (signal->again)
		return;
	SET(event.name, signal->kind);
	SET(event.device, device);
	SET(event.severity, signal->severity ?: "");
	event.pid = signal->pid;
	SET_LABEL(event.comm, signal->comm ?: "");
	event.text = signal->text ?: "";
	event.text_len = signal->text_len ?: strlen(event.text);
	if (signal->gpu_driver)
		set_uuid(e, &event);
	hand_out(e, &event, NULL);
}

/* Whether it is counted, and no recovery is later. */
static bool is_counted_gone(const struct fault_counts *c, const char *gpu)
{
	const struct kernel_event *gone =
		ARRAY_FIND(v, c->kernel_events, c->kernel_event_count,
			   !strcmp(v->kind, "gpu_gone") && !strcmp(v->device, gpu));

	return gone && fault_last_recovery(c, gpu, true) < gone->last;
}

void fault_events_add_gpus(struct fault_events *e, const char (*gpus)[PCI_ADDRESS_SIZE],
			   size_t count, uint64_t time_ns)
{
	struct faults *f = e->faults;
	struct fault_signal_report gone = {
		.gpu_driver = true, .kind = "gpu_gone", .time_ns = time_ns, .pid = -1
	};

	for (struct bus_gpu *b = f->bus; b < f->bus + f->bus_count && count < f->bus_count; b++) {
		b->absent = ARRAY_FIND(x, gpus, count, !strcmp(*x, b->gpu)) ? 0 : b->absent + 1;
		gone.device = b->gpu;
		if (b->absent >= 2 && !is_counted_gone(&f->counts, b->gpu))
			fault_events_add_signal(e, &gone);
	}
	for (size_t i = 0; i < count && i < MAX_BUS_GPUS && count >= f->bus_count; i++) {
		f->bus_changes += strcmp(f->bus[i].gpu, gpus[i]) != 0;
		f->bus[i] = (struct bus_gpu){};
		SET(f->bus[i].gpu, gpus[i]);
	}
	if (count >= f->bus_count)
		f->bus_count = count < MAX_BUS_GPUS ? count : MAX_BUS_GPUS;
}

/* Whether a tracepoint also reported the event of this kind. */
static bool traced(const struct fault_events *e, const char *kind, uint64_t time_ns)
{
	static const char *const kinds[] = { [EVENT_AER] = "pcie_aer",
					     [EVENT_MCE] = "mce",
					     [EVENT_OOM] = "oom_kill",
					     [EVENT_HANG] = "hung_task" };
	const char *const *known = ARRAY_FIND(k, kinds, COUNT(kinds), !strcmp(kind, *k));
	uint64_t enabled_ns = known ? e->enabled_ns[known - kinds] : 0;

	return enabled_ns && time_ns >= enabled_ns;
}

void fault_events_add_recovery(struct fault_events *e, const char *gpu, const char *evidence,
			       uint64_t time_ns)
{
	faults_recovered(e->faults, gpu, evidence, boot_seconds(&e->clocks, time_ns));
}

static void add_identity(struct fault_events *e, const struct kernel_line *line)
{
	const char *gpu = line->device[0] ? line->device : e->last_gpu;
	struct gpu_info *info;

	if (line->kind == KERNEL_LINE_GPU_UUID)
		SET(e->last_gpu, line->device);
	if (!*gpu)
		return;
	if (line->kind == KERNEL_LINE_GPU_RATE_LIMITED) {
		faults_rate_limited(e->faults, gpu);
		return;
	}
	info = faults_gpu(e->faults, gpu);
	if (info && line->kind == KERNEL_LINE_GPU_UUID)
		SET(info->uuid, line->uuid);
	else if (info)
		SET(info->serial, line->serial);
}

static void note_heartbeat(struct fault_events *e, unsigned int gpu, uint64_t time_ns,
			   struct fault_signal_report stopped)
{
	__typeof__(e->heartbeats[0]) *missed = &e->heartbeats[gpu];

	if (time_ns > missed->last_ns + HEARTBEAT_GAP_NS)
		missed->since_ns = time_ns;
	missed->last_ns = time_ns;
	stopped.kind = "gsp_stopped";
	if (gpu && time_ns >= missed->since_ns + HEARTBEATS_NS)
		fault_events_add_signal(e, &stopped);
}

/* Whether the line tells again what has counted, or is of a PCIe port without GPUs. */
static bool is_left_out(const struct fault_events *e, const struct kernel_line *line, double time)
{
	const struct fault_counts *c = &e->faults->counts;
	double since = time - FOLLOWS_SECONDS;

	if (!strcmp(line->name, "pcie_unrecovered"))
		return !e->unrecovered || e->unrecovered < time - UNRECOVERED_SECONDS;
	if (!strcmp(line->name, "probe_failed"))
		return e->vf_ignored > since && !strcmp(line->device, e->vf);
	if (line->follows_itself)
		return ARRAY_FIND(v, c->kernel_events, c->kernel_event_count,
				  v->gpu_driver && v->last > since &&
					  !strcmp(v->kind, line->name) &&
					  (!*v->device || !*line->device ||
					   !strcmp(v->device, line->device)));
	return line->follows_xid &&
	       faults_open_since(e->faults, line->device, line->follows_xid, since);
}

void fault_events_add_line(struct fault_events *e, uint64_t time_ns, const struct kernel_line *line)
{
	const struct fault_signal_report signal = { .gpu_driver =
							    line->kind == KERNEL_LINE_GPU_DRIVER,
						    .kind = line->name,
						    .device = line->device,
						    .severity = line->severity,
						    .time_ns = time_ns,
						    .pid = -1,
						    .text = line->text,
						    .text_len = line->text_len };
	double time = boot_seconds(&e->clocks, time_ns);

	switch (line->kind) {
	case KERNEL_LINE_NONE:
		break;
	case KERNEL_LINE_GPU_UUID:
	case KERNEL_LINE_GPU_SERIAL:
	case KERNEL_LINE_GPU_RATE_LIMITED:
		add_identity(e, line);
		break;
	case KERNEL_LINE_UNRECOVERED:
		e->unrecovered = time;
		break;
	case KERNEL_LINE_VF_IGNORED:
		e->vf_ignored = time;
		memcpy(e->vf, line->device, sizeof(e->vf));
		break;
	case KERNEL_LINE_LOAD_BEGINS:
		fault_events_load_begins(e, time_ns);
		break;
	case KERNEL_LINE_LOADED:
		fault_events_loaded(e);
		break;
	case KERNEL_LINE_UNLOADED:
		e->load_begin_ns = 0;
		break;
	case KERNEL_LINE_PROBED:
		fault_events_add_recovery(e, line->device, line->name, time_ns);
		break;
	case KERNEL_LINE_GPU_DRIVER:
		if (!is_left_out(e, line, time))
			fault_events_add_signal(e, &signal);
		if (!strcmp(line->name, "gsp_heartbeat_timeout"))
			note_heartbeat(e, line->gpu_number, time_ns, signal);
		break;
	case KERNEL_LINE_REPORT:
		if (!traced(e, line->name, time_ns))
			kernel_report_begin(e, line, time_ns);
		break;
	case KERNEL_LINE_TASK:
	case KERNEL_LINE_RIP:
	case KERNEL_LINE_CALLER:
	case KERNEL_LINE_REPORT_ENDS:
		kernel_report_add(e, line, time_ns);
		break;
	case KERNEL_LINE_EVENT:
		if (!traced(e, line->name, time_ns))
			fault_events_add_signal(e, &signal);
		break;
	}
}

/* ---- whose fault an Xid is that a program can cause: its cgroup, as far as no user made it ---- */

/* "user-1000.slice", which systemd makes for each user. */
static bool is_user_slice(struct span name)
{
	uint64_t uid;

	return span_take(&name, "user-") && span_take_number(&name, 10, UINT32_MAX, &uid) &&
	       span_is(name, ".slice");
}

/* Whether the group that the path @group ends at belongs to a user. @hierarchy: of cgroup v1. */
static bool is_users(const char *root, struct span hierarchy, struct span group)
{
	struct stat st;

	return !stat(PATHF("%s/sys/fs/cgroup/%.*s%.*s", root, (int)span_left(hierarchy),
			   hierarchy.at, (int)span_left(group), group.at),
		     &st) &&
	       st.st_uid;
}

/* The end of the part of @line, "0::/a/b" or in v1 "4:memory:/a/b", that makes up the job. */
static const char *find_end(const char *root, struct span line)
{
	struct span rest = line, group, hierarchy, name;

	span_take_through(&rest, ":");
	hierarchy = span_take_field(&rest, ":");
	span_take(&hierarchy, "name=");
	group = (struct span){ rest.at, rest.at };
	while (span_take(&rest, "/")) {
		name = span_take_until(&rest, "/");
		group.end = rest.at;
		if (is_user_slice(name) || is_users(root, hierarchy, group))
			return group.end;
	}
	return line.end;
}

uint32_t fault_cause(const char *root, int pid, bool ended)
{
	FILE_TEXT text = {};
	struct span rest, line, path;
	struct cgroup c;

	if (pid <= 0)
		return 0;
	if (ended || file_text_read(&text, PATHF("%s/proc/%d/cgroup", root, pid), 65536))
		return (uint32_t)pid;
	cgroup_read(&c, text.bytes);
	rest = file_text_span(&text);
	while (*c.path && span_next_line(&rest, &line)) {
		path = line;
		/* NOLINTNEXTLINE(misc-redundant-expression): one after the other */
		if (span_take_through(&path, ":") && span_take_through(&path, ":") &&
		    span_starts_with(path, c.path))
			return (uint32_t)crc32(0, (const Bytef *)line.at,
					       (uInt)(find_end(root, line) - line.at));
	}
	return (uint32_t)pid;
}
