// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the kernel's small files (lockdown, status, modules.dep, versions, symbols, modules, mounts, a
 * GPU, CPU pressure, a process that holds a GPU): whatever they hold, what is read of them is terminated and fits,
 * and what is written of it is JSON. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/mountinfo.h"
#include "base/process.h"
#include "faults/fault_observer.h"
#include "faults/recognise/recognise.h"
#include "fuzz.h"
#include "rpc/choice.h"

static char root[] = "/dev/shm/xidscope-fuzz.XXXXXX";

static const char *const files[] = {
	"/sys/module/sunrpc/initstate",
	"/sys/module/sunrpc/srcversion",
	"/sys/module/sunrpc/taint",
	"/sys/kernel/security/lockdown",
	"/proc/self/status",
	"/proc/cgroups",
	"/sys/fs/cgroup/cgroup.controllers",
	"/sys/module/nvidia/version",
	"/proc/driver/nvidia/version",
	"/proc/7/fdinfo/3",
	"/proc/self/mountinfo",
	"/proc/pressure/cpu",
	"/proc/driver/nvidia/gpus/0000:c1:00.0/information",
	"/proc/7/cgroup",
	"/proc/7/comm",
};

#define FILES (sizeof(files) / sizeof(files[0]))

static void make_folders(void)
{
	char path[128], device[128], *slash;

	require(mkdtemp(root) != NULL);
	for (size_t i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s%s", root, files[i]);
		for (slash = path + strlen(root); (slash = strchr(slash + 1, '/'));) {
			*slash = 0;
			mkdir(path, 0700);
			*slash = '/';
		}
	}
	/* A process that has a device open, which stands for the GPU's: 1:3. */
	snprintf(path, sizeof(path), "%s/nvidia3", root);
	require(!symlink("/dev/null", path));
	snprintf(path, sizeof(path), "%s/dev", root);
	require(!symlink(root, path));
	snprintf(path, sizeof(path), "%s/proc/7/fd", root);
	require(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/proc/7/fd/3", root);
	snprintf(device, sizeof(device), "%s/dev/nvidia3", root);
	require(!symlink(device, path));
}

static void remove_all(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	require(!system(command));
}

/* One file is written anew; without bytes it goes. */
static void put(const char *file, const void *bytes, size_t len)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s%s", root, file);
	if (!len) {
		remove(path);
		return;
	}
	out = fopen(path, "w");
	require(out && fwrite(bytes, 1, len, out) == len && !fclose(out));
}

/* Has a link of that process lead where @bytes name, up to a NUL, and looks who holds the GPU. */
static void look_who_holds(const char *bytes, size_t len)
{
	const struct gpu_minors minors = { 1, { { "0000:c1:00.0", 3, "" } } };
	char path[128], *target = strndup(bytes, len), *text = NULL, *line, *end, *members;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	require(target && out);
	snprintf(path, sizeof(path), "%s/proc/7/fd/4", root);
	if (symlink(target, path))
		*path = 0;
	gpu_holders_scan(root, 1, &minors, out);
	require(!fclose(out));
	for (line = text; *line; line = end + 1) {
		end = strchr(line, '\n');
		members = strstr(line, " \"held_by\"");
		require(end && members);
		*members = '{';
		*end = '}';
		require(json_valid(members, (size_t)(end + 1 - members)));
	}
	if (*path)
		unlink(path);
	free(target);
	free(text);
}

/* The first byte is the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	struct fault_offer fault;
	struct rpc_offer rpc;
	char source[40], uuid[GPU_UUID_SIZE];
	unsigned int minor;
	size_t file;

	if (!made) {
		make_folders();
		atexit(remove_all);
		made = true;
	}
	if (!size)
		return 0;
	file = data[0] % FILES;
	put(files[file], data + 1, size - 1);
	rpc_offer_look(&rpc, root, NULL);
	require_string(rpc.srcversion);
	require_string(rpc.tracefs_path);
	fault_offer_read(&fault, root, 1);
	require_string(fault.driver_version);
	memset(source, 'x', sizeof(source));
	if (mounts_find_network(root, 36, NULL, false, source, sizeof(source)))
		require_string(source);
	memset(source, 'x', sizeof(source));
	if (mounts_find_network(root, -1, "/mnt/nas/x", true, source, sizeof(source)))
		require_string(source);
	memset(uuid, 'x', sizeof(uuid));
	uuid[0] = 0;
	gpu_information_read(root, "0000:c1:00.0", &minor, uuid);
	require_string(uuid);
	require(!*uuid || (strlen(uuid) == 40 && !strncmp(uuid, "GPU-", 4)));
	fault_cause(root, 7, false);
	cpu_pressure_waiting_ns(root);
	look_who_holds((const char *)data + 1, size - 1);
	put(files[file], NULL, 0);
	return 0;
}
