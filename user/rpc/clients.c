// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who sunrpc's clients are, as the kernel's files tell. */
#include "rpc/clients.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_text.h"

#define CLIENTS "/sys/kernel/debug/sunrpc/rpc_clnt"
#define SERVERS "/proc/fs/nfsfs/servers"
#define MAX_BYTES (8 << 20)

/* The end of the line that begins at @at, before its newline. */
static const char *line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline : end;
}

/* Copies [@at, @stop) to @to; false if it is empty or has no room. */
static bool copy(char *to, size_t size, const char *at, const char *stop)
{
	size_t len = (size_t)(stop - at);

	if (!len || len >= size || memchr(at, 0, len))
		return false;
	memcpy(to, at, len);
	to[len] = 0;
	return true;
}

/* The value behind @label if the line has it, else NULL. */
static const char *value_of(const char *at, const char *stop, const char *label)
{
	size_t len = strlen(label);

	if ((size_t)(stop - at) < len || memcmp(at, label, len) != 0)
		return NULL;
	for (at += len; at < stop && *at == ' ';)
		at++;
	return at;
}

bool rpc_transport_info_parse(struct rpc_transport_info *info, const char *text, size_t len)
{
	const char *end = text + len, *stop, *value;
	bool netid = false, address = false;

	*info = (struct rpc_transport_info){};
	for (const char *at = text; at < end; at = stop + 1) {
		stop = line_end(at, end);
		value = value_of(at, stop, "netid:");
		if (value)
			netid = copy(info->netid, sizeof(info->netid), value, stop);
		value = value_of(at, stop, "addr:");
		if (value)
			address = copy(info->address, sizeof(info->address), value, stop);
	}
	return netid && address;
}

/* The next word in [*@at, @stop), of which *@len tells the length; NULL: none. */
static const char *word(const char **at, const char *stop, size_t *len)
{
	const char *begin = *at;

	while (begin < stop && *begin == ' ')
		begin++;
	for (*at = begin; *at < stop && **at != ' ';)
		++*at;
	*len = (size_t)(*at - begin);
	return *len ? begin : NULL;
}

/* As the kernel writes addresses in hex; false if @address is none. */
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

bool nfs_server_name(char *name, size_t size, const char *text, size_t len, const char *address)
{
	const char *end = text + len, *stop, *at, *found;
	char hex[33];
	size_t n;

	if (!address_to_hex(hex, sizeof(hex), address))
		return false;
	for (const char *line = text; line < end; line = stop + 1) {
		at = line;
		stop = line_end(line, end);
		if (!word(&at, stop, &n)) /* NV */
			continue;
		found = word(&at, stop, &n);
		if (!found || n != strlen(hex) || memcmp(found, hex, n) != 0)
			continue;
		word(&at, stop, &n); /* PORT */
		word(&at, stop, &n); /* USE; the name may hold blanks */
		if (at == stop)
			continue;
		at++;
		n = (size_t)(stop - at);
		if (n >= size)
			n = size - 1;
		if (copy(name, size, at, at + n))
			return true;
	}
	return false;
}

bool rpc_tasks_have(const char *text, size_t len, uint32_t task)
{
	const char *end = text + len, *stop, *at, *number;
	uint64_t value;
	size_t n;

	for (const char *line = text; line < end; line = stop + 1) {
		at = line;
		stop = line_end(line, end);
		number = word(&at, stop, &n);
		if (!number || n > 10)
			continue;
		value = 0;
		for (size_t i = 0; i < n; i++) {
			if (number[i] < '0' || number[i] > '9') {
				value = UINT64_MAX;
				break;
			}
			value = value * 10 + (uint64_t)(number[i] - '0');
		}
		if (value == task)
			return true;
	}
	return false;
}

bool rpc_client_transport(struct rpc_transport_info *info, uint32_t client)
{
	struct file_text file;
	char path[96];
	bool found;

	snprintf(path, sizeof(path), CLIENTS "/%x/xprt/info", client);
	if (file_text_read(&file, path, MAX_BYTES))
		return false;
	found = rpc_transport_info_parse(info, file.bytes, file.len);
	file_text_free(&file);
	return found;
}

void rpc_clients_each(void (*found)(void *context, uint32_t client,
				    const struct rpc_transport_info *info),
		      void *context)
{
	struct rpc_transport_info info;
	DIR *folder = opendir(CLIENTS);
	struct dirent *entry;
	unsigned long client;
	char *end;

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		client = strtoul(entry->d_name, &end, 16);
		if (end == entry->d_name || *end || client > UINT32_MAX)
			continue;
		if (rpc_client_transport(&info, (uint32_t)client))
			found(context, (uint32_t)client, &info);
	}
	closedir(folder);
}

bool rpc_server_name(char *name, size_t size, const char *address)
{
	struct file_text file;
	bool found;

	if (file_text_read(&file, SERVERS, MAX_BYTES))
		return false;
	found = nfs_server_name(name, size, file.bytes, file.len, address);
	file_text_free(&file);
	return found;
}

bool rpc_task_is_gone(uint32_t client, uint32_t task)
{
	struct file_text file;
	char path[96];
	bool gone;
	int err;

	snprintf(path, sizeof(path), CLIENTS "/%x/tasks", client);
	err = file_text_read(&file, path, MAX_BYTES);
	if (err) /* with the client its tasks are gone */
		return err == -ENOENT && !access(CLIENTS, F_OK);
	gone = !rpc_tasks_have(file.bytes, file.len, task);
	file_text_free(&file);
	return gone;
}
