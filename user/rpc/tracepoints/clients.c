// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The servers of sunrpc's clients, from the kernel's files. */
#include "rpc/tracepoints/tracepoints.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <unistd.h>

#include "base/span.h"

#define CLIENTS "/sys/kernel/debug/sunrpc/rpc_clnt"
#define SERVERS "/proc/fs/nfsfs/servers"
#define MAX_BYTES (8 << 20)
#define TASKS_BYTES (128 << 10) /* some 1,000 tasks */

bool clients_parse_transport(struct client_transport *info, const char *text)
{
	unsigned int port;
	int end = 0;

	*info = (struct client_transport){ .port = NFS_PORT };
	if (sscanf(text, "netid: %15s addr: %47s%n", info->netid, info->address, &end) != 2 ||
	    (text[end] && text[end] != '\n'))
		return false;
	if (sscanf(text + end, " port: %u", &port) == 1 && port && port <= UINT16_MAX)
		info->port = port;
	return true;
}

/* Writes @address in the hex form of nfsfs/servers; false if it is not an IP address. */
static bool address_to_hex(char *hex, size_t size, const char *address)
{
	unsigned char bytes[16];
	char plain[RPC_ADDRESS_LEN];
	size_t len;

	/* A link-local address has its interface behind a percent sign. */
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(address, "%"), address);
	if (inet_pton(AF_INET, plain, bytes) == 1)
		len = 4;
	else if (inet_pton(AF_INET6, plain, bytes) == 1)
		len = 16;
	else
		return false;
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, size - 2 * i, "%02x", bytes[i]);
	return true;
}

bool clients_parse_server(char *name, size_t size, const char *text, size_t len,
			  const char *address, uint32_t port)
{
	struct span rest = { text, text + len }, line, word;
	uint64_t found;
	char hex[33];

	if (!address_to_hex(hex, sizeof(hex), address))
		return false;
	while (span_next_line(&rest, &line)) {
		span_take_word(&line); /* NV */
		if (!span_is(span_take_word(&line), hex))
			continue;
		word = span_take_word(&line); /* PORT; 0 until it is known */
		if (!span_take_number(&word, 16, UINT16_MAX, &found) || (found ?: NFS_PORT) != port)
			continue;
		span_take_word(&line); /* USE; the name may hold blanks */
		if (span_take(&line, " ") && span_left(line) &&
		    span_copy(span_cut(line, size - 1), name, size))
			return true;
	}
	return false;
}

bool clients_has_task(const char *text, size_t len, uint32_t task, char op[RPC_OP_LEN])
{
	struct span rest = { text, text + len }, line, word;
	uint64_t number;

	*op = 0;
	while (span_next_line(&rest, &line)) {
		if (!span_number(span_take_word(&line), UINT32_MAX, &number) || number != task)
			continue;
		while (span_left(word = span_take_word(&line)) && !span_take(&word, "nfsv"))
			;
		span_copy(span_cut(span_take_word(&line), RPC_OP_LEN - 1), op, RPC_OP_LEN);
		return true;
	}
	return false;
}

uint32_t clients_waiting_task(struct span *tasks)
{
	struct span line, word;
	uint64_t number;
	bool nfs, waits;

	while (span_next_line(tasks, &line)) {
		if (!span_number(span_take_word(&line), UINT32_MAX, &number))
			continue;
		/* Names of functions may have the module as a word of its own. */
		for (nfs = waits = false; span_left(word = span_take_word(&line));) {
			/* While the client connects anew, only one call is in the first one. */
			waits |= span_is(word, "q:xprt_pending") ||
				 span_is(word, "q:xprt_sending") || span_is(word, "q:delayq");
			nfs |= span_take(&word, "nfsv");
		}
		if (nfs && waits)
			return (uint32_t)number;
	}
	return 0;
}

bool clients_transport(struct client_transport *info, uint32_t client)
{
	FILE_TEXT file = {};

	return !file_text_read(&file, PATHF(CLIENTS "/%x/xprt/info", client), MAX_BYTES) &&
	       clients_parse_transport(info, file.bytes);
}

bool clients_list(struct client_transport **list, size_t *count)
{
	struct client_transport info;
	uint64_t failed = memory_failed();
	OPEN_FOLDER *folder = opendir(CLIENTS);
	bool listed = false;
	unsigned long client;
	const char *name;
	char *end;

	*list = NULL;
	*count = 0;
	while ((name = folder_next(folder))) {
		client = strtoul(name, &end, 16);
		if (end == name || *end || client > UINT32_MAX)
			continue;
		listed = true;
		if (!clients_transport(&info, (uint32_t)client))
			continue;
		info.client = (uint32_t)client;
		*ARRAY_APPEND(*list, *count) = info;
	}
	return folder && (*count || !listed) && !memory_error(failed);
}

bool clients_server_name(char *name, size_t size, const char *address, uint32_t port)
{
	FILE_TEXT file = {};

	return !file_text_read(&file, SERVERS, MAX_BYTES) &&
	       clients_parse_server(name, size, file.bytes, file.len, address, port);
}

int clients_read_tasks(struct file_text *tasks, uint32_t client)
{
	int err = file_text_read(tasks, PATHF(CLIENTS "/%x/tasks", client), TASKS_BYTES);

	return err == -ENOENT && !access(CLIENTS, F_OK) ? 0 : err;
}
