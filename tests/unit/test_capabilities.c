// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that what is given up is gone from all sets, for programs that are executed, too, and that what the process did
 * not have it does not get. Each case in a process of its own. */
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "unit.h"

/* A field of /proc/self/status. */
static uint64_t status(const char *field)
{
	char line[256];
	uint64_t value = UINT64_MAX;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, field, strlen(field)))
			value = strtoull(line + strlen(field), NULL, 16);
	fclose(file);
	return value;
}

static void in_child(int (*child)(void))
{
	pid_t pid = fork();
	int result;

	if (!pid)
		_exit(child());
	assert_int_equal(waitpid(pid, &result, 0), pid);
	if (WIFEXITED(result) && WEXITSTATUS(result) == 77)
		skip();
	assert_int_equal(result, 0);
}

static int keeps_some(void)
{
	const uint64_t keep = CAPABILITY(CAP_SYSLOG) | CAPABILITY(CAP_DAC_OVERRIDE);
	uint64_t had = status("CapPrm:"), bounding = status("CapBnd:");

	if (capabilities_keep(keep))
		return 1;
	if (status("NoNewPrivs:") != 1)
		return 2;
	if (status("CapPrm:") != (had & keep) || status("CapEff:") != (had & keep))
		return 3;
	if (status("CapInh:") || status("CapAmb:"))
		return 4;
	/* Only a process with CAP_SETPCAP may make the bounding set smaller. */
	if (had & CAPABILITY(CAP_SETPCAP) && status("CapBnd:") != (bounding & keep))
		return 5;
	if (effective_capabilities("") != (had & keep))
		return 6;
	return 0;
}

TEST(the_rest_is_gone_from_all_sets)
{
	in_child(keeps_some);
}

static int cannot_regain(void)
{
	if (capabilities_keep(0) || capabilities_keep(UINT64_MAX))
		return 1;
	return status("CapPrm:") || status("CapEff:") ? 2 : 0;
}

TEST(what_is_gone_does_not_come_back)
{
	in_child(cannot_regain);
}

static int executes(void)
{
	/* With all of the bounding set left, as without CAP_SETPCAP. */
	if (prctl(PR_SET_SECUREBITS, 0, 0, 0, 0))
		return 77; /* not root: programs get nothing anyway */
	if (capabilities_keep(CAPABILITY(CAP_SYSLOG)))
		return 1;
	execl("/bin/sh", "sh", "-c",
	      "grep -q '^CapEff:.*00000400000000$' /proc/self/status || exit 3", NULL);
	return 2;
}

TEST(a_program_that_is_executed_has_no_more)
{
	in_child(executes);
}
