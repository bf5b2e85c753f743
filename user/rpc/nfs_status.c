// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of the negative status with which an RPC task of the NFS client ends. */
#include "rpc/rpc_series.h"

/* include/linux/errno.h: RPC tasks often end with these, system calls never do. */
static const char *const kernel_names[] = {
	[0] = "ERESTARTSYS", [9] = "EBADHANDLE",   [10] = "ENOTSYNC",        [11] = "EBADCOOKIE",
	[12] = "ENOTSUPP",   [13] = "ETOOSMALL",   [14] = "ESERVERFAULT",    [15] = "EBADTYPE",
	[16] = "EJUKEBOX",   [17] = "EIOCBQUEUED", [18] = "ERECALLCONFLICT", [19] = "ENOGRACE",
};

/* RFC 8881, section 15.1, from 10001 on; 10019, 10028, 10035, 10043 as in RFC 7530; the last ones: RFC 7862,
 * section 11.1, and RFC 8276, section 8.4.1. */
static const char *const nfs4_names[] = {
	/* clang-format off */
	[1] = "BADHANDLE", [3] = "BAD_COOKIE", [4] = "NOTSUPP", [5] = "TOOSMALL", [6] = "SERVERFAULT",
	[7] = "BADTYPE", [8] = "DELAY", [9] = "SAME", [10] = "DENIED", [11] = "EXPIRED", [12] = "LOCKED",
	[13] = "GRACE", [14] = "FHEXPIRED", [15] = "SHARE_DENIED", [16] = "WRONGSEC", [17] = "CLID_INUSE",
	[18] = "RESOURCE", [19] = "MOVED", [20] = "NOFILEHANDLE", [21] = "MINOR_VERS_MISMATCH",
	[22] = "STALE_CLIENTID", [23] = "STALE_STATEID", [24] = "OLD_STATEID", [25] = "BAD_STATEID",
	[26] = "BAD_SEQID", [27] = "NOT_SAME", [28] = "LOCK_RANGE", [29] = "SYMLINK", [30] = "RESTOREFH",
	[31] = "LEASE_MOVED", [32] = "ATTRNOTSUPP", [33] = "NO_GRACE", [34] = "RECLAIM_BAD",
	[35] = "RECLAIM_CONFLICT", [36] = "BADXDR", [37] = "LOCKS_HELD", [38] = "OPENMODE", [39] = "BADOWNER",
	[40] = "BADCHAR", [41] = "BADNAME", [42] = "BAD_RANGE", [43] = "LOCK_NOTSUPP", [44] = "OP_ILLEGAL",
	[45] = "DEADLOCK", [46] = "FILE_OPEN", [47] = "ADMIN_REVOKED", [48] = "CB_PATH_DOWN", [49] = "BADIOMODE",
	[50] = "BADLAYOUT", [51] = "BAD_SESSION_DIGEST", [52] = "BADSESSION", [53] = "BADSLOT",
	[54] = "COMPLETE_ALREADY", [55] = "CONN_NOT_BOUND_TO_SESSION", [56] = "DELEG_ALREADY_WANTED",
	[57] = "BACK_CHAN_BUSY", [58] = "LAYOUTTRYLATER", [59] = "LAYOUTUNAVAILABLE", [60] = "NOMATCHING_LAYOUT",
	[61] = "RECALLCONFLICT", [62] = "UNKNOWN_LAYOUTTYPE", [63] = "SEQ_MISORDERED", [64] = "SEQUENCE_POS",
	[65] = "REQ_TOO_BIG", [66] = "REP_TOO_BIG", [67] = "REP_TOO_BIG_TO_CACHE", [68] = "RETRY_UNCACHED_REP",
	[69] = "UNSAFE_COMPOUND", [70] = "TOO_MANY_OPS", [71] = "OP_NOT_IN_SESSION", [72] = "HASH_ALG_UNSUPP",
	[74] = "CLIENTID_BUSY", [75] = "PNFS_IO_HOLE", [76] = "SEQ_FALSE_RETRY", [77] = "BAD_HIGH_SLOT",
	[78] = "DEADSESSION", [79] = "ENCR_ALG_UNSUPP", [80] = "PNFS_NO_LAYOUT", [81] = "NOT_ONLY_OP",
	[82] = "WRONG_CRED", [83] = "WRONG_TYPE", [84] = "DIRDELEG_UNAVAIL", [85] = "REJECT_DELEG",
	[86] = "RETURNCONFLICT", [87] = "DELEG_REVOKED", [88] = "PARTNER_NOTSUPP", [89] = "PARTNER_NO_AUTH",
	[90] = "UNION_NOTSUPP", [91] = "OFFLOAD_DENIED", [92] = "WRONG_LFS", [93] = "BADLABEL",
	[94] = "OFFLOAD_NO_REQS", [95] = "NOXATTR", [96] = "XATTR2BIG",
	/* clang-format on */
};

_Static_assert(sizeof("NFS4ERR_CONN_NOT_BOUND_TO_SESSION") <= RPC_STATUS_LEN,
	       "a snapshot has room for the longest name");

#define LOOKUP(names, index) ((size_t)(index) < COUNT(names) ? (names)[index] : NULL)

void nfs_status_name(int status, char *name, size_t size)
{
	long error = -(long)status;
	const char *found = LOOKUP(nfs4_names, error - 10000);

	if (found) {
		snprintf(name, size, "NFS4ERR_%s", found);
		return;
	}
	found = LOOKUP(kernel_names, error - 512);
	if (!found && error > 0 && error < 512)
		found = strerrorname_np((int)error);
	if (found)
		snprintf(name, size, "%s", found);
	else
		snprintf(name, size, "%ld", error);
}
