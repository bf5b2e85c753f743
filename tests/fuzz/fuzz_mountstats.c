// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for mountstats, mountinfo and xprt_info: any bytes give strings that fit and counts within bounds,
 * and the reading comes to an end. */
#include "fuzz.h"
#include "rpc/polled/polled.h"

static void check_mount(const struct mountstats_mount *mount)
{
	require_string(mount->server);
	require_string(mount->mountpoint);
	require(mount->op_count <= RPC_MAX_OP);
	require(mount->transport_count <= MOUNTSTATS_TRANSPORTS);
	for (size_t i = 0; i < mount->op_count; i++) {
		require_string(mount->ops[i].name);
		require(mount->ops[i].calls > 0);
		/* It becomes a label as it is. */
		for (const char *c = mount->ops[i].name; *c; c++)
			require(*c >= '0' && *c <= '_');
	}
	for (size_t i = 0; i < mount->transport_count; i++)
		require_string(mount->transports[i].protocol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mountstats_mount mount;
	char *text = copy_of(data, size);
	struct nfs_mount info;
	struct xprt_file xprt = {};
	uint64_t device;
	struct span m;
	size_t lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	m = (struct span){ text, text + size };
	for (size_t i = 0; mountstats_next(&m, &mount); i++) {
		require(i < lines);
		check_mount(&mount);
	}
	m = (struct span){ text, text + size };
	for (size_t i = 0; mountinfo_next(&m, &info); i++) {
		require(i < lines);
		require_string(info.mountpoint);
		require_string(info.remote.address);
	}
	m = (struct span){ text, text + size };
	for (size_t i = 0; nfs_volumes_next(&m, &device); i++)
		require(i < lines);
	xprt_info_parse(&xprt, text, size);
	free(text);
	return 0;
}
