// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The name of an owner of calls, from the path of its control group. */
#include "owners/mount_calls.h"

#include "base/span.h"

/* Finds the unit in a path: the first name that ends in .service or .scope. */
static bool find_unit(char *name, size_t size, const char *path)
{
	struct span rest = span_of(path), part;

	while (span_take(&rest, "/")) {
		part = span_take_until(&rest, "/");
		if (!span_ends_with(part, ".service") && !span_ends_with(part, ".scope"))
			continue;
		snprintf(name, size, "unit:%.*s", (int)span_left(part), part.at);
		return true;
	}
	return false;
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

/* Returns whether a later call can find no other name. */
static bool name_path(char *name, size_t size, const char *path, struct helper *helper)
{
	struct cgroup group;
	bool known;

	cgroup_of_path(&group, path);
	known = cgroup_ask_names(&group, helper);
	if (*group.job)
		snprintf(name, size, "slurm:%s", group.job);
	else if (group.unnamed_job)
		snprintf(name, size, "slurm:%.*s", SLUID_LEN,
			 group.path + group.unnamed_job - SLUID_LEN);
	else if (*group.pod)
		snprintf(name, size, "pod:%s", *group.pod_name ? group.pod_name : group.pod);
	else if (!find_user(name, size, path) && !find_unit(name, size, path))
		name_group(name, size, path);
	return known;
}

bool owner_name(char *label, const char *const *names, size_t count, struct helper *helper)
{
	char path[CGROUP_PATH] = "", name[3 * LABEL_SIZE];
	bool known = true;
	size_t len = 0;

	for (size_t i = count; i-- > 0 && len < sizeof(path);)
		if (*names[i])
			len += (size_t)snprintf(path + len, sizeof(path) - len, "/%s", names[i]);
	if (!*path)
		snprintf(name, sizeof(name), OWNER_KERNEL);
	else
		known = name_path(name, sizeof(name), path, helper);
	label_from_name(label, LABEL_SIZE, name, strlen(name));
	return known;
}
