// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which client of sunrpc a mount has: while mountstats is read, the kernel calls rpc_clnt_show_stats() with the client of each
 * mount, in the order of the mounts. Attached only for that moment. Must load on 5.10, and without the kernel's types. */
#include "maps.bpf.h"
#include "rpc.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading: who reads, and the pid namespace in which that is its number. Any user may read mountstats. */
const volatile __u64 namespace_device = 0, namespace_inode = 0;
const volatile __u32 reader = 0;

struct bpf_pidns_info {
	__u32 pid, tgid;
};

BPF_QUEUE(clients, MOUNT_CLIENTS_MAX);

SEC("kprobe/rpc_clnt_show_stats")
int show_stats(const __u64 *registers)
{
	struct bpf_pidns_info self = {};
	__u32 client = -1;

	if (bpf_get_ns_current_pid_tgid(namespace_device, namespace_inode, &self, sizeof(self)) ||
	    self.tgid != reader)
		return 0;
	bpf_probe_read_kernel(&client, sizeof(client),
			      (void *)(registers[REGISTER_2] + RPC_CLNT_NUMBER_AT));
	bpf_map_push_elem(&clients, &client, BPF_ANY);
	return 0;
}
