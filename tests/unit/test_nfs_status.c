// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a task's status gets the name that the kernel's sources or the RFCs give it, each name once, and that
 * an unknown one stays readable. */
#include "unit.h"
#include "rpc/rpc_series.h"

/* Errnos; the kernel's own numbers, of include/linux/errno.h; of NFSv4's (RFC 8881, section 15.1) some of each part of the
 * list, its ends, and both sides of its gaps; what has no name. */
TEST(a_status_has_its_name_or_is_shown_as_a_number)
{
	const char *at =
		"-1 EPERM, -5 EIO, -11 EAGAIN, -13 EACCES, -116 ESTALE, -110 ETIMEDOUT, "
		"-111 ECONNREFUSED, -127 EKEYEXPIRED, -121 EREMOTEIO, -133 EHWPOISON, "
		"-512 ERESTARTSYS, -521 EBADHANDLE, -522 ENOTSYNC, -523 EBADCOOKIE, -524 ENOTSUPP, "
		"-525 ETOOSMALL, -526 ESERVERFAULT, -527 EBADTYPE, -528 EJUKEBOX, "
		"-529 EIOCBQUEUED, -530 ERECALLCONFLICT, -10001 NFS4ERR_BADHANDLE, "
		"-10003 NFS4ERR_BAD_COOKIE, -10008 NFS4ERR_DELAY, -10011 NFS4ERR_EXPIRED, "
		"-10013 NFS4ERR_GRACE, -10018 NFS4ERR_RESOURCE, -10022 NFS4ERR_STALE_CLIENTID, "
		"-10025 NFS4ERR_BAD_STATEID, -10026 NFS4ERR_BAD_SEQID, -10033 NFS4ERR_NO_GRACE, "
		"-10036 NFS4ERR_BADXDR, -10044 NFS4ERR_OP_ILLEGAL, -10047 NFS4ERR_ADMIN_REVOKED, "
		"-10052 NFS4ERR_BADSESSION, -10053 NFS4ERR_BADSLOT, "
		"-10055 NFS4ERR_CONN_NOT_BOUND_TO_SESSION, -10058 NFS4ERR_LAYOUTTRYLATER, "
		"-10063 NFS4ERR_SEQ_MISORDERED, -10068 NFS4ERR_RETRY_UNCACHED_REP, "
		"-10072 NFS4ERR_HASH_ALG_UNSUPP, -10074 NFS4ERR_CLIENTID_BUSY, "
		"-10078 NFS4ERR_DEADSESSION, -10087 NFS4ERR_DELEG_REVOKED, 0 0, 5 -5, -511 511, "
		"-9999 9999, -10000 10000, -10002 10002, -10073 10073, -20000 20000, "
		"-2147483648 2147483648, 2147483647 -2147483647";
	char name[RPC_STATUS_LEN], expected[64];
	int status, len, rows = 0;

	for (; sscanf(at, "%d %63[^,]%n", &status, expected, &len) == 2; rows++) {
		nfs_status_name(status, name, sizeof(name));
		assert_string_equal(name, expected);
		at += len + (at[len] == ',');
	}
	assert_int_equal(rows, 54);
}

TEST(no_two_numbers_share_a_name)
{
	static char seen[10200][RPC_STATUS_LEN];

	for (int i = 1; i < (int)COUNT(seen); i++) {
		nfs_status_name(-i, seen[i], sizeof(seen[i]));
		for (int j = *seen[i] == 'E' ? 1 : *seen[i] == 'N' ? 10000 : i; j < i; j++)
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
