/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who sunrpc's clients are, from the kernel's files: debugfs has a folder
 * rpc_clnt/ID with links to the client's transports (net/sunrpc/debugfs.c), and
 * /proc/fs/nfsfs/servers has names for addresses (fs/nfs/client.c).
 */
#ifndef XIDSCOPE_CLIENTS_H
#define XIDSCOPE_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_text.h"
#include "rpc.h"

struct client_transport {
	char netid[16]; /* "tcp", "tcp6", "rdma", ... */
	char address[RPC_ADDRESS_LEN]; /* as text: "10.0.0.1", "fd00::1" */
};

/* Reads a transport's `info` file: "netid: tcp\naddr:  10.0.0.1\n...". False if
 * one of the two is missing, empty or too long. */
bool clients_parse_transport(struct client_transport *info, const char *text, size_t len);

/*
 * Finds the name of the server at @address in the @len bytes of nfsfs/servers:
 * "v4 7f000001  801   1 host", the second word is the address in hex. The
 * name is cut to @size bytes with the NUL. False if it is not there.
 */
bool clients_parse_server(char *name, size_t size, const char *text, size_t len,
			  const char *address);

/* Whether task number @task is in a client's `tasks` file: after a heading it has a
 * line per task, which begins with the task's number. */
bool clients_has_task(const char *text, size_t len, uint32_t task);

/* The transport of client number @client; false if it is not known. */
bool clients_transport(struct client_transport *info, uint32_t client);

/* Calls @found for each client. */
void clients_each(void (*found)(void *context, uint32_t client,
				const struct client_transport *info),
		  void *context);

/* The name of the server at @address in the process's own network namespace,
 * as given at mount. False if it is not known. */
bool clients_server_name(char *name, size_t size, const char *address);

/* Reads the kernel's list of the client's tasks, which is empty if there is no such client any more.
 * Returns 0, with a text to free, or -errno. The kernel makes each line slowly, and holds the
 * client's lock meanwhile, so a long list is -EFBIG. */
int clients_read_tasks(struct file_text *tasks, uint32_t client);

#endif
