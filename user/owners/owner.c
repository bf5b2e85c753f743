// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The name of an owner of calls, from the path of its control group. */
#include "owners/mount_calls.h"

#include "base/span.h"
#include "rpc.h"

/* Finds the unit in a path, below slices only: its name ends in .service or .scope, or the kernel side has cut it. */
static bool find_unit(char *name, size_t size, const char *path)
{
	struct span rest = span_of(path), part;

	do {
		if (!span_take(&rest, "/"))
			return false;
		part = span_take_until(&rest, "/");
	} while (span_ends_with(part, ".slice"));
	if (!span_ends_with(part, ".service") && !span_ends_with(part, ".scope") &&
	    span_left(part) != RPC_OWNER_NAME - 1)
		return false;
	snprintf(name, size, "unit:%.*s", (int)span_left(part), part.at);
	return true;
}

static bool find_user(char *name, size_t size, const char *path)
{
	struct span rest = span_of(path);
	uint64_t user;

	if (!span_take(&rest, "/user.slice"))
		return false;
	if (!span_take(&rest, "/user-") ||
	    !span_number(span_take_until(&rest, "."), UINT32_MAX, &user))
		snprintf(name, size, "user:unknown");
	else
		snprintf(name, size, "user:%u", (unsigned int)user);
	return true;
}

/* The first two names of a path. */
static void name_group(char *name, size_t size, const char *path)
{
	const char *end = strchr(path + 1, '/');

	end = end ? strchrnul(end + 1, '/') : path + strlen(path);
	snprintf(name, size, "group:%.*s", (int)(end - path - 1), path + 1);
}

/* The pod or container, the unit or user, or the group; "": the job alone says it. */
static void name_place(char *name, size_t size, const struct cgroup *group, bool job)
{
	const char *path = group->path;

	*name = 0;
	if (*group->pod)
		snprintf(name, size, "pod:%s", *group->name ? group->name : group->pod);
	else if (*group->variable)
		snprintf(name, size, "env:%s", group->variable);
	else if (*group->container && (*group->name || !memmem(path, group->outer, ".service/", 9)))
		snprintf(name, size, "container:%.*s", *group->name ? (int)sizeof(group->name) : 12,
			 *group->name ? group->name : group->container);
	else if (!job && !find_user(name, size, path) && !find_unit(name, size, path))
		name_group(name, size, path);
	/* A blank is before the job's name only. */
	text_join_words(name);
}

/* Returns whether a later call can find no other name. */
static bool name_path(char *label, const char *path, struct helper *helper, const char *variables,
		      uint64_t since)
{
	char name[3 * LABEL_SIZE], job[40] = "";
	struct cgroup group;
	bool known;

	cgroup_of_path(&group, path);
	known = cgroup_ask_names(&group, helper, variables, since);
	if (*group.job)
		snprintf(job, sizeof(job), "%s:%s", group.scheduler, group.job);
	else if (group.unnamed_job)
		snprintf(job, sizeof(job), "slurm:%.*s", SLUID_LEN,
			 group.path + group.unnamed_job - SLUID_LEN);
	name_place(name, sizeof(name), &group, *job);
	/* A variable is escaped already. */
	if (*group.variable)
		snprintf(label, LABEL_SIZE, "%s", name);
	else
		label_from_name(label, LABEL_SIZE - (*job ? sizeof(job) : 0), name, strlen(name));
	snprintf(label + strlen(label), sizeof(job), "%s%s", *label && *job ? " " : "", job);
	return known;
}

bool owner_name(char *label, const char *const *names, size_t count, struct helper *helper,
		const char *variables, uint64_t since)
{
	char path[CGROUP_PATH] = "";
	size_t len = 0;

	for (size_t i = count; i-- > 0 && len < sizeof(path);)
		if (*names[i])
			len += (size_t)snprintf(path + len, sizeof(path) - len, "/%s", names[i]);
	if (*path)
		return name_path(label, path, helper, variables, since);
	snprintf(label, LABEL_SIZE, OWNER_KERNEL);
	return true;
}
