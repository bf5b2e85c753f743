// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the maps' kernel memory is within its budget on 2 CPUs, on 8, on 256, and with pages of 64 KiB, by the
 * arithmetic of kernel/bpf/arraymap.c, hashtab.c queue_stack_maps.c and ringbuf.c, from the maps as the objects
 * declare them. No map but a few bytes' scratch may be per CPU. (Scenario `memory` compares the sum with what the
 * kernel charges.) */

#include <bpf/libbpf.h>

#include "unit.h"
#include "kernel_events.h"
#include "kernel_events.skel.h"
#include "printk.h"
#include "printk.skel.h"
#include "rpc.h"
#include "snapshot/snapshot.h"
#include "rpc.skel.h"
#include "rpc_tracepoints.h"
#include "rpc_tracepoints.skel.h"

#define BUDGET_2_CPUS 7000000
#define BUDGET_8_CPUS 8700000 /* and for more */
#define BUDGET_LARGE_PAGES 11000000 /* of 64 KiB */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t power_of_two(uint64_t n)
{
	uint64_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* An element of a hash: links and hash (48 bytes), key, value. All are there
 * from the start, and one more for each CPU. Each bucket is 16 bytes. */
static uint64_t hash_bytes(const struct bpf_map *map, unsigned int cpus)
{
	uint64_t element =
		48 + round_up(bpf_map__key_size(map), 8) + round_up(bpf_map__value_size(map), 8);
	uint64_t count = bpf_map__max_entries(map);

	return element * (count + cpus) + 16 * power_of_two(count) + 8 * cpus;
}

/* How bpf_shards() of user/kernel/bpf_support.c chooses: a copy for each CPU, up to a limit. */
static unsigned int shards(unsigned int cpus)
{
	unsigned int n = 1;

	while (n < cpus && n < RPC_MAX_SHARDS)
		n *= 2;
	return n;
}

static uint64_t map_bytes(const struct bpf_map *map, unsigned int cpus, uint64_t page)
{
	uint64_t count = bpf_map__max_entries(map);
	const char *name = bpf_map__name(map);

	/* Those are declared for the most shards that can be. */
	if (!strcmp(name, "series") || !strcmp(name, "server_stats") || !strcmp(name, "replies") ||
	    !strcmp(name, "share_stats"))
		count = count / RPC_MAX_SHARDS * shards(cpus);
	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
		return round_up(512 + count * round_up(bpf_map__value_size(map), 8), page);
	case BPF_MAP_TYPE_HASH:
		return hash_bytes(map, cpus);
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		return round_up(512 + (count + 1) * round_up(bpf_map__value_size(map), 4), page);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		assert_true(bpf_map__value_size(map) * count <= 64);
		return 512 + count * (8 + cpus * round_up(bpf_map__value_size(map), 8));
	case BPF_MAP_TYPE_RINGBUF:
		/* Data, at least a page, their pages' addresses (twice), and three pages. */
		count = round_up(count, page);
		return count + 2 * 8 * (count / page) + 3 * page;
	default:
		print_error("%s is of a type that this does not know\n", name);
		fail();
		return 0;
	}
}

static uint64_t object_bytes(const struct bpf_object *object, unsigned int cpus, uint64_t page)
{
	const struct bpf_map *map;
	uint64_t bytes, total = 0;

	bpf_object__for_each_map(map, object) {
		/* Only `trace --slower` and `--files` make these. */
		if (!strcmp(bpf_map__name(map), "slow_calls") ||
		    !strcmp(bpf_map__name(map), "files"))
			continue;
		bytes = map_bytes(map, cpus, page);
		print_message("%3u CPUs: %-24s %10llu\n", cpus, bpf_map__name(map),
			      (unsigned long long)bytes);
		total += bytes;
	}
	return total;
}

/* In source btf or in source tracepoints: only one is loaded. */
static uint64_t all_bytes(unsigned int cpus, uint64_t page, enum rpc_source source)
{
	struct rpc_tracepoints_bpf *events = rpc_tracepoints_bpf__open();
	struct kernel_events_bpf *kernel = kernel_events_bpf__open();
	struct printk_bpf *printk = printk_bpf__open();
	struct rpc_bpf *rpc = rpc_bpf__open();
	uint64_t total;

	assert_non_null(events);
	assert_non_null(kernel);
	assert_non_null(printk);
	assert_non_null(rpc);
	total = object_bytes(source == RPC_SOURCE_BTF ? rpc->obj : events->obj, cpus, page) +
		object_bytes(kernel->obj, cpus, page) + object_bytes(printk->obj, cpus, page);
	print_message("%3u CPUs: %-24s %10llu\n", cpus, "all", (unsigned long long)total);
	rpc_tracepoints_bpf__destroy(events);
	kernel_events_bpf__destroy(kernel);
	printk_bpf__destroy(printk);
	rpc_bpf__destroy(rpc);
	return total;
}

static void assert_within(uint64_t budget, unsigned int cpus, uint64_t page)
{
	for (int source = RPC_SOURCE_BTF; source <= RPC_SOURCE_TRACEPOINTS; source++) {
		uint64_t bytes = all_bytes(cpus, page, source);

		if (bytes > budget)
			fail_msg(
				"%u CPUs: the maps have %lu bytes, at most %lu: lower RPC_OP_SERIES "
				"in include/rpc.h, or raise the budget here and in "
				"docs/PERFORMANCE.md and give the reason in the commit",
				cpus, bytes, budget);
	}
}

TEST(maps_are_within_budget_on_2_cpus)
{
	assert_within(BUDGET_2_CPUS, 2, 4096);
}

TEST(maps_are_within_budget_on_8_cpus_and_more)
{
	assert_within(BUDGET_8_CPUS, 8, 4096);
	assert_within(BUDGET_8_CPUS, 256, 4096);
}

TEST(maps_are_within_budget_with_large_pages)
{
	assert_within(BUDGET_LARGE_PAGES, 144, 65536);
}
