// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for the files that list sunrpc's clients: whatever they contain, names are terminated, and found
 * only if they are not empty. */
#include "fuzz.h"
#include "rpc/tracepoints/tracepoints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct client_transport info;
	char name[12];
	char *text = copy_of(data, len);

	if (clients_parse_transport(&info, text, len)) {
		require(info.netid[0] && info.address[0]);
		require_string(info.address);
		clients_parse_server(name, sizeof(name), text, len, info.address, info.port);
	}
	if (clients_parse_server(name, sizeof(name), text, len, "127.0.0.1", NFS_PORT))
		require(name[0] && memchr(name, 0, sizeof(name)));
	clients_has_task(text, len, 12);
	free(text);
	return 0;
}
