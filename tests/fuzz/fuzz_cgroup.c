// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for /proc/PID/cgroup, whose paths users choose: what is read of any text is terminated, a job is a
 * number, a pod a UID, a container an ID or a name, and a group of a user is none of them. */
#include "base/cgroup.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size);
	const char *path;
	struct cgroup c;

	cgroup_read(&c, text);
	require_string(c.path);
	require(!*c.path || (*c.path == '/' && !strchr(c.path, '\n')));
	require(strspn(c.job, "0123456789[]") == strlen(c.job) && *c.job != '[');
	require(!*c.job || c.scheduler);
	require(c.unnamed_job <= strlen(c.path) && !(c.unnamed_job && *c.job));
	require(!*c.pod || strlen(c.pod) >= 32);
	require(strspn(c.pod, "0123456789abcdef-") == strlen(c.pod));
	require(strlen(c.name) < CONTAINER_NAME && !(*c.pod && *c.container));
	require(!*c.container || *c.name ||
		strspn(c.container, "0123456789abcdef") == CONTAINER_ID - 1);
	for (path = c.path; !strncmp(path, "/../", 4);)
		path += 3;
	if (!strncmp(path, "/user.slice/", strlen("/user.slice/")))
		require(!*c.job && !*c.pod && !*c.container && !c.unnamed_job);
	/* The text in the stead of what files say. */
	cgroup_find_names(&c, text);
	require_string(c.name);
	require_string(c.job);
	free(text);
	return 0;
}
