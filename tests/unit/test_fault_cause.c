// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that jobs are told apart by the cgroups that their users cannot make (only root can make files of different
 * owners: as another user, the first group is a user's); that an Xid and a PCIe error list each other within the window
 * and not beyond it, whichever came first, and that a storm of one does not displace the other. */
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
	if (!geteuid())
		assert_int_not_equal(cause(7, "0::/batch/alice/one\n"),
				     cause(7, "0::/batch/bob\n"));
}

#define T0 (10000 * SECOND)

/* The member of an Xid (or error, 0) at @time_ns; valid until the next call. */
static const char *add(struct pcie_relatives *r, const char *device, unsigned int xid,
		       uint64_t time_ns)
{
	static char text[8192];
	struct json j = { .out = fmemopen(text, sizeof(text), "w") };

	assert_non_null(j.out);
	text[0] = 0;
	pcie_relatives_add(r, device, xid, time_ns, &j);
	assert_int_equal(fclose(j.out), 0);
	return text;
}

TEST(an_error_lists_xids_before)
{
	struct pcie_relatives r = {};

	assert_string_equal(add(&r, "a", 79, T0), "");
	assert_string_equal(add(&r, "a", 0, T0 + XID_BEFORE_PCIE_NS),
			    "\"xids\":[{\"device\":\"a\",\"xid\":79,\"seconds_before\":600.000}]");
	assert_string_equal(add(&r, "a", 0, T0 + XID_BEFORE_PCIE_NS + 5 * SECOND), "");
}

TEST(an_xid_lists_errors_before)
{
	struct pcie_relatives r = {};

	assert_string_equal(add(&r, "a", 0, T0), "");
	assert_string_equal(add(&r, "a", 79, T0 + XID_AFTER_PCIE_NS),
			    "\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":300.000}]");
	assert_string_equal(add(&r, "a", 31, T0 + XID_AFTER_PCIE_NS + 1), "");
}

/* Reports may be read in another order than they were made in. */
TEST(what_is_read_late_counts_by_its_time)
{
	struct pcie_relatives r = {};

	add(&r, "a", 0, T0);
	assert_string_equal(add(&r, "a", 79, T0 - XID_BEFORE_PCIE_NS),
			    "\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":-600.000}]");
	assert_string_equal(add(&r, "a", 31, T0 - XID_BEFORE_PCIE_NS - 1), "");
	assert_string_equal(add(&r, "b", 31, T0), "");
	assert_string_equal(add(&r, "b", 0, T0 - XID_AFTER_PCIE_NS),
			    "\"xids\":[{\"device\":\"b\",\"xid\":31,\"seconds_before\":-300.000}]");
	assert_string_equal(add(&r, "b", 0, T0 - XID_AFTER_PCIE_NS - 5 * SECOND), "");
}

TEST(other_devices_are_no_relatives)
{
	struct pcie_relatives r = {};

	add(&r, "a", 79, T0);
	assert_string_equal(add(&r, "b", 0, T0), "");
	assert_string_equal(add(&r, "", 0, T0), "");
	assert_string_equal(add(&r, "", 79, T0), "");
	/* Nor are two of a kind. */
	assert_string_equal(add(&r, "a", 31, T0), "");
	assert_string_equal(add(&r, "b", 0, T0 + 9 * SECOND), "");
}

TEST(a_storm_displaces_nothing)
{
	struct pcie_relatives r = {};
	const char *json = "";

	add(&r, "a", 79, T0);
	for (uint64_t i = 0; i < 100000; i++)
		json = add(&r, "a", 0, T0 + i * SECOND / 1000);
	assert_string_equal(json,
			    "\"xids\":[{\"device\":\"a\",\"xid\":79,\"seconds_before\":99.999}]");
	/* The errors are one, and as late as the last. */
	assert_string_equal(add(&r, "a", 31, T0 + 100 * SECOND),
			    "\"pcie_errors\":[{\"device\":\"a\",\"seconds_before\":0.001}]");
}

TEST(the_oldest_is_replaced)
{
	struct pcie_relatives r = {};
	const char *json;

	for (unsigned int i = 1; i <= PCIE_RELATIVES + 3; i++)
		add(&r, "a", i, T0);
	json = add(&r, "a", 0, T0);
	assert_lacks(json, "\"xid\":4,");
	assert_has(json, "\"xid\":5,");
}
