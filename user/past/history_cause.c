// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How grave an event of the past was, whom it names, and whether it may have ended a job. */
#include "past/history.h"

#include "base/cgroup.h"
#include "base/json.h"
#include "base/safe_text.h"

static const char *const grades[] = { "info", "unknown", "warning", "fatal" };
#define GRADE_FATAL (COUNT(grades) - 1)

const char *past_grade(const struct past_event *e)
{
	const char *const *grade = ARRAY_FIND(g, grades, COUNT(grades), span_is(e->severity, *g));

	return grade ? *grade : event_class_of(e->kind, e->name)->grade;
}

bool past_in_window(const struct past_event *e, double since, double until)
{
	return e->time <= until && e->end >= since;
}

/* ---- whom it names ---- */

struct owners {
	struct past_owner *list;
	size_t count;
};

static void add_owner(struct owners *o, const char *what, struct span name)
{
	if (span_left(name))
		*ARRAY_APPEND(o->list, o->count) = (struct past_owner){ what, name };
}

static void on_member(void *context, struct span name, struct span value)
{
	static const char *const owning[] = { "job", "pod", "cgroup" };
	struct span inside;

	for (size_t i = 0; i < COUNT(owning); i++)
		if (span_is(name, owning[i]) && json_inside(value, &inside))
			add_owner(context, owning[i], inside);
}

static void on_holder(void *context, struct span name, struct span value)
{
	(void)name;
	json_read(value, on_member, context);
}

size_t past_owners(const struct past_event *e, struct past_owner **owners)
{
	struct owners o = {};

	add_owner(&o, "job", e->job);
	add_owner(&o, "pod", span_left(e->pod_name) ? e->pod_name : e->pod);
	add_owner(&o, "cgroup", e->cgroup);
	if (span_left(e->held_by))
		json_read(e->held_by, on_holder, &o);
	*owners = o.list;
	return o.count;
}

/* The first is no job's. */
static const char *const kinds[] = { "container:", "slurm:", "lsf:", "pbs:", "pod:", "env:" };

bool past_owner_is(struct span owner, const char *job)
{
	bool number = !job[strspn(job, "0123456789[]")];
	char text[EVENT_TEXT + 1], label[CONTAINER_NAME]; /* as the agent writes the name */

	label_from_bytes(label, sizeof(label), job, strlen(job));
	text_join_words(label);
	json_decode(owner, text, sizeof(text));
	for (owner = span_of(text); span_left(owner);) {
		struct span word = span_take_word(&owner), name = word;

		/* A number is a job's, although a container may be called so. */
		if (number && span_starts_with(word, "container:"))
			continue;
		ARRAY_EACH(k, kinds, COUNT(kinds))
			if (span_take(&name, *k))
				break;
		if (span_starts_with(word, "env:"))
			span_take_through(&name, "=");
		if (span_is(word, job) || span_is(name, job) || span_is(name, label))
			return true;
	}
	return false;
}

/* ---- the cause ---- */

/* To which job or pod an event belongs. */
enum owner { OWNER_NONE, OWNER_OTHER, OWNER_JOB };

/* Whether calls failed, and all that made them are jobs and pods. Lost state and a grace period are everyone's. */
static bool is_of_jobs(const struct past_event *e)
{
	struct span owner = e->owner, name;
	bool all = e->kind == EVENT_KIND_NFS_ERRORS && span_left(owner) &&
		   !span_is(e->name, "state") && !span_is(e->name, "grace");

	while (all && span_left(name = span_take_word(&owner)))
		all = ARRAY_FIND(k, kinds + 1, COUNT(kinds) - 1, span_starts_with(name, *k));
	return all;
}

static enum owner owner_of(const struct past_event *e, const char *job)
{
	enum owner owner = past_owner_is(e->owner, job) ? OWNER_JOB :
			   is_of_jobs(e)                ? OWNER_OTHER :
							  OWNER_NONE;
	FREED struct past_owner *owners = NULL;
	size_t count = past_owners(e, &owners);

	for (size_t i = 0; i < count; i++)
		if (strcmp(owners[i].what, "cgroup") != 0 && span_is(owners[i].name, job))
			owner = OWNER_JOB;
		else if (owner == OWNER_NONE && !span_is(owners[i].name, "/"))
			owner = OWNER_OTHER;
	/* Others held the GPU; perhaps this job did as well. */
	return owner == OWNER_OTHER && e->holders_unsure && !span_left(e->cgroup) ? OWNER_NONE :
										    owner;
}

bool past_is_of_job(const struct past_event *e, const char *job)
{
	return owner_of(e, job) == OWNER_JOB;
}

struct candidate {
	const struct past_event *event;
	const char *cause;
	size_t grade;
	enum owner owner;
};

static bool is_graver(const struct candidate *a, const struct candidate *b)
{
	if (!b->event || a->grade != b->grade)
		return !b->event || a->grade > b->grade;
	return a->owner != b->owner ? a->owner == OWNER_JOB : a->event->time < b->event->time;
}

const struct past_event *history_cause(const struct history *h, const char *job, double since,
				       double until, const char **cause)
{
	struct candidate worst = { .cause = "none" }, c;

	ARRAY_EACH(e, h->events, h->count) {
		c = (struct candidate){ e, event_class_of(e->kind, e->name)->cause, 0, OWNER_NONE };
		if (e->hidden || !*c.cause || !past_in_window(e, since, until))
			continue;
		c.owner = owner_of(e, job);
		while (strcmp(past_grade(e), grades[c.grade]) != 0)
			c.grade++;
		/* For the job of the process, that is the end. */
		if (!strcmp(c.cause, "oom_kill") && c.owner == OWNER_JOB)
			c.grade = GRADE_FATAL;
		if (c.grade && c.owner != OWNER_OTHER && is_graver(&c, &worst))
			worst = c;
	}
	*cause = worst.cause;
	return worst.event;
}
