// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that increases of mounts and owners add up while these come, end and return, that there are never too many series,
 * and which of them end and when. */
#include "base/mountinfo.h"
#include "owners/mount_calls.h"
#include "snapshot/delta.h"
#include "snapshot/table.h"
#include "unit.h"

#define OWNERS 4

static struct mount_calls_state calls_state = { .max_owners = OWNERS, .owner_mounts = true };
static const struct mount_list mounts;
static struct client_list clients;
static struct snapshot now, earlier;
static uint64_t time_ns;

/* What all series have grown by since the first snapshot: a new one by all of its count. */
static uint64_t mounts_grew, owners_grew;

AFTER_EACH()
{
	snapshot_free(&earlier);
	earlier = (struct snapshot){};
	time_ns = mounts_grew = owners_grew = 0;
	mount_calls_free(&calls_state);
	snapshot_free(&now);
	now = (struct snapshot){};
	free(clients.list);
	clients = (struct client_list){};
}

/* A client of server nas with so many calls so far; @mountpoint NULL: its mount is not known. */
static void client(uint64_t id, const char *mountpoint, uint64_t calls)
{
	struct client_calls *c = ARRAY_APPEND(clients.list, clients.count);

	*c = (struct client_calls){
		.id = id, .client_id = id, .server = "nas", .mount.known = mountpoint
	};
	snprintf(c->mount.export, sizeof(c->mount.export), "/export");
	snprintf(c->mount.mountpoint, sizeof(c->mount.mountpoint), "%s", mountpoint ?: "");
	c->sums.calls[RPC_KIND_READ] = calls;
	c->sums.phase_ns[RPC_PHASE_FINISH] = calls;
}

/* The calls of each owner on each mount add up to those of the owner; if all clients have owners, also to the mount's. */
static void expect_owners_of_mounts(const struct delta *d)
{
	bool all = true;

	ARRAY_EACH(c, clients.list, clients.count)
		all &= *c->owner != 0;
	ARRAY_EACH(m, d->calls.mount_calls, all ? d->calls.mount_call_count : 0) {
		uint64_t sum = 0;

		ARRAY_EACH(b, d->calls.owner_mounts, d->calls.owner_mount_count)
			if (!strcmp(b->mountpoint, m->mountpoint))
				sum += rpc_kinds_sum(b->sums.calls);
		assert_int_equal(sum, rpc_kinds_sum(m->sums.calls));
	}
	ARRAY_EACH(o, d->calls.owner_calls, d->calls.owner_call_count) {
		uint64_t sum = 0;

		ARRAY_EACH(b, d->calls.owner_mounts, d->calls.owner_mount_count)
			if (!strcmp(b->owner, o->owner))
				sum += rpc_kinds_sum(b->sums.calls);
		assert_int_equal(sum, rpc_kinds_sum(o->sums.calls));
	}
}

static void add_growth(void)
{
	struct delta d = {};

	delta_make(&d, &earlier, &now);
	ARRAY_EACH(m, d.calls.mount_calls, d.calls.mount_call_count)
		mounts_grew += rpc_kinds_sum(m->sums.calls);
	ARRAY_EACH(o, d.calls.owner_calls, d.calls.owner_call_count)
		owners_grew += rpc_kinds_sum(o->sums.calls);
	expect_owners_of_mounts(&d);
	delta_free(&d);
}

/* Takes a snapshot of these clients, so long after the one before. Then there are none. */
static void look_after(uint64_t seconds)
{
	snapshot_free(&earlier);
	earlier = now;
	earlier.time_ns = earlier.time_ns ?: 1;
	now = (struct snapshot){ .time_ns = time_ns += seconds * SECOND };
	for (size_t i = 0; i < clients.count; i++)
		if (clients.list[i].mount.known) {
			struct nfs_mount mount = { .server = "nas", .export = "/export" };

			strcpy(mount.mountpoint, clients.list[i].mount.mountpoint);
			snapshot_mount(&now.calls, &mount);
		}
	mount_calls_add(&calls_state, &clients, &mounts, &now);
	add_growth();
	clients.count = 0;
}

static void look(void)
{
	look_after(60);
}

static uint64_t calls_of(const char *mountpoint)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < now.calls.mount_call_count; i++) {
		const struct calls_by *m = &now.calls.mount_calls[i];

		assert_int_equal(m->sums.calls[RPC_KIND_READ], m->sums.phase_ns[RPC_PHASE_FINISH]);
		if (!mountpoint || !strcmp(m->mountpoint, mountpoint))
			calls += rpc_kinds_sum(m->sums.calls);
	}
	return calls;
}

TEST(calls_of_no_mount_count_as_such)
{
	client(1, NULL, 3);
	client(2, "/mnt/a", 2);
	look();
	client(1, NULL, 4);
	look();
	assert_int_equal(calls_of(""), 4);
	assert_int_equal(calls_of(NULL), 6);
}

/* A share of server nas: so many calls by @owner so far. */
static void share(uint64_t id, const char *owner, uint64_t calls)
{
	client(id, "/mnt/a", calls);
	snprintf(clients.list[clients.count - 1].owner, LABEL_SIZE, "%s", owner);
}

static uint64_t calls_by(const char *owner)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < now.calls.owner_call_count; i++) {
		const struct calls_by *o = &now.calls.owner_calls[i];

		if (!owner || !strcmp(o->owner, owner))
			calls += rpc_kinds_sum(o->sums.calls);
	}
	return calls;
}

/* Mounts, and owners, of which there are fewer. */
static const struct series {
	const char *name;
	void (*add)(uint64_t id, const char *name, uint64_t calls);
	uint64_t (*calls)(const char *name);
	const size_t *count;
	unsigned int max;
} kinds[] = { { "mounts", client, calls_of, &now.calls.mount_call_count, MOUNT_CALLS_MAX },
	      { "owners", share, calls_by, &now.calls.owner_call_count, OWNERS } };

/* The test begins anew with one of these, until there is none. */
static const struct series *begin(size_t kind)
{
	if (kind == COUNT(kinds))
		return NULL;
	fresh();
	print_message("# %s\n", kinds[kind].name);
	return &kinds[kind];
}

TEST(what_returns_goes_on_with_its_series)
{
	const struct series *k;

	for (size_t kind = 0; (k = begin(kind)); kind++) {
		k->add(1, "a", 5);
		k->add(2, "b", 1);
		look();
		k->add(2, "b", 4);
		look();
		k->add(3, "a", 2);
		k->add(2, "b", 4);
		look();
		assert_int_equal(k->calls("a"), 7);
		assert_int_equal(k->calls("b"), 4);
		assert_int_equal(*k->count, 2);
		assert_int_equal(calls_of(NULL), 11);
		/* Also if it has called nothing for an hour until now. */
		time_ns += 3600ull * SECOND;
		k->add(4, "a", 30);
		look();
		assert_int_equal(k->calls("a"), 37);
		assert_int_equal(*k->count, 1);
		assert_int_equal(mounts_grew, 41);
	}
}

/* All calls so far are in the increases of the series. */
static void expect_growth(const struct series *k, uint64_t calls)
{
	assert_int_equal(mounts_grew, calls);
	if (k->add == share)
		assert_int_equal(owners_grew, calls);
}

static bool has_series(const struct series *k, const char *name)
{
	return k->calls(name) > 0;
}

TEST(who_has_not_called_for_longest_ends_first)
{
	const struct series *k;

	for (size_t kind = 0; (k = begin(kind)); kind++) {
		for (uint64_t i = 1; i <= 3 * k->max; i++) {
			k->add(1000, "stays", 10 * i);
			k->add(i, formatted("%lu", i), 1);
			look_after(25);
			assert_in_range(*k->count, 1, k->max);
			for (uint64_t j = 1; j <= i; j++)
				assert_int_equal(k->calls(formatted("%lu", j)), j + k->max > i + 1);
			assert_int_equal(k->calls("stays"), 10 * i);
			expect_growth(k, 11 * i);
		}
		assert_int_equal(k->calls(LABEL_OTHER), 0);
	}
}

TEST(what_has_ended_begins_at_0)
{
	const struct series *k;

	for (size_t kind = 0; (k = begin(kind)); kind++) {
		for (uint64_t i = 1; i <= k->max; i++)
			k->add(i, formatted("%lu", i), 7);
		look();
		for (uint64_t i = 2; i <= k->max + 1; i++)
			k->add(i, formatted("%lu", i), 8);
		look();
		assert_false(has_series(k, "1"));
		look_after(59);
		k->add(2000, "1", 9);
		look_after(1);
		assert_false(has_series(k, "1"));
		k->add(2000, "1", 19);
		look();
		assert_int_equal(k->calls("1"), 10);
		assert_int_equal(k->calls(LABEL_OTHER), 9);
		expect_growth(k, 7 * k->max + k->max - 1 + 8 + 19);
	}
}

TEST(who_calls_has_a_series_for_an_hour)
{
	const struct series *k;

	for (size_t kind = 0; (k = begin(kind)); kind++) {
		k->add(1, "a", 1);
		look();
		for (uint64_t t = 60; t < 3600; t += 60) {
			k->add(2, "b", t);
			look();
			assert_int_equal(k->calls("a"), 1);
		}
		k->add(2, "b", 5000);
		look();
		assert_false(has_series(k, "a"));
		assert_int_equal(*k->count, 1);
		k->add(3, "a", 1);
		k->add(2, "b", 5000);
		look();
		expect_growth(k, 5002);
	}
}

TEST(a_mount_that_is_there_keeps_its_series)
{
	for (uint64_t t = 0; t < 3 * 3600; t += 60) {
		client(1, "/mnt/a", 4);
		look();
	}
	assert_int_equal(calls_of("/mnt/a"), 4);
}

TEST(if_all_call_a_new_one_has_none)
{
	const struct series *k;
	uint64_t turn;

	for (size_t kind = 0; (k = begin(kind)); kind++) {
		for (turn = 1; turn <= 3; turn++) {
			for (uint64_t i = 1; i <= 3 * k->max; i++)
				k->add(i, formatted("%lu", i), turn);
			look();
			assert_int_equal(*k->count, k->max + 1);
			assert_int_equal(k->calls("1"), turn);
			assert_int_equal(k->calls(LABEL_OTHER), 2 * k->max * turn);
			expect_growth(k, 3 * k->max * turn);
		}
		/* There is room now: its calls since then are its own. */
		k->add(2 * k->max, formatted("%u", 2 * k->max), 13);
		look();
		assert_int_equal(k->calls(formatted("%u", 2 * k->max)), 10);
		expect_growth(k, 3 * k->max * 3 + 10);
	}
}

/* Whoever reads the file each minute has all calls in the increases. */
TEST(who_has_called_in_the_last_minute_keeps_its_series)
{
	static const uint64_t after[] = { 60, 59, 1 };
	const struct series *k;

	for (size_t kind = 0; (k = begin(kind)); kind++) {
		for (uint64_t turn = 0; turn < COUNT(after); turn++) {
			for (uint64_t i = 1; i <= k->max; i++)
				k->add(i, formatted("%lu", i), 7);
			if (turn)
				k->add(1000, "new", 4 + turn);
			look_after(after[turn]);
			assert_int_equal(has_series(k, "1"), turn < 2);
		}
		assert_int_equal(k->calls("new"), 1);
		assert_int_equal(k->calls(LABEL_OTHER), 5);
		expect_growth(k, 7 * k->max + 6);
	}
}

/* How much owners and mounts have called since *@seen, which becomes the present. */
static void see(struct calls *seen, uint64_t *owners, uint64_t *mounts)
{
	const struct snapshot then = { .time_ns = 1, .calls = *seen };
	struct delta d = {};

	delta_make(&d, &then, &now);
	ARRAY_EACH(o, d.calls.owner_calls, d.calls.owner_call_count)
		*owners += rpc_kinds_sum(o->sums.calls);
	ARRAY_EACH(m, d.calls.mount_calls, d.calls.mount_call_count)
		*mounts += rpc_kinds_sum(m->sums.calls);
	delta_free(&d);
	calls_free(seen);
	*seen = (struct calls){};
	calls_copy(seen, &now.calls, TABLE_MOUNT_CALLS);
}

/* So many owners, or mounts, that series end and begin again all the time. */
/* Whoever looks each minute would take 5 calls and then 7, of another time, for 2 more. */
TEST(other_does_not_end_before_the_rows_of_its_server)
{
	const struct series *k;

	for (size_t kind = 0; (k = begin(kind)); kind++) {
		for (uint64_t i = 1; i <= k->max + 1; i++)
			k->add(i, formatted("%lu", i), 5);
		look();
		assert_int_equal(k->calls(LABEL_OTHER), 5);
		for (int minute = 1; minute < 62; minute++) {
			for (uint64_t i = 1; i <= k->max; i++)
				k->add(i, formatted("%lu", i), 5 + minute);
			look();
		}
		k->add(9000, "9000", 7);
		look_after(5);
		assert_int_equal(k->calls(LABEL_OTHER), 12);
	}
}

TEST(whoever_looks_each_minute_sees_all_calls)
{
	static const unsigned int percents[] = { 50, 5 };
	const struct series *k;

	for (size_t kind = 0; (k = begin(kind)); kind++)
		ARRAY_EACH(percent, percents, COUNT(percents)) {
			uint64_t sum = 0, grew[4] = {}, calls[3 * MOUNT_CALLS_MAX] = {};
			struct calls quarter = {}, minute = {};

			fresh();
			srand(*percent);
			for (int t = 5; t <= 900; t += 5) {
				for (uint64_t i = 0; i < 3 * k->max; i++) {
					uint64_t more = (unsigned int)rand() % 100 < *percent ?
								1 + i % 3 :
								0;

					sum += more;
					if (calls[i] += more)
						k->add(i, formatted("%lu", i), calls[i]);
				}
				look_after(5);
				if (t % 15 == 0)
					see(&quarter, &grew[0], &grew[1]);
				if (t % 60 == 0)
					see(&minute, &grew[2], &grew[3]);
			}
			calls_free(&quarter);
			calls_free(&minute);
			for (int i = 0; i < 4; i++)
				if (k->add == share || i % 2)
					assert_int_equal(grew[i], sum);
		}
}

/* Job 4711 calls now and then, and shares of jobs that have ended stay in the source's tables. */
TEST(five_hundred_jobs_leave_no_trace)
{
	uint64_t sum = 0, calls = 0;

	for (uint64_t job = 1; job <= 500; job++) {
		calls += job % 2;
		share(1, "slurm:4711", calls);
		for (uint64_t j = job > 200 ? job - 200 : 1; j <= job; j++)
			share(1000 + j, formatted("slurm:%lu", j), 3);
		look();
		sum = 3 * job + calls;
		assert_int_equal(calls_by("slurm:4711"), calls);
		assert_int_equal(owners_grew, sum);
		assert_in_range(now.calls.owner_call_count, 1, OWNERS);
	}
	for (uint64_t t = 0; t < 3600; t += 60)
		look();
	assert_int_equal(now.calls.owner_call_count, 0);
	assert_int_equal(calls_state.totals.owner_call_count, 0);
	assert_int_equal(calls_state.seen_count, 0);
}

TEST(owners_on_mounts_add_up_while_both_come_and_go)
{
	uint64_t calls[8 * OWNERS] = {}, sum = 0;

	for (uint64_t turn = 1; turn <= 400; turn++) {
		for (uint64_t i = 0; i < COUNT(calls); i++) {
			/* Half of the owners call at a time. */
			uint64_t more = (i + turn / 7) % COUNT(calls) < COUNT(calls) / 2 ? i : 0;

			client(1 + i, formatted("/mnt/%lu", i % 3), calls[i] += more);
			snprintf(clients.list[i].owner, LABEL_SIZE, "slurm:%lu", i % (2 * OWNERS));
			sum += more;
		}
		look();
		assert_int_equal(owners_grew, sum);
		assert_int_equal(mounts_grew, sum);
	}
}

TEST(the_oldest_call_of_an_owner_shows_without_a_call_that_ended)
{
	share(1, "slurm:1", 1);
	share(0, "slurm:1", 0);
	clients.list[1].oldest_ns = 7;
	share(0, "slurm:2", 0);
	clients.list[2].oldest_ns = 9;
	look();
	assert_int_equal(now.calls.owner_call_count, 2);
	assert_int_equal(now.calls.owner_calls[0].oldest_ns, 7);
	assert_string_equal(now.calls.owner_calls[1].owner, "slurm:2");
	assert_int_equal(now.calls.owner_calls[1].oldest_ns, 9);
	share(1, "slurm:1", 1);
	look();
	assert_int_equal(now.calls.owner_calls[0].oldest_ns, 0);
}

TEST(the_agent_counts_owners_on_mounts_only_for_errors)
{
	calls_state.owner_mounts = false;
	share(1, "slurm:1", 5);
	share(2, "slurm:2", 6);
	clients.list[1].sums.errors[RPC_KIND_WRITE] = 1;
	now.time_ns = 15 * SECOND;
	mount_calls_add(&calls_state, &clients, &mounts, &now);
	calls_state.owner_mounts = true;
	clients.count = 0;
	assert_int_equal(now.calls.owner_mount_count, 1);
	assert_string_equal(now.calls.owner_mounts->owner, "slurm:2");
	assert_string_equal(now.calls.owner_mounts->mountpoint, "/mnt/a");
}

TEST(a_hundred_pods_on_one_volume_have_one_series)
{
	char point[LABEL_SIZE];

	for (uint64_t pod = 1; pod <= 100; pod++) {
		const char *path =
			formatted("/var/lib/kubelet/pods/%08u-0000-1111-2222-333344445555"
				  "/volumes/kubernetes.io~nfs/train",
				  (unsigned int)pod);

		mount_point_label(point, sizeof(point), path, strlen(path));
		client(pod, point, 3);
		look();
		assert_int_equal(now.calls.mount_call_count, 1);
	}
	assert_int_equal(calls_of("pv:train"), 300);
}

#define STAGED "/var/lib/kubelet/plugins/kubernetes.io/csi/nfs.csi.k8s.io/4f0c/globalmount"

TEST(mounts_of_one_superblock_have_what_they_share)
{
	static const struct {
		const char *mounts[4][2], *export, *mountpoint;
	} cases[] = {
		{ { { "/x", "/data" } }, "/x", "/data" },
		/* Two volumes, and a third one. */
		{ { { "/x/a", "pv:a" }, { "/x/b", "pv:b" } }, "/x", "" },
		{ { { "/x/a", "pv:a" }, { "/x/b", "pv:b" }, { "/x/c", "pv:c" } }, "/x", "" },
		{ { { "/a", "pv:a" }, { "/b", "pv:b" } }, "/", "" },
		{ { { "/x/ab", "pv:a" }, { "/x/a", "pv:b" } }, "/x", "" },
		/* One contains the others. */
		{ { { "/x", "/data" }, { "/x/a", "pv:a" } }, "/x", "/data" },
		{ { { "/x/a", "pv:a" }, { "/x", "/data" } }, "/x", "/data" },
		{ { { "/x/a", "pv:a" }, { "/x/b", "pv:b" }, { "/x", "/data" } }, "/x", "/data" },
		{ { { "/x/a", "pv:a" }, { "/x/b", "pv:b" }, { "/x", "pv:c" } }, "/x", "pv:c" },
		{ { { "/x", "pv:c" }, { "/x/a", "pv:a" }, { "/x/b", "pv:b" } }, "/x", "pv:c" },
		{ { { "/x/a", "pv:a" }, { "/", "/data" } }, "/", "/data" },
		{ { { "/x/a", "pv:a" }, { "/x/a/pod-1", "pv:a" } }, "/x/a", "pv:a" },
		/* The same folder: staged and published, two volumes. */
		{ { { "/x", STAGED }, { "/x", "pv:a" }, { "/x", "pv:a" } }, "/x", "pv:a" },
		{ { { "/x", "pv:a" }, { "/x", STAGED } }, "/x", "pv:a" },
		{ { { "/x", STAGED } }, "/x", STAGED },
		/* The node's own mount is there while pods come and go. */
		{ { { "/x", "pv:a" }, { "/x", "/data" } }, "/x", "/data" },
		{ { { "/x", "/data" }, { "/x", "pv:a" } }, "/x", "/data" },
		{ { { "/x", "pv:a" }, { "/x", "pv:b" }, { "/x", "/data" } }, "/x", "/data" },
		{ { { "/x", STAGED }, { "/x", "pv:a" }, { "/x", "/data" } }, "/x", "/data" },
		{ { { "/x", "pv:a" }, { "/x", "pv:b" }, { "/x", "pv:c" } }, "/x", "" },
		{ { { "/x", "/data" }, { "/x", "/mnt" } }, "/x", "/data" },
		{ { { "x", "/data" }, { "y", "/mnt" } }, "/", "" },
		/* As it was mounted. */
		{ { { "/x/", "/data" }, { "/x/a", "pv:a" } }, "/x/", "/data" },
		{ { { "/x/a", "pv:a" }, { "/x/", "/data" } }, "/x/", "/data" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct client_mount c = {};
		struct nfs_mount m = {};

		print_message("# case %zu\n", i);
		for (size_t j = 0; j < 4 && cases[i].mounts[j][0]; j++) {
			strcpy(m.export, cases[i].mounts[j][0]);
			strcpy(m.mountpoint, cases[i].mounts[j][1]);
			client_add_mount(&c, &m);
		}
		assert_true(c.known);
		assert_string_equal(c.export, cases[i].export);
		assert_string_equal(c.mountpoint, cases[i].mountpoint);
	}
}

static int reads; /* of the clients of mounts */

int mount_clients_read(const char *process, uint32_t **of, size_t *count)
{
	assert_string_equal(process, "");
	*of = not_null(calloc(1, sizeof(**of)));
	**of = 5;
	*count = 1;
	reads++;
	return 0;
}

/* Client 5 has called so often; device 50 has so many of the mounts. */
static void look_at(const struct nfs_mount *list, size_t count, bool changed, uint64_t calls)
{
	struct mount_place places[3] = { { 50, 0 }, { 50, 1 }, { 50, 2 } };
	const struct mount_list there = {
		.seen = { .mounts = (struct nfs_mount *)list, .mount_count = count },
		.places = places,
		.place_count = count,
		.changed = changed,
	};

	snapshot_free(&now);
	now = (struct snapshot){ .time_ns = time_ns += 15 * SECOND };
	client(1, NULL, calls);
	clients.list[0].client = 5;
	for (size_t i = 0; i < count; i++)
		snapshot_mount(&now.calls, &list[i]);
	mount_calls_add(&calls_state, &clients, &there, &now);
	clients.count = 0;
}

TEST(a_volume_that_is_gone_loses_its_name)
{
	static const struct nfs_mount list[] = {
		{ .server = "nas", .export = "/x/a", .mountpoint = "pv:a" },
		{ .server = "nas", .export = "/x/b", .mountpoint = "pv:b" },
	};

	reads = 0;
	look_at(list, 2, true, 100);
	assert_int_equal(calls_of(""), 100);
	assert_string_equal(now.calls.mount_calls->export, "/x");
	look_at(list + 1, 1, true, 130);
	assert_int_equal(calls_of("pv:b"), 30);
	assert_int_equal(calls_of("pv:a"), 0);
	look_at(list + 1, 1, false, 150);
	assert_int_equal(calls_of("pv:b"), 50);
	assert_int_equal(reads, 2);
	/* What they share keeps its series while one of them is mounted. */
	for (int t = 0; t < 3 * 3600; t += 15)
		look_at(list + 1, 1, false, 150);
	assert_int_equal(calls_of(""), 100);
	assert_int_equal(reads, 2);
}

TEST(another_owner_of_a_client_has_its_mount)
{
	share(1, "slurm:1", 1);
	look();
	share(1, "slurm:1", 1);
	client(2, NULL, 5);
	clients.list[1].client_id = 1;
	look();
	assert_int_equal(calls_of("/mnt/a"), 6);
	assert_int_equal(calls_of(""), 0);
}

static const char *name_server(const void *context, uint32_t server)
{
	assert_int_equal(server, 0);
	return context;
}

TEST(a_share_is_freed_once_its_last_calls_are_read)
{
	static __u16 client[RPC_CLIENT_ENTRIES], share[RPC_CLIENT_ENTRIES * RPC_MAX_OWNERS];
	static struct rpc_client_info clients[RPC_CLIENT_ENTRIES];
	static struct share_reader r;
	struct rpc_share_info info[] = { {}, { 1, 0 } };
	struct rpc_share_stats stats[2] = { {}, { .started = 1, .finished = 1 } };
	struct client_list list = {};

	/* Its client's place is another's by now. */
	clients[1].client = 5;
	r.maps = (struct share_maps){
		.client = client, .share = share, .client_info = clients, .info = info
	};
	r.shards = 1;
	r.stats = stats;
	r.share_count = 2;
	for (unsigned int calls = 1; calls <= 2; calls++) {
		stats[1].sums.calls[0] = calls;
		shares_read(&r, &list, name_server, "nas");
		assert_int_equal(list.count, calls);
		assert_int_equal(list.list[calls - 1].sums.calls[0], calls);
	}
	assert_int_equal(info[1].entry, 0);
	assert_int_equal(stats[1].sums.calls[0], 0);
	free(list.list);
}
