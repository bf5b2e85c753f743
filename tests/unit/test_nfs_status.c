// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a task's status gets the name that the kernel's sources or the RFCs give it, each name once, and that
 * an unknown one stays readable. */
#include <limits.h>

#include "unit.h"
#include "rpc/rpc_series.h"

static void assert_name(int status, const char *expected)
{
	char name[RPC_STATUS_LEN];

	nfs_status_name(status, name, sizeof(name));
	assert_string_equal(name, expected);
}

TEST(errnos_have_their_names)
{
	assert_name(-1, "EPERM");
	assert_name(-EIO, "EIO");
	assert_name(-EAGAIN, "EAGAIN");
	assert_name(-EACCES, "EACCES");
	assert_name(-ESTALE, "ESTALE");
	assert_name(-ETIMEDOUT, "ETIMEDOUT");
	assert_name(-ECONNREFUSED, "ECONNREFUSED");
	assert_name(-EKEYEXPIRED, "EKEYEXPIRED");
	assert_name(-EREMOTEIO, "EREMOTEIO");
	assert_name(-133, "EHWPOISON");
}

/* include/linux/errno.h */
TEST(the_kernels_own_numbers_have_their_names)
{
	assert_name(-512, "ERESTARTSYS");
	assert_name(-521, "EBADHANDLE");
	assert_name(-522, "ENOTSYNC");
	assert_name(-523, "EBADCOOKIE");
	assert_name(-524, "ENOTSUPP");
	assert_name(-525, "ETOOSMALL");
	assert_name(-526, "ESERVERFAULT");
	assert_name(-527, "EBADTYPE");
	assert_name(-528, "EJUKEBOX");
	assert_name(-529, "EIOCBQUEUED");
	assert_name(-530, "ERECALLCONFLICT");
}

/* RFC 8881, section 15.1: some of each part of the list, its ends, and both sides of its gaps. */
TEST(nfsv4_errors_have_their_names)
{
	assert_name(-10001, "NFS4ERR_BADHANDLE");
	assert_name(-10003, "NFS4ERR_BAD_COOKIE");
	assert_name(-10008, "NFS4ERR_DELAY");
	assert_name(-10011, "NFS4ERR_EXPIRED");
	assert_name(-10013, "NFS4ERR_GRACE");
	assert_name(-10018, "NFS4ERR_RESOURCE");
	assert_name(-10022, "NFS4ERR_STALE_CLIENTID");
	assert_name(-10025, "NFS4ERR_BAD_STATEID");
	assert_name(-10026, "NFS4ERR_BAD_SEQID");
	assert_name(-10033, "NFS4ERR_NO_GRACE");
	assert_name(-10036, "NFS4ERR_BADXDR");
	assert_name(-10044, "NFS4ERR_OP_ILLEGAL");
	assert_name(-10047, "NFS4ERR_ADMIN_REVOKED");
	assert_name(-10052, "NFS4ERR_BADSESSION");
	assert_name(-10053, "NFS4ERR_BADSLOT");
	assert_name(-10055, "NFS4ERR_CONN_NOT_BOUND_TO_SESSION");
	assert_name(-10058, "NFS4ERR_LAYOUTTRYLATER");
	assert_name(-10063, "NFS4ERR_SEQ_MISORDERED");
	assert_name(-10068, "NFS4ERR_RETRY_UNCACHED_REP");
	assert_name(-10072, "NFS4ERR_HASH_ALG_UNSUPP");
	assert_name(-10074, "NFS4ERR_CLIENTID_BUSY");
	assert_name(-10078, "NFS4ERR_DEADSESSION");
	assert_name(-10087, "NFS4ERR_DELEG_REVOKED");
}

TEST(what_has_no_name_is_shown_as_its_number)
{
	assert_name(0, "0");
	assert_name(5, "-5"); /* no task ends so */
	assert_name(-511, "511");
	assert_name(-9999, "9999");
	assert_name(-10000, "10000");
	assert_name(-10002, "10002");
	assert_name(-10073, "10073");
	assert_name(-20000, "20000");
	assert_name(INT_MIN, "2147483648");
	assert_name(INT_MAX, "-2147483647");
}

TEST(no_two_numbers_share_a_name)
{
	static char seen[10200][RPC_STATUS_LEN];

	for (int i = 1; i < (int)COUNT(seen); i++) {
		nfs_status_name(-i, seen[i], sizeof(seen[i]));
		if (seen[i][0] == 'E')
			for (int j = 1; j < i; j++)
				if (!strcmp(seen[i], seen[j]))
					fail_msg("%d and %d are both %s", i, j, seen[i]);
		if (seen[i][0] == 'N')
			for (int j = 10000; j < i; j++)
				if (!strcmp(seen[i], seen[j]))
					fail_msg("%d and %d are both %s", i, j, seen[i]);
	}
}

TEST(every_name_fits_whole)
{
	char name[128];

	for (int i = 0; i < 11000; i++) {
		nfs_status_name(-i, name, sizeof(name));
		assert_true(strlen(name) < RPC_STATUS_LEN);
		assert_true(strlen(name) < sizeof(((struct rpc_error *)0)->status));
	}
}

TEST(a_small_buffer_is_not_overrun)
{
	char name[8] = "???????";

	nfs_status_name(-10008, name, 5);
	assert_string_equal(name, "NFS4");
	assert_int_equal(name[5], '?');
}
