// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that jobs are told apart by the cgroups that their users cannot make (only root can make files of different
 * owners: as another user, the first group is a user's). */
#include "unit.h"
#include "made_up_tree.h"
#include "faults/recognise/recognise.h"

static uint32_t cause(int pid, const char *line)
{
	put(formatted("/proc/%d/cgroup", pid), line);
	return fault_cause(root, pid, false);
}

static void make_group(const char *group, uid_t owner)
{
	put(formatted("/sys/fs/cgroup%s/cgroup.procs", group), "");
	if (!geteuid())
		assert_int_equal(chown(formatted("%s/sys/fs/cgroup%s", root, group), owner, owner),
				 0);
}

TEST(a_job_is_a_cgroup)
{
	uint32_t one = cause(7, "0::/system.slice/slurmstepd.scope/job_1/step_0/user/task_0\n");

	assert_int_equal(one,
			 cause(8, "0::/system.slice/slurmstepd.scope/job_1/step_0/user/task_0\n"));
	assert_int_not_equal(one, cause(9, "0::/system.slice/slurmstepd.scope/job_2/step_0\n"));
	assert_int_not_equal(cause(7, "0::/kubepods.slice/pod1"),
			     cause(7, "0::/kubepods.slice/pod2"));
	/* In v1 a hierarchy may have all jobs in one group. */
	assert_int_not_equal(cause(7, "12:rdma:/\n4:memory:/slurm/uid_0/job_1/step_0\n0::/\n"),
			     cause(7, "12:rdma:/\n4:memory:/slurm/uid_0/job_2/step_0\n0::/\n"));
	/* One that has ended, or is not known. */
	assert_int_equal(fault_cause(root, 7, true), 7);
	assert_int_equal(fault_cause(root, 10, false), 10);
	assert_int_equal(fault_cause(root, 0, false), 0);
	assert_int_equal(fault_cause(root, -1, false), 0);
}

TEST(a_user_is_one_however_many_groups_he_makes)
{
	uint32_t user = cause(7, "0::/user.slice/user-1000.slice/session-1.scope\n");

	assert_int_equal(user, cause(7, "0::/user.slice/user-1000.slice/session-2.scope\n"));
	assert_int_equal(user,
			 cause(7, "0::/user.slice/user-1000.slice/user@1000.service/job_7\n"));
	assert_int_not_equal(user, cause(7, "0::/user.slice/user-1001.slice/session-1.scope\n"));
	assert_int_not_equal(cause(7, "0::/user-x.slice/a"), cause(7, "0::/user-x.slice/b"));

	make_group("/batch/alice/one", 1000);
	make_group("/batch/alice/two", 1000);
	make_group("/batch/alice", 1000);
	make_group("/batch/bob", 1001);
	make_group("/memory/batch/alice", 1000);
	assert_int_equal(cause(7, "0::/batch/alice/one\n"), cause(7, "0::/batch/alice/two\n"));
	assert_int_equal(cause(7, "4:memory:/batch/alice/x\n"),
			 cause(7, "4:memory:/batch/alice/y\n"));
	make_group("/systemd/job_1", 1000);
	assert_int_equal(cause(7, "12:rdma:/\n1:name=systemd:/job_1/x\n"),
			 cause(7, "12:rdma:/\n1:name=systemd:/job_1/y\n"));
	if (!geteuid())
		assert_int_not_equal(cause(7, "0::/batch/alice/one\n"),
				     cause(7, "0::/batch/bob\n"));
}
