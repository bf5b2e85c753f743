// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps the label sets of a snapshot within bounds. */
#include "model/fold.h"

#include <string.h>

#include "model/merge.h"

#define OTHER "other"

/* Folds array[keep + 1..] into array[keep], which the caller then renames. */
#define FOLD(array, count, keep, add)                    \
	for (size_t i_ = (keep) + 1; i_ < (count); i_++) \
		add(&(array)[keep], &(array)[i_]);       \
	if ((count) > (keep)) {                          \
		folded += (count) - (keep);              \
		(count) = (keep) + 1;                    \
	}

void snapshot_fold(struct snapshot *s, size_t max_series)
{
	/* An entry has RPC_PHASES (RPC_LIMITS, RPC_QUEUES) label sets in its largest family. */
	const size_t ops = max_series / RPC_PHASES;
	const size_t transports = max_series / RPC_LIMITS;
	const size_t servers = max_series / RPC_QUEUES;
	uint64_t folded = 0;

	FOLD(s->ops, s->op_count, ops, rpc_op_add)
	if (s->op_count > ops) {
		strcpy(s->ops[ops].server, OTHER);
		strcpy(s->ops[ops].op, OTHER);
	}
	FOLD(s->errors, s->error_count, max_series, rpc_error_add)
	if (s->error_count > max_series) {
		strcpy(s->errors[max_series].server, OTHER);
		strcpy(s->errors[max_series].op, OTHER);
		strcpy(s->errors[max_series].status, OTHER);
	}
	FOLD(s->transports, s->transport_count, transports, rpc_transport_add)
	if (s->transport_count > transports) {
		strcpy(s->transports[transports].server, OTHER);
		strcpy(s->transports[transports].name, OTHER);
	}
	FOLD(s->servers, s->server_count, servers, rpc_server_add)
	if (s->server_count > servers) {
		strcpy(s->servers[servers].server, OTHER);
		/* An entry that stays may be named "other" already: a host, or the
		 * servers that did not fit the kernel's table. (Elsewhere such an
		 * entry comes last, or another of its labels differs.) */
		for (size_t i = 0; i < servers; i++)
			if (!strcmp(s->servers[i].server, OTHER)) {
				rpc_server_add(&s->servers[i], &s->servers[servers]);
				s->server_count = servers;
			}
	}
	snapshot_drop(s, "max_series", folded);
}
