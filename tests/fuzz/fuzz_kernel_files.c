// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libFuzzer entry for the kernel's small files (lockdown, status, modules.dep,
 * versions, symbols, mounts): whatever they hold, what is read of them is
 * terminated and fits.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "faults/fault_facts.h"
#include "kernel/mounts.h"
#include "rpc/facts.h"

static char root[] = "/dev/shm/xidscope-fuzz.XXXXXX";

static const char *const files[] = {
	"/sys/module/sunrpc/initstate",
	"/sys/module/sunrpc/srcversion",
	"/sys/module/sunrpc/taint",
	"/sys/kernel/security/lockdown",
	"/proc/self/status",
	"/lib/modules/6.1/modules.dep",
	"/lib/modules/6.1/sunrpc.ko",
	"/sys/module/nvidia/version",
	"/proc/driver/nvidia/version",
	"/proc/kallsyms",
	"/proc/self/mountinfo",
};

/* Not assert(): these must hold in builds with NDEBUG too. */
static void require(int condition)
{
	if (!condition)
		abort();
}

static void make_folders(void)
{
	char path[128], *slash;

	require(mkdtemp(root) != NULL);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, files[i]);
		for (slash = path + strlen(root); (slash = strchr(slash + 1, '/'));) {
			*slash = 0;
			mkdir(path, 0700);
			*slash = '/';
		}
	}
}

static void remove_all(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	require(!system(command));
}

/* One file is written anew; without bytes it goes. */
static void put(size_t file, const void *bytes, size_t len)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s%s", root, files[file]);
	if (!len) {
		remove(path);
		return;
	}
	out = fopen(path, "w");
	require(out && fwrite(bytes, 1, len, out) == len && !fclose(out));
}

#define REQUIRE_STRING(array) require(memchr(array, 0, sizeof(array)) != NULL)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is the file; two files stand while they are read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	struct fault_facts fault;
	struct rpc_facts rpc;
	char source[40];
	size_t file;

	if (!made) {
		make_folders();
		atexit(remove_all);
		made = true;
	}
	if (!size)
		return 0;
	file = data[0] % (sizeof(files) / sizeof(files[0]));
	put(file, data + 1, size - 1);
	/* For a module's file to be read, a list must name it. */
	if (strstr(files[file], "sunrpc.ko"))
		put(5, "sunrpc.ko: x\n", 13);
	rpc_facts_look(&rpc, root);
	rpc_facts_look_on_disk(&rpc, root, "6.1");
	REQUIRE_STRING(rpc.srcversion);
	REQUIRE_STRING(rpc.tracefs_path);
	REQUIRE_STRING(rpc.disk_path);
	REQUIRE_STRING(rpc.disk_srcversion);
	require(!*rpc.disk_srcversion || *rpc.disk_path);
	fault_facts_read(&fault, root, "6.1");
	REQUIRE_STRING(fault.driver_version);
	memset(source, 'x', sizeof(source));
	if (mounts_find_network(root, 36, source, sizeof(source)))
		REQUIRE_STRING(source);
	put(file, NULL, 0);
	put(5, NULL, 0);
	return 0;
}
