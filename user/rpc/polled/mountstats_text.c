// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel counts for each NFS mount: mountstats and mountinfo. */
#include "rpc/polled/polled.h"

#include <limits.h>

#include "base/mountinfo.h"

#define OP_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Takes up to @max numbers; returns how many there are. */
static size_t take_numbers(struct span *line, uint64_t *values, size_t max)
{
	size_t count = 0;

	while (count < max && span_number(span_take_word(line), UINT64_MAX, &values[count]))
		count++;
	return count;
}

/* Copies what fits. */
static void copy_field(struct span s, char *to, size_t size)
{
	span_copy(span_cut(s, size - 1), to, size);
}

/* Makes a label of @size bytes from a name as these files show it: blanks, newlines,
 * backslashes and # appear as a backslash and three octal digits. */
static void mount_label(char *label, size_t size, struct span name)
{
	char bytes[PATH_MAX];

	label_from_bytes(label, size, bytes, mount_unescape(bytes, sizeof(bytes), name));
}

static void point_label(char *label, struct span name)
{
	char bytes[PATH_MAX];

	mount_point_label(label, LABEL_SIZE, bytes, mount_unescape(bytes, sizeof(bytes), name));
}

/* Takes the host of "HOST:/PATH" and the colon; an IPv6 address is in brackets. The label is cut as that of the source btf. */
static void take_server(char *server, struct span *device)
{
	struct span host = span_take_until(device, span_take(device, "[") ? "]" : ":");
	char bytes[RPC_NAME_LEN - 1];

	span_take(device, "]");
	span_take(device, ":");
	label_from_name(server, LABEL_SIZE - LABEL_SERVER_ROOM, bytes,
			mount_unescape(bytes, sizeof(bytes), host));
}

/* "device HOST:/PATH mounted on POINT with fstype nfs4 statvers=1.1" */
static bool read_head(struct mountstats_mount *mount, struct span line)
{
	static const char *const words[] = {
		"device", NULL, "mounted", "on", NULL, "with", "fstype"
	};
	struct span word[COUNT(words)];

	for (size_t i = 0; i < COUNT(words); i++) {
		word[i] = span_take_word(&line);
		if (words[i] && !span_is(word[i], words[i]))
			return false;
	}
	if (!mount_is_nfs(span_take_word(&line)))
		return false;
	mount->age = 0;
	mount->op_count = 0;
	mount->transport_count = 0;
	take_server(mount->server, &word[1]);
	point_label(mount->mountpoint, word[4]);
	return true;
}

/* "tcp PORT BINDS CONNECTS ..."; udp has no CONNECTS, and local has no PORT. */
static void read_transport(struct mountstats_mount *mount, struct span line)
{
	struct mountstats_transport *t = &mount->transports[mount->transport_count];
	uint64_t values[3];
	struct span word = span_take_word(&line);

	if (mount->transport_count == MOUNTSTATS_TRANSPORTS || !span_left(word))
		return;
	label_from_bytes(t->protocol, sizeof(t->protocol), word.at, span_left(word));
	if (take_numbers(&line, values, 3) < 3)
		return;
	t->port = (uint32_t)values[0];
	t->connects = span_is(word, "udp") ? 0 : values[2];
	mount->transport_count++;
}

/* "NAME: CALLS TRANSMITS TIMEOUTS SENT RECEIVED QUEUE RTT TOTAL [ERRORS]" */
static void read_op(struct mountstats_mount *mount, struct span name, struct span line)
{
	uint64_t v[9] = {};

	name.end--; /* the colon */
	for (const char *c = name.at; c < name.end; c++)
		if (!strchr(OP_LETTERS, *c) || !*c)
			return;
	if (mount->op_count == RPC_MAX_OP || take_numbers(&line, v, 9) < 8 || !v[0])
		return;
	mount->ops[mount->op_count] = (struct mountstats_op){
		.calls = v[0],
		.transmits = v[1],
		.timeouts = v[2],
		.sent_bytes = v[3],
		.received_bytes = v[4],
		.rtt_ms = v[6],
		.total_ms = v[7],
		.errors = v[8],
	};
	copy_field(name, mount->ops[mount->op_count].name, RPC_OP_LEN);
	mount->op_count++;
}

bool mountstats_next(struct span *text, struct mountstats_mount *mount)
{
	bool found = false, in_ops = false;
	struct span before = *text, line, rest, word;
	struct mountstats_place place = {};

	for (; span_left(*text); before = *text) {
		rest = line = span_take_line(text);
		word = span_take_word(&rest);
		if (mountstats_is_head(&place, line)) {
			if (found) {
				*text = before; /* this line begins the next mount */
				break;
			}
			found = read_head(mount, line);
			in_ops = false;
		} else if (!found) {
			continue;
		} else if (span_is(word, "RPC")) {
			/* What was like ops or transports before this line was the server's text. */
			mount->op_count = mount->transport_count = 0;
			in_ops = false;
		} else if (span_is(word, "per-op")) {
			in_ops = true;
		} else if (in_ops && span_left(word) && word.end[-1] == ':') {
			read_op(mount, word, rest);
		} else if (span_is(word, "xprt:")) {
			read_transport(mount, rest);
		} else if (span_is(word, "age:")) {
			take_numbers(&rest, &mount->age, 1);
		}
	}
	return found;
}

/* @seconds: for which attributes are taken as valid; @none: they are not. */
static void take_option(struct nfs_mount *mount, struct span name, struct span value,
			uint64_t seconds[4], bool *none)
{
	static const char *const times[] = { "acregmin", "acregmax", "acdirmin", "acdirmax" };
	char(*options)[NFS_OPTION_SIZE] = mount->options;
	uint64_t port;

	*none |= span_is(name, "noac");
	if (span_is(name, "addr"))
		copy_field(value, mount->remote.address, sizeof(mount->remote.address));
	else if (span_is(name, "vers"))
		mount_label(mount->version, sizeof(mount->version), value);
	else if (span_is(name, "port") && span_number(value, UINT32_MAX, &port))
		mount->remote.port = (uint32_t)port;
	else if (span_is(name, "hard") || span_is(name, "soft") || span_is(name, "softerr"))
		copy_field(name, options[NFS_RECOVERY], NFS_OPTION_SIZE);
	for (size_t i = 0; i < COUNT(times); i++)
		if (span_is(name, times[i]))
			span_number(value, UINT32_MAX, &seconds[i]);
	for (int o = 0; o < NFS_OPTIONS; o++)
		if (o != NFS_RECOVERY && o != NFS_AC && span_is(name, nfs_option_names[o]))
			copy_field(value, options[o], NFS_OPTION_SIZE);
}

/* Options are "rw,vers=4.2,addr=..."; what is the default is missing. */
static void read_options(struct nfs_mount *mount, struct span text)
{
	uint64_t seconds[4] = { 3, 60, 30, 60 }; /* fs/nfs/client.c: NFS_DEF_ACREGMIN, ... */
	bool none = false;

	strcpy(mount->options[NFS_NCONNECT], "1");
	strcpy(mount->options[NFS_MAX_CONNECT], "1");
	strcpy(mount->options[NFS_LOOKUPCACHE], "all");
	strcpy(mount->options[NFS_LOCAL_LOCK], "none");
	while (span_left(text)) {
		struct span option = span_take_until(&text, ","), name;

		span_take(&text, ",");
		name = span_take_field(&option, "=");
		take_option(mount, name, option, seconds, &none);
	}
	mount->kerberos = !strncmp(mount->options[NFS_SEC], "krb5", 4);
	snprintf(mount->options[NFS_AC], NFS_OPTION_SIZE, none ? "noac" : "%u,%u,%u,%u",
		 (unsigned int)seconds[0], (unsigned int)seconds[1], (unsigned int)seconds[2],
		 (unsigned int)seconds[3]);
}

bool mountinfo_next(struct span *text, struct nfs_mount *mount)
{
	struct mountinfo_line m;
	uint64_t device;

	while (mountinfo_next_line(text, &m)) {
		if (!mount_is_nfs(m.type) || !span_left(m.super_options) ||
		    !mount_device(m.device, &device))
			continue;
		*mount = (struct nfs_mount){ .device = device, .remote.port = NFS_PORT };
		take_server(mount->server, &m.source);
		mount_label(mount->export, sizeof(mount->export), m.source);
		point_label(mount->mountpoint, m.point);
		read_options(mount, m.super_options);
		label_add_port(mount->server, mount->remote.port);
		return true;
	}
	return false;
}

/* "v4 0a000901 801 0:53 ...", after a heading. */
bool nfs_volumes_next(struct span *text, uint64_t *device)
{
	struct span line, number;

	while (span_next_line(text, &line)) {
		for (int i = 0; i < 4; i++)
			number = span_take_word(&line);
		if (mount_device(number, device))
			return true;
	}
	return false;
}
