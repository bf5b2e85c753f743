// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the client of sunrpc of each mount: loads bpf/mount_clients.bpf.c and reads mountstats once. */
#include "owners/mount_calls.h"

#include <bpf/bpf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file_text.h"
#include "rpc.h"
#include "mount_clients.skel.h"

#define FILE_MAX (64 << 20)

/* Takes the clients that the program has seen. A client that follows itself is taken once. */
static int take_clients(int queue, uint32_t **clients, size_t *count)
{
	uint32_t client;
	size_t taken = 0;

	for (; !bpf_map_lookup_and_delete_elem(queue, NULL, &client); taken++) {
		if (*count && (*clients)[*count - 1] == client)
			continue;
		*ARRAY_APPEND(*clients, *count) = client;
	}
	return taken < MOUNT_CLIENTS_MAX ? 0 : -E2BIG;
}

/* NULL with errno: the kernel refuses it. */
static struct mount_clients_bpf *load_program(void)
{
	struct mount_clients_bpf *bpf;
	struct stat namespace;
	int err;

	if (stat("/proc/self/ns/pid", &namespace))
		return NULL;
	bpf = mount_clients_bpf__open();
	if (!bpf)
		return NULL;
	bpf->rodata->namespace_device =
		(uint64_t)major(namespace.st_dev) << 20 | minor(namespace.st_dev);
	bpf->rodata->namespace_inode = namespace.st_ino;
	bpf->rodata->reader = (uint32_t)getpid();
	err = mount_clients_bpf__load(bpf);
	if (!err)
		return bpf;
	mount_clients_bpf__destroy(bpf);
	errno = -err;
	return NULL;
}

int mount_clients_read(const char *process, uint32_t **clients, size_t *count)
{
	struct mount_clients_bpf *bpf = load_program();
	FILE_TEXT text = {};
	int err;

	*clients = NULL;
	*count = 0;
	if (!bpf)
		return -errno;
	err = mount_clients_bpf__attach(bpf) ?:
		      file_text_read(&text, PATHF("%s/mountstats", process), FILE_MAX);
	if (!err)
		err = take_clients(bpf_map__fd(bpf->maps.clients), clients, count);
	mount_clients_bpf__destroy(bpf);
	if (err) {
		free(*clients);
		*clients = NULL;
	}
	return err;
}
