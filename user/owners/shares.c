// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the calls by client and owner that programs have counted, and frees what has ended.
 *
 * A share holds the calls of one client of sunrpc by one owner, a control group. Its tables are small: 256 clients, 256
 * owners, 512 shares, of which each client has one for the kernel's calls. Jobs come and go by the thousand, therefore
 * numbers must be used again.
 *
 * Invariant: a number is given to somebody else only after no program can write to it for the old one any more. A program
 * looks a number up and then writes to it; an interrupt, or a virtual CPU that does not run, may lie between the two. If
 * the number were free meanwhile, calls of one job would count for another.
 *
 * Each number is therefore freed by two readings. The first finds that it has ended, or decides that it must go, and
 * removes all that leads to it: cells of processes and tasks, the place of the share, the entry in owner_index. The second
 * reading, an interval later, takes the last figures and puts the number back on the stack of free ones, of which the
 * last is given out first: shares in use stay low, and only these are mapped.
 *
 *   number   has ended if
 *   share    its client's place or its own place no longer holds it
 *   client   sunrpc's number has another entry, or its server has ended; and no share is left
 *   owner    a table is more than half full, and it has not called since the last reading
 *
 * Example, interval 15 s, 300 jobs an hour: job 4711 ends at 10:00:07. At 10:00:30 it has not called since the last
 * reading, and the tables are more than half full: it is removed. At 10:00:45 its share is read and freed, at 10:01:00 its
 * owner's number. If it had called again, it would have got a new number, and its name would be the same.
 *
 * Why not a map that drops the least recently used entry? It drops while a program writes, and its counts are lost. */
#include "owners/mount_calls.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "kernel/kernel_types.h"

/* The lowest number is given out first. */
static int fill_stack(const struct bpf_map *stack, uint32_t count, uint32_t step)
{
	for (uint32_t i = count; (i -= step) && i < count;)
		if (bpf_map_update_elem(bpf_map__fd(stack), NULL, &i, BPF_ANY))
			return -errno;
	return 0;
}

int shares_open(struct share_reader *r, const struct share_maps *maps, uint32_t shards)
{
	int err;

	r->maps = *maps;
	r->shards = shards;
	r->id[0] = client_id(0);
	err = fill_stack(maps->free_clients, RPC_CLIENT_ENTRIES, 1);
	err = err ?: fill_stack(maps->free_shares, RPC_MAX_SHARES + 1, 2);
	r->misses_ends = maps->owners && kernel_misses_events();
	if (!r->misses_ends)
		bpf_values_drop(maps->cell, RPC_OWNER_CELLS * sizeof(*maps->cell));
	return err || !maps->owners ? err : fill_stack(maps->free_owners, RPC_MAX_OWNERS, 1);
}

int shares_map(struct share_reader *r)
{
	r->share_count = RPC_MAX_SHARES; /* less those that are not in use */
	while (r->share_count > 1 && !r->maps.info[r->share_count - 1].entry)
		r->share_count--;
	r->began_ns = monotonic_ns();
	r->stats = bpf_values_map_first(r->maps.share_stats, (size_t)r->share_count * r->shards,
					PROT_READ | PROT_WRITE);
	return r->stats ? 0 : -errno;
}

void shares_unmap(struct share_reader *r)
{
	bpf_values_unmap_first(r->maps.share_stats, (size_t)r->share_count * r->shards, r->stats);
	bpf_values_unmap(r->maps.owners, r->owners);
	r->stats = NULL;
	r->owners = NULL;
}

void shares_close(struct share_reader *r)
{
	if (r->shards)
		helper_free(&r->names);
	*r = (struct share_reader){};
}

static void free_number(const struct bpf_map *stack, uint32_t number)
{
	bpf_map_update_elem(bpf_map__fd(stack), NULL, &number, BPF_ANY);
}

/* ---- owners ---- */

/* Maps the owners at the first need of a reading: they are 200 kB. */
static bool map_owners(struct share_reader *r)
{
	if (!r->owners && r->maps.owners)
		r->owners = bpf_values_map(r->maps.owners, PROT_READ | PROT_WRITE);
	return r->owners;
}

const char *shares_owner(struct share_reader *r, uint32_t owner)
{
	const char *names[RPC_OWNER_LEVELS];
	char *label = r->label[owner];

	if (r->asked[owner] == SHARE_NAMED || !map_owners(r))
		return label;
	if (!r->asked[owner])
		r->asked[owner] = r->began_ns;
	for (int i = 0; i < RPC_OWNER_LEVELS; i++)
		names[i] = owner ? r->owners[owner].path[i] : "";
	if (owner_name(label, names, RPC_OWNER_LEVELS, &r->names, r->variables, r->asked[owner]))
		r->asked[owner] = SHARE_NAMED;
	return label;
}

const char *shares_owner_of_group(struct share_reader *r, uint32_t owner, uint64_t group)
{
	return !owner || (map_owners(r) && r->owners[owner].key.id == group) ?
		       shares_owner(r, owner) :
		       "";
}

void shares_show_oldest(struct share_reader *r, struct client_list *to, const char *server,
			uint32_t owner, uint64_t age)
{
	const char *name = shares_owner(r, owner);
	struct client_calls *c;

	if (!*name)
		return;
	c = ARRAY_APPEND(to->list, to->count);
	snprintf(c->server, sizeof(c->server), "%s", server);
	snprintf(c->owner, sizeof(c->owner), "%s", name);
	c->oldest_ns = age;
}

/* Removes what leads from processes and tasks to the owners in @leaving; NULL: from processes to any. False: no memory, which is counted. */
static bool forget_owners(const struct share_reader *r, const bool *leaving)
{
	char *whole = (char *)bpf_map__initial_value((struct bpf_map *)r->maps.bss, &(size_t){ 0 });
	char *bss = r->misses_ends ? whole : bpf_values_map(r->maps.bss, PROT_READ | PROT_WRITE);
	volatile struct rpc_owner_cell *cell = (void *)(bss + ((const char *)r->maps.cell - whole));

	for (size_t i = 0; bss && i < RPC_OWNER_CELLS; i++)
		if (!leaving || leaving[cell[i].process & (RPC_MAX_OWNERS - 1)])
			cell[i].process = 0;
	for (size_t i = 0; leaving && r->maps.task && i < RPC_TASK_OWNERS; i++)
		if (r->maps.task[i] % RPC_MAX_OWNERS && leaving[r->maps.task[i] % RPC_MAX_OWNERS])
			r->maps.task[i] = 0;
	if (!bss)
		memory_count_failure();
	if (bss != whole)
		bpf_values_unmap(r->maps.bss, bss);
	return bss;
}

/* What one reading finds. */
struct share_uses {
	uint32_t shares;
	uint32_t by_client[RPC_CLIENT_ENTRIES], by_owner[RPC_MAX_OWNERS]; /* shares */
	bool active[RPC_MAX_OWNERS]; /* it has called since the last reading */
};

/* Removes owners that have not called since the last reading while a table is more than half full, and frees those that an
 * earlier reading has removed. A program that looked the owner up before may have led a process, task or share to it since
 * then: this is removed again. */
static void end_idle(struct share_reader *r, const struct share_uses *uses)
{
	bool full = uses->shares > RPC_MAX_SHARES / 2;
	/* A process that found no number, and has 0, looks again. */
	bool leaving[RPC_MAX_OWNERS] = { true }, any = false;
	uint32_t owners = 0;

	for (uint32_t i = 1; i < RPC_MAX_OWNERS; i++)
		owners += r->owners[i].key.root != 0;
	full |= owners > RPC_MAX_OWNERS / 2;
	for (uint32_t i = 1; i < RPC_MAX_OWNERS; i++) {
		if (!r->owners[i].key.root)
			continue;
		leaving[i] = r->owner_ended[i] ? !uses->by_owner[i] : full && !uses->active[i];
		any |= leaving[i];
		if (!leaving[i] || r->owner_ended[i])
			continue;
		/* What leads to it from its control group and its clients. If it calls again, it gets a new number. */
		bpf_map_delete_elem(bpf_map__fd(r->maps.owner_index), &r->owners[i].key);
		for (uint32_t c = 0; c < RPC_CLIENT_ENTRIES; c++)
			r->maps.share[c * RPC_MAX_OWNERS + i] = 0;
	}
	any = any && forget_owners(r, leaving);
	for (uint32_t i = 1; any && i < RPC_MAX_OWNERS; i++) {
		if (leaving[i] && r->owner_ended[i]) {
			r->owners[i].key.root = 0;
			r->asked[i] = 0;
			free_number(r->maps.free_owners, i);
		}
		r->owner_ended[i] ^= leaving[i];
	}
	r->ending = any;
}

/* ---- shares ---- */

/* Frees a share if this reading and the one before found that nothing leads to it. Returns whether it is free. */
static bool free_ended(struct share_reader *r, uint32_t share)
{
	const volatile struct rpc_share_info *info = &r->maps.info[share];
	const volatile struct rpc_client_info *client = &r->maps.client_info[info->entry];
	volatile __u16 *place = &r->maps.share[info->entry * RPC_MAX_OWNERS + info->owner];
	bool ended = !client->client || r->maps.client[client->client - 1] != info->entry ||
		     *place != share;

	if (!ended || !r->share_ended[share]) {
		r->share_ended[share] = ended;
		return false;
	}
	if (*place == share)
		*place = 0;
	r->share_ended[share] = false;
	r->id[share] = r->calls[share] = r->rest_ns[share] = 0;
	r->maps.info[share] = (struct rpc_share_info){};
	memset(&r->stats[(size_t)share * r->shards], 0, r->shards * sizeof(*r->stats));
	if (share % 2) /* RPC_KERNEL_SHARE() stays its client's */
		free_number(r->maps.free_shares, share);
	return true;
}

/* Frees the entries of clients that have ended and have no share. */
static void free_clients(struct share_reader *r, const struct share_uses *uses)
{
	for (uint32_t i = 1; i < RPC_CLIENT_ENTRIES; i++) {
		bool ended = r->maps.client_info[i].client && !uses->by_client[i] &&
			     r->maps.client[r->maps.client_info[i].client - 1] != i;

		if (ended && r->client_ended[i]) {
			r->maps.client_info[i].client = 0;
			r->client_id[i] = 0;
			free_number(r->maps.free_clients, i);
			ended = false;
		}
		r->client_ended[i] = ended;
	}
}

void shares_name_errors(struct share_reader *r, struct calls *c)
{
	ARRAY_EACH(e, c->errors, c->error_count) {
		const volatile struct rpc_share_info *info =
			&r->maps.info[e->share % RPC_MAX_SHARES];

		if (!info->entry)
			continue;
		e->client = r->maps.client_info[info->entry].client;
		snprintf(e->owner, sizeof(e->owner), "%s", shares_owner(r, info->owner));
	}
}

bool shares_end_server(struct share_reader *r, uint32_t server)
{
	volatile __u16 *entry;
	bool any = false;

	for (uint32_t i = 1; i < RPC_CLIENT_ENTRIES; i++) {
		if (!r->maps.client_info[i].client || r->maps.client_info[i].server != server)
			continue;
		entry = &r->maps.client[r->maps.client_info[i].client - 1];
		if (*entry == i)
			*entry = 0;
		any = true;
	}
	return any;
}

/* Sets the time until replies, which is what the other phases leave of the total. It may be too short in a copy that has
 * a part of a call: then it stays as it was. */
static void set_rest(struct share_reader *r, uint32_t share, struct rpc_sums *sums)
{
	uint64_t total = rpc_kinds_sum(sums->total_ns), others = 0;

	for (int p = 0; p < RPC_PHASES; p++)
		others += sums->phase_ns[p];
	if (total > others)
		RAISE(r->rest_ns[share], total - others);
	sums->phase_ns[RPC_PHASE_RTT] = r->rest_ns[share];
}

/* Adds the share's figures, of all shards, to @to. */
static void add_sums(const struct share_reader *r, uint32_t share, unsigned int *pauses_left,
		     struct rpc_sums *to)
{
	struct rpc_share_stats copy;
	uint64_t finished;

	for (uint32_t shard = 0; shard < r->shards; shard++) {
		const volatile struct rpc_share_stats *s = &r->stats[share * r->shards + shard];
		const struct bpf_value from = { s, sizeof(*s), &s->started, &s->finished };

		if (!s->started)
			continue;
		bpf_copy(&copy, &from, pauses_left, &finished);
		rpc_sums_add(to, &copy.sums);
	}
}

/* Adds a share that has calls. */
static void add_share(struct share_reader *r, uint32_t share, const char *server,
		      const struct rpc_sums *sums, struct client_list *to)
{
	const volatile struct rpc_share_info *info = &r->maps.info[share];
	struct client_calls *c = ARRAY_APPEND(to->list, to->count);

	if (!r->id[share])
		r->id[share] = client_id(share);
	if (!r->client_id[info->entry])
		r->client_id[info->entry] = client_id(info->entry);
	c->id = r->id[share];
	c->client_id = r->client_id[info->entry];
	c->client = r->maps.client_info[info->entry].client - 1;
	c->sums = *sums;
	snprintf(c->server, sizeof(c->server), "%s", server);
	snprintf(c->owner, sizeof(c->owner), "%s", shares_owner(r, info->owner));
}

void shares_read(struct share_reader *r, struct client_list *to,
		 const char *(*server)(const void *context, uint32_t server), const void *context)
{
	unsigned int pauses_left = BPF_COPY_PAUSES;
	struct share_uses uses = {};
	const char *name;
	uint64_t calls;
	bool look;

	for (uint32_t i = 0; i < r->share_count; i++) {
		const volatile struct rpc_share_info *info = &r->maps.info[i];
		struct rpc_sums sums = {};

		if (i && !info->entry)
			continue;
		name = i ? server(context, r->maps.client_info[info->entry].server) : LABEL_OTHER;
		if (*name)
			add_sums(r, i, &pauses_left, &sums);
		set_rest(r, i, &sums);
		calls = rpc_kinds_sum(sums.calls);
		uses.active[info->owner] |= calls != r->calls[i] || !*name;
		r->calls[i] = calls;
		if (calls)
			add_share(r, i, name, &sums, to);
		if (i && free_ended(r, i))
			continue;
		uses.shares++;
		uses.by_client[info->entry]++;
		uses.by_owner[info->owner]++;
	}
	free_clients(r, &uses);
	/* They are mapped if one with a share is new. One that has none yet is seen later. */
	look = r->owners || r->ending || uses.shares > RPC_MAX_SHARES / 2 || !(r->readings % 16);
	r->readings++;
	if (look && map_owners(r))
		end_idle(r, &uses);
	/* The kernel reports no ends of processes: a process number may belong to another process by now. */
	if (r->misses_ends)
		forget_owners(r, NULL);
}
