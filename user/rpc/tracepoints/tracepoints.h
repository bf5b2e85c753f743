/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The source tracepoints: the maps of bpf/rpc_tracepoints.bpf.c, and the servers of sunrpc's clients, which only user space
 * can find. */
#pragma once

#include "base/file_text.h"
#include "base/safe_text.h"
#include "owners/mount_calls.h"
#include "rpc/rpc_series.h"
#include "rpc_tracepoints.h"
#include "snapshot/snapshot.h"

/* ---- clients.c: debugfs has a folder rpc_clnt/ID with links to the client's transports (net/sunrpc/debugfs.c), and
 * /proc/fs/nfsfs/servers has names for addresses (fs/nfs/client.c) ---- */

struct client_transport {
	uint32_t client; /* its number */
	char netid[16]; /* "tcp", "tcp6", "rdma", ... */
	char address[RPC_ADDRESS_LEN]; /* as text: "10.0.0.1", "fd00::1" */
	uint32_t port; /* NFS_PORT if it is not known yet */
};

/* Reads a transport's `info` file: "netid: tcp\naddr:  10.0.0.1\nport:  2049\n...". False: netid or address is missing, empty or too long. */
bool clients_parse_transport(struct client_transport *info, const char *text);

/* Finds the name of the server at @address and @port in the @len bytes of nfsfs/servers: "v4 7f000001  801   1 host", address and
 * port are in hex. The name is cut to @size bytes with the NUL. False if it is not there. */
bool clients_parse_server(char *name, size_t size, const char *text, size_t len,
			  const char *address, uint32_t port);

/* Whether task number @task is in a client's `tasks` file: after a heading it has a
 * line per task, which begins with the task's number. @op: its NFS op; "": it has none. */
bool clients_has_task(const char *text, size_t len, uint32_t task, char op[RPC_OP_LEN]);

/* Takes lines of such a file up to the next NFS call that waits for its reply or to be sent. Returns its task's number; 0: there is none. */
uint32_t clients_waiting_task(struct span *tasks);

/* The transport of client number @client; false if it is not known. */
bool clients_transport(struct client_transport *info, uint32_t client);

/* Lists the clients, for free(). Returns false if they are not known: debugfs is not there, or cannot be read, or there is no memory. */
bool clients_list(struct client_transport **list, size_t *count);

/* The name of the server at @address and @port in the process's own network namespace, as given at mount. False if it is not known. */
bool clients_server_name(char *name, size_t size, const char *address, uint32_t port);

/* Reads the kernel's list of the client's tasks, which is empty if the client no longer exists. Returns 0, with a text to
 * free, or -errno. A long list is -EFBIG: the kernel makes each line slowly, and holds the client's lock meanwhile. */
int clients_read_tasks(struct file_text *tasks, uint32_t client);

/* ---- tracepoint_maps.c ---- */

struct rpc_tracepoints_bpf;

/* A call that waited for its reply when the source began. */
struct earlier_call {
	uint32_t client, task;
};

/* What is known of a server in addition to the map's entry. */
struct rpc_event_label {
	char server[LABEL_SIZE]; /* "" until it is looked up */
	char address[RPC_ADDRESS_LEN]; /* "" if it has been named by its client's number */
	uint32_t port;
	char transport[16]; /* protocol; "" if not known */
	uint64_t saturated_ns[RPC_LIMITS]; /* as last reported */
	/* Begin of the period of waiting that the last snapshot found without a waiting task, or 0. */
	uint64_t idle_since[RPC_LIMITS];
};

struct tracepoint_maps {
	struct rpc_tracepoints_bpf *bpf;
	/* All but the clients are mapped only while a snapshot is read: mapped pages count as memory of this process. */
	struct rpc_event_client *clients;
	struct rpc_event_server *servers;
	struct rpc_task_bucket *keys;
	struct rpc_event_task *tasks;
	struct rpc_series_reader reader;
	struct share_reader calls;
	struct server_numbers numbers;
	struct earlier_call *earlier; /* those that still wait */
	size_t earlier_count;
	struct rpc_event_label labels[RPC_MAX_SERVERS + 1];
};

/* *@m is all zeros. @bpf must be loaded and outlive it. Returns 0 or -errno; call tracepoint_maps_close() in either case. */
int tracepoint_maps_open(struct tracepoint_maps *m, struct rpc_tracepoints_bpf *bpf);
void tracepoint_maps_close(struct tracepoint_maps *m);

/* Finds the servers of the existing clients, before they have calls, and the calls that wait for replies. */
void tracepoint_maps_find_clients(struct tracepoint_maps *m);

/* The label of the server at @address and @port since the last reading of @maps; NULL: there is none. */
const char *tracepoint_maps_label(void *maps, const char *address, uint32_t port);

/* Adds all that the maps hold to @s and @clients, and begins a new interval for the peak depths. Returns 0 or -errno. */
int tracepoint_maps_read(struct tracepoint_maps *m, struct snapshot *s,
			 struct client_list *clients);
