// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of the negative status with which an RPC task of the NFS client ends. */
#include "rpc/rpc_series.h"

static const struct {
	long error;
	char name[RPC_STATUS_LEN];
} names[] = {
#define TABLE_ROW(error, name) { error, name },
#include "nfs_statuses.inc"
#undef TABLE_ROW
};

void nfs_status_name(int status, char *name, size_t size)
{
	long error = -(long)status;
	const __typeof__(names[0]) *row = ARRAY_FIND(n, names, COUNT(names), n->error == error);
	const char *found = row                      ? row->name :
			    error > 0 && error < 512 ? strerrorname_np((int)error) :
						       NULL;

	if (found)
		snprintf(name, size, "%s", found);
	else
		snprintf(name, size, "%ld", error);
}
