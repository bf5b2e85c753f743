// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What it means that an NFS call ended with an error.
 *
 * A call that fails is fast. 360 WRITEs to a full file system look like a quick server with few slots, and advice about
 * slots is then wrong. A limit is therefore not looked for among calls that mostly fail, and the error comes first.
 *
 * Not each error is one: a job looks for files that do not exist (ENOENT), or a user may not read a file (EACCES on OPEN).
 * Four questions separate these from failures:
 * - Can an application cause it? EACCES counts only for ops that need no permission of the user: READ, WRITE, COMMIT and
 *   GETATTR, whose file is open or known, and ops of the client itself.
 * - Is one enough? Yes if data are lost: the kernel reports a failed WRITE once, to whom closes or syncs the file, and few
 *   programs look. Yes if the server does not give a lock back. Others must be FEW, and COMMON among the op's calls or among
 *   those of one mount or owner: one ESTALE is a file that another client removed. So must a call, also a WRITE, whose error is
 *   not in the table and not ordinary. An expired ticket and a WRITE with an unnamed error need not be COMMON: others go on.
 * - Is it counted elsewhere? Waits (NFS4ERR_DELAY, EJUKEBOX) are.
 * - Does the client ignore it? What FREE_STATEID, CLOSE or DELEGRETURN gives back may be gone: threads open and close one file at once.
 *
 * Sources: RFC 8881, section 15; RFC 1813, section 2.6; soft mounts: nfs(5). */
#include "limits/verdict.h"

#include "base/safe_text.h"
#include "base/time_text.h"

/* So many failed calls, and this share of the op's calls, are no mistake of a user. */
#define FEW 5
#define COMMON 0.1
/* The same of ESTALE: clients that remove each other's files met it in 22 % of an op's calls (scenario `ordinary`). */
#define COMMON_STALE 0.33
#define COMMON_WRONGSEC 0.67 /* a client that has the flavour makes each LOOKUP again */
/* Of an op's calls that lose data: an application that writes on does not know yet. */
#define COMMON_DATA 0.01
/* Programs hardly pause for longer before they try again. */
#define OVER_NS UINT64_C(30000000000)
/* A server that has restarted waits for its clients for two lease times at most. */
#define LONG_GRACE_NS UINT64_C(200000000000)
/* So many bytes of owners' names, or one name, are in a sentence; "other" stands for the rest. */
#define OWNERS_SIZE 96

const char *const failure_names[FAILURE_NONE] = {
	[FAILURE_DATA] = "data",       [FAILURE_STALE] = "stale", [FAILURE_TICKET] = "ticket",
	[FAILURE_REFUSED] = "refused", [FAILURE_LOCKS] = "locks", [FAILURE_STATE] = "state",
	[FAILURE_GRACE] = "grace",
};

/* Which calls an error is a failure of. */
enum whose {
	ANY_CALL,
	NO_USERS_CALL, /* not those for which a user needs a permission */
	SURE_OF_DATA, /* of metadata only if many fail */
	DATA_CALL, /* not metadata: a user tries to change what is read-only, or asks for what a device does not have */
};

/* Without the prefix "E" or "NFS4ERR_", which name the same error of another version. */
static const struct {
	const char *status;
	enum failure failure;
	enum whose whose;
	const char *meaning;
} errors[] = {
#define TABLE_ROW(status, failure, whose, meaning) { status, FAILURE_##failure, whose, meaning },
#include "nfs_errors.inc"
};

/* Whether @name is one of the names in @list, between spaces. */
static bool has_name(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = strstr(list, name); at && len; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

bool is_clients_own(const char *op)
{
	return has_name(
		"NULL SEQUENCE RENEW EXCHANGE_ID SETCLIENTID CREATE_SESSION DESTROY_SESSION "
		"DESTROY_CLIENTID BIND_CONN_TO_SESSION RECLAIM_COMPLETE",
		op);
}

/* Stands for the op of calls to the lock manager (NLM). */
#define LOCK_CALL "lock call"

/* What is not in the table, and is not ordinary. */
static const __typeof__(errors[0])
	locks = { "", FAILURE_LOCKS, ANY_CALL,
		  "files of NFSv3 cannot be locked: check lockd on the server and the network to its port" },
	rare = { "", FAILURE_DATA, ANY_CALL, "such an error is rare" },
	unnamed = { "", FAILURE_DATA, DATA_CALL,
		    "this source does not see which error: perhaps data were lost" };

static bool is_data_call(const char *op)
{
	enum rpc_kind kind = rpc_kind_of(op);

	return kind == RPC_KIND_READ || kind == RPC_KIND_WRITE;
}

/* Whether calls of an op may end so in service: they wait, or are made again; or calls for metadata ask for what is not there. Layouts of
 * pNFS are refused now and then, and stateids that FREE_STATEID gives back may be gone. */
static bool is_ordinary(const char *op, const char *error)
{
	return has_name("DELAY JUKEBOX RESTARTSYS INTR AGAIN OLD_STATEID MOVED LEASE_MOVED "
			"LAYOUTTRYLATER PNFS_NO_LAYOUT RETRY_UNCACHED_REP",
			error) ||
	       (!is_data_call(op) &&
		(strstr(op, "LAYOUT") || strstr(op, "_STATEID") || strstr(op, "DEVICE") ||
		 has_name(
			 !strcmp(op, "LOCK") ?
				 "DENIED DEADLOCK LOCK_RANGE INVAL" :
				 "NOENT EXIST NOTEMPTY ISDIR NOTDIR NAMETOOLONG INVAL LOOP XDEV MLINK BUSY TXTBSY "
				 "NODATA NOXATTR RANGE XATTR2BIG NOTSUPP OPNOTSUPP ATTRNOTSUPP BADTYPE BADNAME BADCHAR "
				 "BADOWNER SYMLINK WRONG_TYPE TOOSMALL BAD_COOKIE BADCOOKIE NOTSYNC SAME NOT_SAME "
				 "DENIED SHARE_DENIED FILE_OPEN LOCKED LOCKS_HELD LOCK_RANGE LOCK_NOTSUPP DEADLOCK "
				 "COMPLETE_ALREADY UNION_NOTSUPP OFFLOAD_DENIED OFFLOAD_NO_REQS PARTNER_NOTSUPP PARTNER_NO_AUTH",
			 error)));
}

static const __typeof__(errors[0]) *error_find(const char *op, const char *status)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): each error has a status */
	bool four = !strncmp(status, "NFS4ERR_", strlen("NFS4ERR_"));
	const char *error = status + (four ? strlen("NFS4ERR_") : *status == 'E');
	const __typeof__(errors[0]) *e =
		!strcmp(op, LOCK_CALL) ?
			&locks :
		!strcmp(status, ANY_RPC_STATUS) ?
			&unnamed :
			ARRAY_FIND(x, errors, COUNT(errors), !strcmp(x->status, error));

	return e || error == status || !*error ? e : is_ordinary(op, error) ? NULL : &rare;
}

/* Whether a user's mistake cannot be the reason that the server refuses @op. */
static bool needs_no_permission(const char *op)
{
	return rpc_kind_of(op) != RPC_KIND_METADATA || is_clients_own(op) ||
	       has_name("GETATTR FSINFO FSSTAT STATFS", op);
}

enum failure failure_of(const char *op, const char *status)
{
	const __typeof__(errors[0]) *e = error_find(op, status);

	if (!e || (e->whose == NO_USERS_CALL && !needs_no_permission(op)) ||
	    (e->whose == DATA_CALL && !is_data_call(op)) ||
	    (e->failure == FAILURE_STATE && has_name("FREE_STATEID TEST_STATEID", op)) ||
	    (!strcmp(e->status, "BAD_STATEID") && has_name("CLOSE DELEGRETURN", op)) ||
	    /* mount tries the versions of NFS in turn. */
	    (!strcmp(op, "NULL") && has_name("EPROTONOSUPPORT EPFNOSUPPORT", status)) ||
	    (e->failure == FAILURE_DATA && is_clients_own(op)))
		return FAILURE_NONE;
	return e->failure;
}

/* WRITEs that fail come before other calls that a soft mount gave up at the same time, and these before what the client recovers. */
enum gravity { RECOVERED, NOT_RECOVERED, FAILED, NOT_READ, NOT_WRITTEN };

/* @again: the client makes such a call again elsewhere. */
static enum gravity gravity_of(const char *op, const char *status, bool again)
{
	enum failure failure = failure_of(op, status);

	if (failure == FAILURE_STATE || failure == FAILURE_GRACE)
		return strstr(status, "_RECLAIM_") || strstr(status, "_REVOKED") ||
				       strstr(status, "_NO_GRACE") ?
			       NOT_RECOVERED :
			       RECOVERED;
	if (again || !strcmp(status, ANY_RPC_STATUS))
		return FAILED;
	/* A WRITE is not made again, except after an error of state. */
	if (failure != FAILURE_NONE && rpc_kind_of(op) == RPC_KIND_WRITE)
		return NOT_WRITTEN;
	return failure == FAILURE_DATA && is_data_call(op) ? NOT_READ : FAILED;
}

#define GRAVITY(f) gravity_of((f)->op, (f)->status, (f)->again)
bool failure_loses_data(const struct failed_calls *f)
{
	return GRAVITY(f) >= NOT_READ;
}

/* ---- sums ---- */

/* LABEL_OTHER, which also stands for names without room, comes last. */
static void add_name(char *list, const char *name)
{
	size_t len = strlen(list);
	bool others = has_name(list, LABEL_OTHER);

	if (!*name || has_name(list, name))
		return;
	if (others)
		len -= strlen(LABEL_OTHER) + (len > strlen(LABEL_OTHER));
	if (!strcmp(name, LABEL_OTHER) || (len && len + 1 + strlen(name) >= OWNERS_SIZE))
		others = true;
	else
		len += (size_t)snprintf(list + len, LABEL_SIZE - len, "%s%s", len ? " " : "", name);
	if (others && len + sizeof(" " LABEL_OTHER) <= LABEL_SIZE)
		snprintf(list + len, LABEL_SIZE - len, "%s" LABEL_OTHER, len ? " " : "");
}

static void add_names(char *list, const char *names)
{
	char copy[LABEL_SIZE], *rest = copy, *name;

	snprintf(copy, sizeof(copy), "%s", names);
	while ((name = strsep(&rest, " ")))
		add_name(list, name);
}

static struct failed_calls *failed_get(struct failures *f, const struct rpc_error *e,
				       const char *mountpoint)
{
	struct failed_calls *to =
		ARRAY_FIND(x, f->list, f->count,
			   !strcmp(x->op, e->op) && !strcmp(x->status, e->status) &&
				   !strcmp(x->mountpoint, mountpoint));

	if (to)
		return to;
	to = f->count < FAILURES ? &f->list[f->count++] :
				   ARRAY_FIND(x, f->list, FAILURES,
					      GRAVITY(x) < gravity_of(e->op, e->status, false));
	if (!to)
		return NULL;
	*to = (struct failed_calls){};
	memcpy(to->op, e->op, sizeof(to->op));
	memcpy(to->status, e->status, sizeof(to->status));
	snprintf(to->mountpoint, sizeof(to->mountpoint), "%s", mountpoint);
	return to;
}

/* Whether @e only shows that an export is read-only: nothing was ever written to the mount. */
static bool is_read_only(const struct calls *c, const struct rpc_error *e, const char *mountpoint)
{
	return strstr(e->status, "ROFS") && !is_data_call(e->op) &&
	       !CALLS_FIND(m, c, mount_call, e->server,
			   !strcmp(m->mountpoint, mountpoint) &&
				   m->sums.calls[RPC_KIND_WRITE] > m->sums.errors[RPC_KIND_WRITE]);
}

/* Adds @count calls to a mount that ended with @e. @all: the errors of the kind are these, on each mount. */
static void add_calls(struct failures *f, const struct delta *d, const struct rpc_error *e,
		      const char *mountpoint, uint64_t count, bool all)
{
	struct failed_calls *to =
		is_read_only(&d->end->calls, e, mountpoint) ? NULL : failed_get(f, e, mountpoint);

	if (!to)
		return;
	/* Of another restart. */
	if (to->quiet_ns >= 2 * OVER_NS && failure_of(e->op, e->status) == FAILURE_GRACE)
		to->count = to->among = to->lasted_ns = to->quiet_ns = 0;
	if (!to->count)
		to->since = d->begin;
	to->count += count;
	to->last_count += count;
	CALLS_EACH(o, &d->calls, owner_mount, e->server)
		if (all && o->sums.errors[rpc_kind_of(e->op)] && !strcmp(o->mountpoint, mountpoint))
			add_name(to->owner, o->owner);
	if (!strcmp(mountpoint, e->mountpoint))
		add_name(to->owner, e->owner);
	/* Others whose calls failed, perhaps with another error, must not seem unharmed. */
	CALLS_EACH(o, &d->calls, owner_mount, e->server)
		if (o->sums.errors[rpc_kind_of(e->op)] && !strcmp(o->mountpoint, mountpoint) &&
		    *to->owner && !has_name(to->owner, o->owner))
			add_name(to->owner, LABEL_OTHER);
}

/* Adds the calls that ended with @e. The source names the mount and the owner of the last one. If no other calls of the kind
 * failed, the errors by mount and by owner say which the others are. @only: of this mount; NULL: of any. */
static void add_error(struct failures *f, const struct delta *d, const struct rpc_error *e,
		      const char *only)
{
	enum rpc_kind kind = rpc_kind_of(e->op);
	uint64_t errors = 0;

	CALLS_EACH(m, &d->calls, mount_call, e->server)
		errors += m->sums.errors[kind];
	if (errors != e->count && (!only || !strcmp(only, e->mountpoint)))
		add_calls(f, d, e, e->mountpoint, e->count, false);
	CALLS_EACH(m, &d->calls, mount_call, e->server)
		if (errors == e->count && m->sums.errors[kind] &&
		    (!only || !strcmp(only, m->mountpoint)))
			add_calls(f, d, e, m->mountpoint, m->sums.errors[kind], true);
}

/* The fewest calls of the interval among which the failed ones are: @calls, of the op, or those of the kind to this mount or
 * of owners with errors. */
static uint64_t calls_among(const struct failed_calls *to, const struct delta *d,
			    const char *server, uint64_t calls)
{
	enum rpc_kind kind = rpc_kind_of(to->op);
	uint64_t by_owner = 0;

	CALLS_EACH(m, &d->calls, mount_call, server)
		if (*to->mountpoint && !strcmp(m->mountpoint, to->mountpoint))
			LOWER(calls, m->sums.calls[kind]);
	CALLS_EACH(o, &d->calls, owner_call, server)
		if (o->sums.errors[kind] || has_name(to->owner, o->owner))
			by_owner += o->sums.calls[kind];
	if (*to->owner)
		LOWER(calls, by_owner);
	return calls;
}

/* Whether a soft mount gave the calls up: their error comes from the client. */
static bool is_given_up(const struct failed_calls *f, const struct delta *d,
			const struct nfs_mount *mount)
{
	return mount && !strncmp(mount->options[NFS_RECOVERY], "soft", 4) &&
	       has_name("EIO ETIMEDOUT", f->status) &&
	       (!snapshot_knows(&d->end->calls, RPC_FACT_TIMEOUTS) ||
		CALLS_FIND(t, &d->calls, transport, mount->server, t->timeouts));
}

/* The calls of an op that ended in the interval. */
static uint64_t calls_of(const struct delta *d, const char *server, const char *op)
{
	const struct rpc_op *o = CALLS_FIND(x, &d->calls, op, server, !strcmp(x->op, op));
	const struct rpc_server_state *v = CALLS_FIND(x, &d->calls, server, server, true);

	if (!strcmp(op, LOCK_CALL))
		return v ? v->lock_calls : 0;
	return o ? time_histogram_count(&o->total) : 0;
}

/* Whether @server has no mount and a name as pNFS gives it to those that hold the data of another one's files. Each server of a
 * mount answers GETATTRs, also if the mount is not known. */
static bool is_data_server(const struct calls *c, const char *server)
{
	return !server[strspn(server, "0123456789abcdef:.[]")] &&
	       !CALLS_FIND(m, c, mount, server, true) &&
	       !CALLS_FIND(o, c, op, server, !strcmp(o->op, "GETATTR")) &&
	       ARRAY_FIND(o, c->ops, c->op_count, !strcmp(o->op, "LAYOUTGET"));
}

void failures_add(struct failures *f, const struct delta *d, const char *server,
		  const char *mountpoint, enum failure meaning)
{
	for (int i = 0; i < f->count; i++)
		f->list[i].last_count = 0;
	CALLS_EACH(v, &d->calls, server, server)
		if (v->lock_errors && (!mountpoint || !*mountpoint) &&
		    (meaning == FAILURE_NONE || meaning == FAILURE_LOCKS))
			add_calls(f, d,
				  &(struct rpc_error){ .op = LOCK_CALL, .status = ANY_RPC_STATUS },
				  "", v->lock_errors, false);
	CALLS_EACH(e, &d->calls, error, server) {
		enum failure failure = failure_of(e->op, e->status);

		if (failure != FAILURE_NONE && (meaning == FAILURE_NONE || failure == meaning))
			add_error(f, d, e, mountpoint);
	}
	for (struct failed_calls *to = f->list; to < f->list + f->count; to++) {
		uint64_t calls = calls_of(d, server, to->op);
		const struct nfs_mount *mount = CALLS_FIND(m, &d->end->calls, mount, server,
							   !strcmp(m->mountpoint, to->mountpoint));

		to->quiet_ns += d->ns;
		if (to->last_count) {
			to->lasted_ns += to->quiet_ns;
			to->quiet_ns = 0;
			to->soft = is_given_up(to, d, mount);
			to->until = d->end->wall;
		}
		to->over = to->quiet_ns >= OVER_NS;
		to->kerberos |= mount && mount->kerberos;
		to->again |= to->last_count && is_data_server(&d->end->calls, server);
		/* If the mount is not known: whether all of the server are. */
		to->hard |= (mount || (!*to->mountpoint &&
				       CALLS_FIND(m, &d->end->calls, mount, server, true))) &&
			    !CALLS_FIND(m, &d->end->calls, mount, server,
					(!mount || m == mount) &&
						strcmp(m->options[NFS_RECOVERY], "hard") != 0);
		/* Calls after the last failure do not count: the cause may be gone. */
		to->since_last += calls_among(to, d, server, calls);
		to->among += to->last_count ? to->since_last : 0;
		to->since_last *= !to->last_count;
	}
}

static double failed_share(uint64_t count, uint64_t among)
{
	return among > count ? (double)count / (double)among : 1;
}

/* Whether one is enough. */
static bool loses_for_sure(const struct failed_calls *f)
{
	const __typeof__(errors[0]) *e = error_find(f->op, f->status);

	/* A lock that is not given back is lost, a file is opened again. */
	return strstr(f->status, "_RECLAIM_") ||
	       (!strcmp(f->op, "LOCK") && strstr(f->status, "_NO_GRACE")) ||
	       (e != &rare && e != &unnamed &&
		(GRAVITY(f) == NOT_WRITTEN || (failure_of(f->op, f->status) == FAILURE_DATA &&
					       (e->whose != SURE_OF_DATA || is_data_call(f->op)))));
}

bool failure_is_final(const struct failed_calls *f)
{
	return failure_loses_data(f) || (GRAVITY(f) == NOT_RECOVERED && loses_for_sure(f));
}

/* A client that has the flavour which the server wants makes the LOOKUP again. */
static bool asks_for_flavour(const struct failed_calls *x)
{
	return !strcmp(x->status, "NFS4ERR_WRONGSEC") && strstr(x->op, "LOOKUP");
}

/* Whether so large a part of the calls fails that it is no accident. */
static bool is_common(const struct failed_calls *x)
{
	enum failure failure = failure_of(x->op, x->status);
	bool unnamed_write =
		!strcmp(x->status, ANY_RPC_STATUS) && rpc_kind_of(x->op) == RPC_KIND_WRITE;
	double common = failure == FAILURE_TICKET || unnamed_write ? 0 :
			failure == FAILURE_STALE                   ? COMMON_STALE :
			asks_for_flavour(x)                        ? COMMON_WRONGSEC :
								     COMMON;

	return failed_share(x->count, x->among) >= common;
}

/* The gravest that is worth a sentence; with @said, of another mount or with another error. */
static const struct failed_calls *find_worst(const struct failures *f,
					     const struct failed_calls *said)
{
	const struct failed_calls *worst = NULL;

	for (const struct failed_calls *x = f->list; x < f->list + f->count; x++) {
		enum failure failure = failure_of(x->op, x->status);

		if (said && !strcmp(x->status, said->status) &&
		    (!*x->mountpoint || !strcmp(x->mountpoint, said->mountpoint)))
			continue;
		if (failure == FAILURE_GRACE ?
			    x->lasted_ns < LONG_GRACE_NS :
			    !loses_for_sure(x) && (x->count < FEW || !is_common(x)))
			continue;
		if (!worst ||
		    (ORDER(GRAVITY(x), GRAVITY(worst)) ?: ORDER(x->count, worst->count)) > 0)
			worst = x;
	}
	return worst;
}

const struct failed_calls *failures_worst(const struct failures *f)
{
	return find_worst(f, NULL);
}

bool failures_last(const struct failures *f)
{
	return ARRAY_FIND(x, f->list, f->count, x->last_count);
}

bool failures_grow(const struct failures *f, bool *unwritten, char *owners)
{
	const struct failed_calls *worst = failures_worst(f);
	size_t len = strlen(owners);
	bool first = worst && GRAVITY(worst) == NOT_WRITTEN && !*unwritten;

	*unwritten |= first;
	for (const struct failed_calls *x = f->list; worst && x < f->list + f->count; x++)
		add_names(owners, x->owner);
	return first || strlen(owners) > len;
}

uint64_t failures_of_state(const struct failures *f)
{
	uint64_t count = 0;

	for (const struct failed_calls *x = f->list; x < f->list + f->count; x++)
		if (failure_of(x->op, x->status) == FAILURE_STATE)
			count += x->count;
	return count;
}

bool failures_are_common(const struct failures *f, uint64_t calls, const uint64_t *data)
{
	uint64_t failed = 0, recovered = failures_of_state(f), lost[DATA_CALLS] = {};

	for (const struct failed_calls *x = f->list; x < f->list + f->count; x++) {
		int of = rpc_kind_of(x->op) == RPC_KIND_READ ? DATA_READS :
			 strcmp(x->op, "COMMIT")             ? DATA_WRITES :
							       DATA_COMMITS;

		if (failure_of(x->op, x->status) < FAILURE_GRACE &&
		    (!asks_for_flavour(x) || is_common(x)))
			failed += x->count;
		lost[of] += failure_loses_data(x) ? x->count : 0;
	}
	for (int i = 0; i < DATA_CALLS; i++)
		if (lost[i] && failed_share(lost[i], data[i]) >= COMMON_DATA)
			return true;
	/* After a restart of the server each call that was under way ends with an error of state, once. */
	if (2 * recovered < calls)
		failed -= recovered;
	return failed >= FEW && failed_share(failed, calls) >= COMMON;
}

/* Room for what say_calls() writes. */
#define CALLS_TEXT_SIZE (2 * LABEL_SIZE + RPC_OP_LEN + RPC_STATUS_LEN + 256)

/* "/mnt/v4 (soft) gave EIO to 31 of 31 WRITEs, data were not written (slurm:71, since 14:03:22)", or as in the header. What was
 * lost comes before what may be cut. */
static void say_calls(char *text, const struct failed_calls *f)
{
	uint64_t calls = f->among > f->count ? f->among : f->count;
	char numbers[RPC_OP_LEN + 64], owner[LABEL_SIZE + 128], until[TIME_LOCAL_SIZE + 8] = "";
	size_t others = has_name(f->owner, LABEL_OTHER) ? strlen(LABEL_OTHER) : 0; /* at the end */
	size_t named = strlen(f->owner) - others;
	const char *error = strcmp(f->status, ANY_RPC_STATUS) ? f->status : "an error";

	snprintf(numbers, sizeof(numbers), "%" PRIu64 " of %" PRIu64 " %s%s", f->count, calls,
		 f->op,
		 calls == 1                      ? "" :
		 f->op[strlen(f->op) - 1] == 'S' ? "es" :
						   "s");
	if (f->over)
		snprintf(until, sizeof(until), " until %s", CLOCK_TIME(f->until));
	snprintf(owner, sizeof(owner), "%s (%.*s%s%s%s %s%s)",
		 GRAVITY(f) == NOT_WRITTEN ? ", " DATA_WERE_LOST "written" :
		 failure_loses_data(f)     ? ", " DATA_WERE_LOST "read" :
					     "",
		 (int)named, f->owner, others ? &"and others"[named ? 0 : 4] : "",
		 *f->owner ? ", " : "", f->over ? "from" : "since",
		 f->since > 0 ? CLOCK_TIME(f->since) : "?", until);
	if (f->soft)
		snprintf(text, CALLS_TEXT_SIZE, "%s (soft) gave %s to %s%s", f->mountpoint, error,
			 numbers, owner);
	else
		snprintf(text, CALLS_TEXT_SIZE, "%s%s%s end%s with %s%s", numbers,
			 *f->mountpoint ? " to " : "", f->mountpoint,
			 f->over    ? "ed" :
			 calls == 1 ? "s" :
				      "",
			 error, owner);
}

const char *failures_text(char *text, const struct failures *f)
{
	const struct failed_calls *worst = find_worst(f, NULL), *other = find_worst(f, worst);
	const __typeof__(errors[0]) *error = error_find(worst->op, worst->status),
				    *again = other ? error_find(other->op, other->status) : error;
	const char *meaning = worst->soft ? "the server did not answer in time" : error->meaning;
	bool means_more = other && !other->soft && strcmp(again->meaning, meaning) != 0;
	char calls[CALLS_TEXT_SIZE], also[CALLS_TEXT_SIZE] = "";

	say_calls(calls, worst);
	if (other)
		say_calls(also, other);
	safe_format(
		text, FAILURE_TEXT_SIZE, "%s: %s%s%s.%s%s%s%s%s", calls, meaning,
		worst->again ?
			"; the client tries again through the metadata server if the layout allows it" :
		worst->soft || strcmp(worst->status, "EIO") != 0 ? "" :
		worst->hard                                      ? ", or umount -f" :
								   ", or a soft mount gave up",
		worst->kerberos && error->whose == NO_USERS_CALL ? NO_TICKET : "",
		other ? " Also " : "", also, means_more ? ": " : "",
		means_more ? again->meaning : "", other ? "." : "");
	return text;
}
