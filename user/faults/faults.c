// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counts of faults and of what comes with them. No recovery resets a counter, which would hide how often a fault came: a later
 * time clears it. When a table is full, entries merge without their device. The severity stays, because it decides the node's
 * health, and the code unless anyone can invent it. The recovery of one GPU does not clear a merged entry. Rejected: one entry of
 * unknown severity; dropping the oldest. */
#include "faults/faults.h"

#include "snapshot/table.h"
#include "xid/xid_line.h"

#define QUIET_SECONDS 3600.0 /* of a server, see forget_event() */

/* Removes an entry that was added beyond @max; @before: the number of entries before. Returns whether it removed one. */
static bool take_back(size_t *count, size_t before, size_t max)
{
	if (*count == before || before < max)
		return false;
	*count = before;
	return true;
}

/* Finds the entry, or adds it if there are fewer than @max. NULL: neither. */
static struct fault *find_within(struct fault_counts *c, const struct fault *like, size_t max)
{
	size_t before = c->fault_count;
	struct fault *found = snapshot_fault(c, like);

	return take_back(&c->fault_count, before, max) ? NULL : found;
}

/* Whether its code is one of so many possible ones that they may fill the table. */
static bool may_be_made_up(const struct fault *f)
{
	return f->nvswitch || (f->code >= HIGH_XID && !strcmp(f->severity, "unknown") &&
			       !strcmp(f->action, "none_given"));
}

/* The number of entries is limited, whatever the kernel log has. */
static struct fault *find_fault(struct fault_counts *c, const struct fault *like)
{
	struct fault *found = find_within(c, like, MAX_FAULTS);
	struct fault folded = *like;

	if (found)
		return found;
	strcpy(folded.device, LABEL_OTHER);
	found = find_within(c, &folded, may_be_made_up(like) ? MAX_MADE_UP : MAX_FAULTS_IN_ALL);
	if (found)
		return found;
	folded.code = 0;
	snprintf(folded.action, sizeof(folded.action), "%s", like->nvswitch ? "" : "none_given");
	return find_within(c, &folded, SIZE_MAX);
}

bool faults_open_since(const struct faults *f, const char *device, unsigned int code, double since)
{
	const struct fault_counts *c = &f->counts;

	return ARRAY_FIND(x, c->faults, c->fault_count,
			  !x->nvswitch && x->code == code && x->last > since &&
				  (!*device || !strcmp(x->device, device)) &&
				  x->last > fault_last_recovery(c, x->device, false));
}

/* Whether @cause has caused a recent incident; notes @cause. */
static bool is_repeated(struct fault *fault, uint32_t cause)
{
	size_t i = 0;

	if (!cause)
		return false;
	while (i < FAULT_CAUSES - 1 && fault->causes[i] != cause)
		i++;
	if (fault->causes[i] == cause)
		return true;
	memmove(fault->causes + 1, fault->causes, sizeof(fault->causes) - sizeof(cause));
	fault->causes[0] = cause;
	return false;
}

static void note_repeat(struct fault_repeats *r, double time)
{
	memmove(r->times + 1, r->times, (FAULT_REPEATS - 1) * sizeof(*r->times));
	r->times[0] = time;
	if (r->count < FAULT_REPEATS)
		r->count++;
}

void faults_note_place(struct faults *f, const char *device, unsigned int place, uint32_t cause,
		       double time)
{
	struct fault_place *p = ARRAY_FIND(x, f->places, f->place_count,
					   x->place == place && !strcmp(x->device, device)),
			   *oldest = f->places;
	bool known = p;

	ARRAY_EACH(x, f->places, known ? 0 : f->place_count)
		oldest = x->last < oldest->last ? x : oldest;
	if (!known) {
		p = f->place_count < MAX_PLACES ? ARRAY_APPEND(f->places, f->place_count) : oldest;
		*p = (struct fault_place){ .place = place };
		snprintf(p->device, sizeof(p->device), "%s", device);
	}
	if (!known || (time >= p->last + FAULT_REPEAT_SECONDS && (!cause || cause != p->cause)))
		note_repeat(&p->repeats, time);
	p->cause = cause;
	if (!known || time > p->last)
		p->last = time;
}

/* The number of repeats after @since. */
static uint64_t count_recent(const struct fault_repeats *r, double since)
{
	uint64_t recent = 0;

	for (unsigned int i = 0; i < r->count; i++)
		recent += r->times[i] > since;
	return recent;
}

/* For Xid 13: the repeats of the place that has most. Without a place the fault is the application's. */
static uint64_t recent_of(const struct faults *f, const struct fault *fault, double since)
{
	uint64_t most = 0;

	if (fault->nvswitch || fault->code != XID_GRAPHICS_EXCEPTION)
		return count_recent(&fault->repeats, since);
	ARRAY_EACH(p, f->places, f->place_count)
		if (!strcmp(p->device, fault->device))
			RAISE(most, count_recent(&p->repeats, since));
	return most;
}

void faults_add(struct faults *f, const struct fault *like, double time)
{
	struct fault *fault = find_fault(&f->counts, like);
	bool apart, first;

	/* Reports of several devices in turn are no burst. */
	apart = time >= fault->last + FAULT_BURST_SECONDS || !strcmp(fault->device, LABEL_OTHER);
	first = !fault->incidents;
	if (!fault->count++)
		fault->first = time;
	if (first || (apart && !is_repeated(fault, like->causes[0]))) {
		fault->incidents++;
		if (first || time >= fault->last + FAULT_REPEAT_SECONDS ||
		    !strcmp(fault->device, LABEL_OTHER))
			note_repeat(&fault->repeats, time);
	}
	RAISE(fault->last, time);
	if (like->place)
		faults_note_place(f, fault->device, like->place, like->causes[0], time);
}

/* A full table loses the CPU that has long gone on, or the server that has been quiet for longest. Its series ends with its count:
 * added to the others', that would count twice in an increase. Damage to the kernel stays. */
static bool forget_event(struct fault_counts *c, const char *kind, double time)
{
	bool stall = kernel_event_is_stall(kind);
	struct kernel_event *oldest = NULL;

	ARRAY_EACH(x, c->kernel_events, c->kernel_event_count)
		if (!strcmp(x->kind, kind) && strcmp(x->device, LABEL_OTHER) != 0 &&
		    (!oldest || x->last < oldest->last))
			oldest = x;
	if ((!stall && !strncmp(kind, "kernel_", 7)) || !oldest ||
	    oldest->last > time - (stall ? STALL_SECONDS : QUIET_SECONDS))
		return false;
	*oldest = c->kernel_events[--c->kernel_event_count];
	return true;
}

struct kernel_event *faults_add_kernel_event(struct faults *f, bool gpu_driver, const char *kind,
					     const char *device, const char *about, double time)
{
	struct fault_counts *c = &f->counts;
	size_t before, same = 0;
	struct kernel_event *event;
	bool known = false;

	ARRAY_EACH(x, c->kernel_events, c->kernel_event_count) {
		if (strcmp(x->kind, kind) != 0)
			continue;
		same += strcmp(x->device, LABEL_OTHER) != 0;
		known |= !strcmp(x->device, device);
	}
	if (!known && same >= MAX_EVENTS_OF_KIND && !gpu_driver)
		same -= forget_event(c, kind, time);
	before = c->kernel_event_count;
	event = snapshot_kernel_event(c, gpu_driver, kind, device);
	if (take_back(&c->kernel_event_count, before,
		      same >= MAX_EVENTS_OF_KIND ? 0 : MAX_KERNEL_EVENTS))
		event = snapshot_kernel_event(c, gpu_driver, kind, LABEL_OTHER);
	event->count++;
	event->before[1] = event->before[0];
	event->before[0] = event->last;
	RAISE(event->last, time);
	if (about)
		snprintf(event->about, sizeof(event->about), "%s", about);
	return event;
}

void faults_add_unverified(struct faults *f, const char *gpu, unsigned int code)
{
	struct fault_counts *c = &f->counts;
	size_t before = c->unverified_count;
	struct unverified_xid *u = snapshot_unverified(c, gpu, code);

	if (take_back(&c->unverified_count, before, MAX_UNVERIFIED))
		u = snapshot_unverified(c, LABEL_OTHER, 0);
	u->count++;
}

/* ---- what outlives a boot ---- */

/* A GPU's UUID, or its address. */
static const char *gpu_id(const struct fault_counts *c, const char *device)
{
	const struct gpu_info *info =
		ARRAY_FIND(g, c->gpus, c->gpu_count, !strcmp(g->gpu, device) && *g->uuid);

	return info ? info->uuid : device;
}

/* Whether it is a fatal Xid of a GPU that does not only follow another. */
static bool outlives_boot(const struct fault *f)
{
	return !f->nvswitch && f->code != XID_RECOVERY_ACTION && !strcmp(f->severity, "fatal") &&
	       strcmp(f->device, LABEL_OTHER) != 0;
}

void faults_note_past(struct faults *f, const char *gpu, unsigned int code, bool boot, double time)
{
	struct past_fault *p = ARRAY_FIND(x, f->past, f->past_count,
					  x->code == code && !strcmp(x->gpu, gpu)),
			  *oldest = f->past;

	ARRAY_EACH(x, f->past, p ? 0 : f->past_count)
		oldest = x->boots.times[0] < oldest->boots.times[0] ? x : oldest;
	if (!p) {
		p = f->past_count < MAX_PAST ? ARRAY_APPEND(f->past, f->past_count) : oldest;
		*p = (struct past_fault){ .code = code };
		snprintf(p->gpu, sizeof(p->gpu), "%s", gpu);
	}
	note_repeat(boot ? &p->boots : &p->incidents, time);
}

static void outlive_repeats(struct faults *f, const char *gpu, unsigned int code, bool boot,
			    const struct fault_repeats *r, double shift)
{
	for (unsigned int i = r->count; i-- > 0;)
		faults_note_past(f, gpu, code, boot, r->times[i] + shift);
}

void faults_outlive(struct faults *f, const struct faults *old, double boot_to_wall)
{
	const struct fault_counts *c = &old->counts;

	memcpy(f->bus, old->bus, sizeof(f->bus));
	f->bus_count = old->bus_count;
	f->driver = old->driver == DRIVER_THIS_BOOT ? DRIVER_LAST_BOOT : 0;
	ARRAY_EACH(p, old->past, old->past_count) {
		outlive_repeats(f, p->gpu, p->code, true, &p->boots, 0);
		outlive_repeats(f, p->gpu, p->code, false, &p->incidents, 0);
	}
	ARRAY_EACH(x, c->faults, c->fault_count) {
		const char *gpu = gpu_id(c, x->device);

		if (!outlives_boot(x))
			continue;
		/* The same Xid of the same GPU, with another action, may stand before it. */
		if (!ARRAY_FIND(o, c->faults, x - c->faults,
				outlives_boot(o) && o->code == x->code &&
					!strcmp(o->device, x->device)))
			faults_note_past(f, gpu, x->code, true, x->last + boot_to_wall);
		outlive_repeats(f, gpu, x->code, false, &x->repeats, boot_to_wall);
	}
}

struct gpu_info *faults_gpu(struct faults *f, const char *gpu)
{
	struct fault_counts *c = &f->counts;
	size_t before = c->gpu_count;
	struct gpu_info *info = snapshot_gpu(c, gpu);

	return take_back(&c->gpu_count, before, MAX_GPUS) ? NULL : info;
}

void faults_rate_limited(struct faults *f, const char *gpu)
{
	struct gpu_info *info = faults_gpu(f, gpu) ?: snapshot_gpu(&f->counts, LABEL_OTHER);

	info->rate_limited = true;
}

void faults_recovered(struct faults *f, const char *gpu, const char *evidence, double time)
{
	struct fault_counts *c = &f->counts;
	bool all = !strcmp(gpu, "all");
	size_t before = c->recovery_count;
	struct gpu_recovery *r;

	/* Only GPUs that had something to recover from. */
	if (!all && !ARRAY_FIND(x, c->faults, c->fault_count, !strcmp(x->device, gpu)) &&
	    !ARRAY_FIND(x, c->kernel_events, c->kernel_event_count, !strcmp(x->device, gpu)))
		return;
	ARRAY_EACH(g, c->gpus, c->gpu_count)
		if ((all || !strcmp(g->gpu, gpu)) && strcmp(evidence, RECOVERY_WITHDRAWN) != 0)
			g->rate_limited = false;
	r = snapshot_recovery(c, gpu, evidence);
	if (all || !take_back(&c->recovery_count, before, MAX_RECOVERIES))
		RAISE(r->time, time);
}

/* Copies the entries of a table, and adds so many seconds to their times. A time before 0 becomes 0. */
static void copy_entries(const struct table *t, const struct fault_counts *from, double seconds,
			 struct fault_counts *to)
{
	char *copy;

	table_copy(t, from, to);
	copy = table_array(t, to);
	for (size_t i = table_count(t, to); i--; copy += t->size) {
		ARRAY_EACH(f, t->fields, t->field_count) {
			double *time = (void *)(copy + f->offset);

			for (size_t k = 0; f->type == FIELD_DOUBLE && k < field_numbers(f); k++)
				time[k] = time[k] + seconds > 0 ? time[k] + seconds : 0;
		}
	}
}

/* Adds what earlier boots know of the GPUs that have failed in this one. */
static void add_past(const struct faults *f, const struct fault_clock *clock,
		     struct fault_counts *c)
{
	double now = clock->now + clock->boot_to_wall;

	ARRAY_EACH(fault, c->faults, c->fault_count) {
		const char *id = gpu_id(c, fault->device);
		uint64_t failures = 0;

		if (!outlives_boot(fault))
			continue;
		fault->boots = 1;
		ARRAY_EACH(p, f->past, f->past_count) {
			if (strcmp(p->gpu, id) != 0)
				continue;
			failures += count_recent(&p->incidents, now - FAULT_RECENT_SECONDS);
			if (p->code == fault->code)
				fault->boots += (unsigned int)count_recent(
					&p->boots, now - BOOT_WINDOWS * FAULT_RECENT_SECONDS);
		}
		if (failures)
			snapshot_gpu(c, fault->device)->past_failures = failures;
	}
}

void faults_snapshot(const struct faults *f, const struct fault_clock *clock,
		     struct fault_counts *c)
{
	const struct fault_counts *from = &f->counts;

	c->authority = from->authority;
	c->log_lost = from->log_lost;
	c->gpu_watched = from->gpu_watched;
	for (const struct table *t = tables; t < tables + TABLES; t++)
		if (t->part == offsetof(struct snapshot, faults))
			copy_entries(t, from, clock->boot_to_wall, c);
	for (size_t i = 0; i < c->fault_count; i++)
		c->faults[i].recent =
			recent_of(f, &from->faults[i], clock->now - FAULT_RECENT_SECONDS);
	add_past(f, clock, c);
}

void faults_free(struct faults *f)
{
	fault_counts_free(&f->counts);
	free(f->places);
	free(f->past);
	*f = (struct faults){};
}
