// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the calls of mounts add up while mounts come, end and return, and that there are never too many series. */
#include "unit.h"
#include "base/array.h"
#include "owners/mount_calls.h"

static struct mount_calls_state state;
static const struct calls none;
static const struct mount_list mounts = { "", &none, NULL, 0, false };
static struct client_list clients;
static struct snapshot now;

AFTER_EACH()
{
	mount_calls_free(&state);
	snapshot_free(&now);
	now = (struct snapshot){};
	free(clients.list);
	clients = (struct client_list){};
}

/* A client of server nas with so many calls so far; @mountpoint NULL: its mount is not known. */
static void client(uint64_t id, const char *mountpoint, uint64_t calls)
{
	struct client_calls *c = ARRAY_APPEND(clients.list, clients.count);

	*c = (struct client_calls){ .id = id, .server = "nas", .known = mountpoint };
	snprintf(c->export, sizeof(c->export), "/export");
	snprintf(c->mountpoint, sizeof(c->mountpoint), "%s", mountpoint ?: "");
	c->sums.calls[RPC_KIND_READ] = calls;
	c->sums.phase_ns[RPC_PHASE_FINISH] = calls;
}

/* Takes a snapshot of these clients, after which there are none. */
static void look(void)
{
	snapshot_free(&now);
	now = (struct snapshot){};
	for (size_t i = 0; i < clients.count; i++)
		if (clients.list[i].known) {
			struct nfs_mount mount = { .server = "nas", .export = "/export" };

			strcpy(mount.mountpoint, clients.list[i].mountpoint);
			snapshot_mount(&now.calls, &mount);
		}
	assert_int_equal(mount_calls_add(&state, &clients, &mounts, &now), 0);
	clients.count = 0;
}

static uint64_t calls_of(const char *mountpoint)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < now.calls.mount_calls_count; i++) {
		const struct mount_calls *m = &now.calls.mount_calls[i];

		assert_int_equal(m->sums.calls[RPC_KIND_READ], m->sums.phase_ns[RPC_PHASE_FINISH]);
		if (!mountpoint || !strcmp(m->mountpoint, mountpoint))
			calls += rpc_sums_calls(&m->sums);
	}
	return calls;
}

TEST(a_mount_that_returns_goes_on_with_its_series)
{
	client(1, "/mnt/a", 5);
	client(2, "/mnt/b", 1);
	look();
	client(2, "/mnt/b", 4);
	look();
	client(3, "/mnt/a", 2);
	client(2, "/mnt/b", 4);
	look();
	assert_int_equal(calls_of("/mnt/a"), 7);
	assert_int_equal(calls_of("/mnt/b"), 4);
	assert_int_equal(now.calls.mount_calls_count, 2);
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

TEST(mounts_that_have_ended_merge_first)
{
	char name[32];

	for (uint64_t i = 1; i <= 3 * MOUNT_CALLS_MAX; i++) {
		snprintf(name, sizeof(name), "/mnt/%lu", (unsigned long)i);
		client(1000, "/mnt/stays", i);
		client(i, name, 1);
		look();
		assert_in_range(now.calls.mount_calls_count, 1, MOUNT_CALLS_MAX + 1);
		assert_int_equal(calls_of(NULL), 2 * i);
		assert_int_equal(calls_of("/mnt/stays"), i);
		assert_int_equal(calls_of(name), 1);
	}
	assert_true(calls_of(LABEL_OTHER) > MOUNT_CALLS_MAX);
}

TEST(too_many_mounts_at_once_merge)
{
	char name[32];

	for (uint64_t i = 1; i <= 2 * MOUNT_CALLS_MAX; i++) {
		snprintf(name, sizeof(name), "/mnt/%lu", (unsigned long)i);
		client(i, name, 1);
	}
	look();
	assert_in_range(now.calls.mount_calls_count, MOUNT_CALLS_MAX, MOUNT_CALLS_MAX + 1);
	assert_int_equal(calls_of(NULL), 2 * MOUNT_CALLS_MAX);
}
