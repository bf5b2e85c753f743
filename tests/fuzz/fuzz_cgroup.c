// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for /proc/PID/cgroup, whose paths users choose: what is read of any text is terminated, a job is a
 * number, a pod a UID, and a group of a user is neither. */
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
	require(strspn(c.job, "0123456789") == strlen(c.job));
	require(c.unnamed_job <= strlen(c.path) && !(c.unnamed_job && *c.job));
	require(!*c.pod || strlen(c.pod) >= 32);
	require(strspn(c.pod, "0123456789abcdef-") == strlen(c.pod));
	for (path = c.path; !strncmp(path, "/../", 4);)
		path += 3;
	if (!strncmp(path, "/user.slice/", strlen("/user.slice/")))
		require(!*c.job && !*c.pod && !c.unnamed_job);
	free(text);
	return 0;
}
