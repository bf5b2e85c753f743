// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel counts for each NFS mount: mountstats and mountinfo. */
#include "rpc/mountstats_text.h"

#include <stdio.h>
#include <string.h>

#define NFS_PORT 2049

#define OP_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* A piece of the text; no NUL follows. */
struct piece {
	const char *at;
	size_t len;
};

void mountstats_begin(struct mountstats *m, const char *text, size_t len)
{
	*m = (struct mountstats){ .at = text, .end = text + len };
}

static bool next_line(struct mountstats *m, struct piece *line)
{
	const char *end;

	if (m->at == m->end)
		return false;
	end = memchr(m->at, '\n', (size_t)(m->end - m->at));
	*line = (struct piece){ m->at, (size_t)((end ? end : m->end) - m->at) };
	m->at = end ? end + 1 : m->end;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts the next word off @line. */
static bool next_word(struct piece *line, struct piece *word)
{
	while (line->len && is_blank(*line->at))
		line->at++, line->len--;
	word->at = line->at;
	while (line->len && !is_blank(*line->at))
		line->at++, line->len--;
	word->len = (size_t)(line->at - word->at);
	return word->len;
}

static bool is(const struct piece *word, const char *text)
{
	return word->len == strlen(text) && !memcmp(word->at, text, word->len);
}

static bool begins(const struct piece *word, const char *text)
{
	return word->len >= strlen(text) && !memcmp(word->at, text, strlen(text));
}

static void copy(char *to, size_t size, const struct piece *word)
{
	snprintf(to, size, "%.*s", (int)(word->len < size ? word->len : size), word->at);
}

static bool number(const struct piece *word, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < word->len; i++) {
		if (word->at[i] < '0' || word->at[i] > '9')
			return false;
		*value = *value * 10 + (uint64_t)(word->at[i] - '0');
	}
	return word->len;
}

/* As many as there are, up to @max. */
static size_t numbers(struct piece *line, uint64_t *values, size_t max)
{
	struct piece word;
	size_t count = 0;

	while (count < max && next_word(line, &word) && number(&word, &values[count]))
		count++;
	return count;
}

static bool is_nfs(const struct piece *type)
{
	return is(type, "nfs") || is(type, "nfs4");
}

/* "HOST:/PATH"; an IPv6 address as host is in brackets. */
static void read_server(struct mountstats_mount *mount, struct piece device)
{
	const char *end = memchr(device.at, ':', device.len);

	if (device.len && *device.at == '[') {
		device.at++, device.len--;
		end = memchr(device.at, ']', device.len);
	}
	label_from_bytes(mount->server, sizeof(mount->server), device.at,
			 end ? (size_t)(end - device.at) : device.len);
}

/* "device HOST:/PATH mounted on POINT with fstype nfs4 statvers=1.1" */
static bool read_head(struct mountstats_mount *mount, struct piece line)
{
	struct piece device, path, word;

	if (!next_word(&line, &word) || !is(&word, "device") || !next_word(&line, &device) ||
	    !next_word(&line, &word) || !is(&word, "mounted") || !next_word(&line, &word) ||
	    !is(&word, "on") || !next_word(&line, &path) || !next_word(&line, &word) ||
	    !is(&word, "with") || !next_word(&line, &word) || !is(&word, "fstype") ||
	    !next_word(&line, &word) || !is_nfs(&word))
		return false;
	mount->server[0] = 0;
	mount->path[0] = 0;
	mount->age = 0;
	mount->op_count = 0;
	mount->transport_count = 0;
	read_server(mount, device);
	copy(mount->path, sizeof(mount->path), &path);
	return true;
}

/* "tcp PORT BINDS CONNECTS ..."; udp has no connects, and local no port. */
static void read_transport(struct mountstats_mount *mount, struct piece line)
{
	struct mountstats_transport *t = &mount->transports[mount->transport_count];
	uint64_t values[3];
	struct piece word;

	if (mount->transport_count == MOUNTSTATS_TRANSPORTS || !next_word(&line, &word))
		return;
	label_from_bytes(t->protocol, sizeof(t->protocol), word.at, word.len);
	if (numbers(&line, values, 3) < 3)
		return;
	t->port = (uint32_t)values[0];
	t->connects = is(&word, "udp") ? 0 : values[2];
	mount->transport_count++;
}

/* "NAME: CALLS TRANSMITS TIMEOUTS SENT RECEIVED QUEUE RTT TOTAL [ERRORS]" */
static void read_op(struct mountstats_mount *mount, struct piece name, struct piece line)
{
	uint64_t v[9] = {};

	name.len--; /* the colon */
	for (size_t i = 0; i < name.len; i++)
		if (!strchr(OP_LETTERS, name.at[i]) || !name.at[i])
			return;
	if (mount->op_count == RPC_MAX_OP || numbers(&line, v, 9) < 8 || !v[0])
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
	copy(mount->ops[mount->op_count].name, RPC_OP_LEN, &name);
	mount->op_count++;
}

bool mountstats_next(struct mountstats *m, struct mountstats_mount *mount)
{
	bool found = false, in_ops = false;
	struct piece line, rest, word;
	const char *begin;

	while ((begin = m->at, next_line(m, &line))) {
		rest = line;
		if (!next_word(&rest, &word))
			continue;
		if (is(&word, "device") || is(&word, "no")) {
			if (found) {
				m->at = begin; /* of the next one */
				break;
			}
			found = read_head(mount, line);
			in_ops = false;
		} else if (!found) {
			continue;
		} else if (is(&word, "per-op")) {
			in_ops = true;
		} else if (in_ops && word.at[word.len - 1] == ':') {
			read_op(mount, word, rest);
		} else if (is(&word, "xprt:")) {
			read_transport(mount, rest);
		} else if (is(&word, "age:")) {
			numbers(&rest, &mount->age, 1);
		}
	}
	return found;
}

/* Cuts @name, which it begins with, off @option. */
static bool cut(struct piece *option, const char *name)
{
	if (!begins(option, name))
		return false;
	option->at += strlen(name);
	option->len -= strlen(name);
	return true;
}

/* "addr=" and, if it is not NFS's own, "port=" among "rw,vers=4.2,...". */
static void read_address(struct mountinfo_mount *mount, struct piece options)
{
	struct piece option;
	const char *comma;
	uint64_t port;

	while (options.len) {
		comma = memchr(options.at, ',', options.len);
		option = (struct piece){ options.at,
					 comma ? (size_t)(comma - options.at) : options.len };
		options.at += option.len + !!comma;
		options.len -= option.len + !!comma;
		if (cut(&option, "addr="))
			copy(mount->address, sizeof(mount->address), &option);
		else if (cut(&option, "port=") && number(&option, &port))
			mount->port = (uint32_t)port;
	}
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS" */
bool mountinfo_next(struct mountstats *m, struct mountinfo_mount *mount)
{
	struct piece line, word, device, minor, path, type, source, options;
	uint64_t high, low;
	const char *colon;

	while (next_line(m, &line)) {
		for (int i = 0; i < 3; i++)
			next_word(&line, &device);
		for (int i = 0; i < 2; i++)
			next_word(&line, &path);
		while (next_word(&line, &word) && !is(&word, "-"))
			;
		colon = memchr(device.at, ':', device.len);
		if (!path.len || !colon || !next_word(&line, &type) || !is_nfs(&type) ||
		    !next_word(&line, &source) || !next_word(&line, &options))
			continue;
		minor = (struct piece){ colon + 1, device.len - (size_t)(colon + 1 - device.at) };
		device.len = (size_t)(colon - device.at);
		if (!number(&device, &high) || !number(&minor, &low))
			continue;
		*mount = (struct mountinfo_mount){ .device = high << 32 | low, .port = NFS_PORT };
		copy(mount->path, sizeof(mount->path), &path);
		read_address(mount, options);
		return true;
	}
	return false;
}
