// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps the label sets of a snapshot within bounds. */
#include "snapshot/fold.h"

#include <string.h>

#include "snapshot/merge.h"

/* An entry may be named "other" already: what did not fit the kernel's table. The two must not
 * become one name twice. */
static bool is_other_op(const struct rpc_op *o)
{
	return !strcmp(o->server, LABEL_OTHER) && !strcmp(o->op, LABEL_OTHER);
}

static bool is_other_error(const struct rpc_error *e)
{
	return !strcmp(e->server, LABEL_OTHER) && !strcmp(e->op, LABEL_OTHER) &&
	       !strcmp(e->status, LABEL_OTHER);
}

static bool is_other_transport(const struct rpc_transport_state *t)
{
	return !strcmp(t->server, LABEL_OTHER) && !strcmp(t->name, LABEL_OTHER);
}

static bool is_other_server(const struct rpc_server_state *v)
{
	return !strcmp(v->server, LABEL_OTHER);
}

/*
 * Folds array[keep..] into one entry: the one of array[..keep] that is "other" already,
 * else array[keep]. Returns it for the caller to name; NULL: there are no more than @keep.
 */
#define FOLD(array, count, keep, is_other, add)                                                    \
	({                                                                                         \
		size_t into_ = 0;                                                                  \
		__typeof__(array) other_ = NULL;                                                   \
		if ((count) > (keep)) {                                                            \
			while (into_ < (keep) && !is_other(&(array)[into_]))                       \
				into_++;                                                           \
			other_ = &(array)[into_];                                                  \
			for (size_t i_ = into_ < (keep) ? (keep) : (keep) + 1; i_ < (count); i_++) \
				add(other_, &(array)[i_]);                                         \
			s->calls.folded_entries += (count) - (keep);                               \
			(count) = into_ < (keep) ? (keep) : (keep) + 1;                            \
		}                                                                                  \
		other_;                                                                            \
	})

/* Returns how many entries are left out. */
static size_t cut(size_t *count, size_t keep)
{
	size_t beyond = *count > keep ? *count - keep : 0;

	*count -= beyond;
	return beyond;
}

void snapshot_fold(struct snapshot *s, size_t max_series)
{
	/* An entry has RPC_PHASES (RPC_LIMITS, RPC_QUEUES) label sets in its largest family. */
	struct rpc_op *op = FOLD(s->calls.ops, s->calls.op_count, max_series / RPC_PHASES,
				 is_other_op, rpc_op_add);
	struct rpc_error *error = FOLD(s->calls.errors, s->calls.error_count, max_series,
				       is_other_error, rpc_error_add);
	struct rpc_transport_state *transport =
		FOLD(s->calls.transports, s->calls.transport_count, max_series / RPC_LIMITS,
		     is_other_transport, rpc_transport_add);
	struct rpc_server_state *server =
		FOLD(s->calls.servers, s->calls.server_count, max_series / RPC_QUEUES,
		     is_other_server, rpc_server_add);

	if (op) {
		strcpy(op->server, LABEL_OTHER);
		strcpy(op->op, LABEL_OTHER);
	}
	if (error) {
		strcpy(error->server, LABEL_OTHER);
		strcpy(error->op, LABEL_OTHER);
		strcpy(error->status, LABEL_OTHER);
	}
	if (transport) {
		strcpy(transport->server, LABEL_OTHER);
		strcpy(transport->name, LABEL_OTHER);
		transport->remote = transport->local =
			(struct endpoint){}; /* it may be one alone */
	}
	if (server)
		strcpy(server->server, LABEL_OTHER);
	/* What only describes cannot be added up: it is left out. */
	s->calls.folded_entries += cut(&s->calls.mount_count, max_series);
	s->calls.folded_entries += cut(&s->calls.storage_count, max_series);
}
