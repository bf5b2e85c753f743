// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for parsers of short texts. The first byte chooses the parser, from '0' on, in the order of the file. */
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/file_text.h"
#include "base/safe_text.h"
#include "base/span.h"
#include "base/time_text.h"
#include "fuzz.h"
#include "health/health.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_log.h"
#include "kernel/module_events.h"
#include "rpc/tracepoints/tracepoints.h"
#include "xid/xid_line.h"

/* The file of acknowledgements: any bytes give either an error of one line or entries. Each entry covers what it names,
 * up to its time and not beyond the next second. */
static void require_ack(const struct ack *a)
{
	struct ack_list one = { (struct ack *)a, 1 };
	const char *device = strcmp(a->device, "*") ? a->device : "0000:00:00.0";
	const char *what = strcmp(a->what, "*") ? a->what : "79";

	require(memchr(a->device, 0, sizeof(a->device)) && memchr(a->what, 0, sizeof(a->what)));
	require(a->time >= 0 && a->time < 3e11);
	require(ack_find(&one, device, "", what, a->time, a->time));
	if (a->snooze)
		require(!ack_find(&one, device, "", what, 0, a->time + 1));
	else
		require(!ack_find(&one, device, "", what, a->time + 1, a->time));
	require(!ack_find(&one, "0000:00:00.1", "", what, 0, a->time) == !!strcmp(a->device, "*") ||
		!strcmp(a->device, "0000:00:00.1"));
	require(strcmp(a->what, "*") == 0 || !ack_find(&one, device, "", "no kind", 0, a->time));
}

static void try_ack(const uint8_t *data, size_t size)
{
	struct ack_list list;
	char error[160];

	memset(error, 'x', sizeof(error));
	if (ack_parse(&list, (const char *)data, size, error, sizeof(error))) {
		require_safe(error, sizeof(error));
		require(!list.acks && !list.count);
		return;
	}
	for (size_t i = 0; i < list.count; i++)
		require_ack(&list.acks[i]);
	ack_free(&list);
}

/* The explanation of what libbpf and the verifier print: any text gives none, or one that fits. The first
 * byte is the room for it. */
static void try_bpf_refusal(const uint8_t *data, size_t size)
{
	size_t room = size ? 1 + data[0] : 1;
	char *words = string_of(data + (size > 0), size ? size - 1 : 0);
	char *feature = malloc(room); /* for ASan */

	require(feature != NULL);
	memset(feature, 'x', room);
	if (bpf_refusal_explain(feature, room, words))
		require(memchr(feature, 0, room) && (*feature || room == 1));
	free(feature);
	free(words);
}

/* /proc/PID/cgroup, whose paths users choose: what is read of any text is terminated, a job is a number, a pod a UID, a
 * container an ID or a name, and a group of a user is none of them. */
static void try_cgroup(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size);
	const char *path;
	struct cgroup c;

	cgroup_read(&c, text);
	require_string(c.path);
	require(!*c.path || (*c.path == '/' && !strchr(c.path, '\n')));
	require(strspn(c.job, "0123456789[]") == strlen(c.job) && *c.job != '[');
	require(!*c.job || c.scheduler);
	require(c.unnamed_job <= strlen(c.path) && !(c.unnamed_job && *c.job));
	require(!*c.pod || strlen(c.pod) >= 32);
	require(strspn(c.pod, "0123456789abcdef-") == strlen(c.pod));
	require(strlen(c.name) < sizeof(c.name) && !(*c.pod && *c.container));
	require(!*c.container || *c.name ||
		strspn(c.container, "0123456789abcdef") == CONTAINER_ID - 1);
	for (path = c.path; !strncmp(path, "/../", 4);)
		path += 3;
	if (!strncmp(path, "/user.slice/", strlen("/user.slice/")))
		require(!*c.job && !*c.pod && !*c.container && !c.unnamed_job);
	/* The text in the stead of what files say. */
	cgroup_find_names(&c, text);
	require_string(c.name);
	require_string(c.job);
	free(text);
}

/* The files of container runtimes: of any text come lines of an ID and a name that is safe to show. */
static void try_container(const uint8_t *data, size_t size)
{
	char *names = NULL;
	size_t length;
	FILE *out = open_memstream(&names, &length);
	const struct span text = { (const char *)data, (const char *)data + size };
	struct span rest, line, id;

	container_read_names(
		text, "4f0cd5b61a9201234567890123456789012345678901234567890123456789ab", out);
	names = stream_text(out, &names);
	for (rest = span_of(names); span_next_line(&rest, &line);) {
		id = span_take_until(&line, " ");
		require(span_left(id) == CONTAINER_ID - 1);
		require(span_take(&line, " ") && span_left(line) > 0 &&
			span_left(line) < CONTAINER_NAME);
		while (span_left(line)) {
			size_t step = safe_length(line.at, span_left(line));

			require(step);
			line.at += step;
		}
	}
	free(names);
}

/* Uevents: whatever packets come, all are read, and only one that names a module makes a look. Packets end
 * with a newline. */
static void try_module_events(const uint8_t *data, size_t size)
{
	bool named = false;
	int ends[2], sent = 0;

	require(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends));
	while (size && sent < 8) {
		const uint8_t *newline = memchr(data, '\n', size);
		size_t len = newline ? (size_t)(newline - data) : size;

		require(send(ends[0], data, len, 0) == (ssize_t)len);
		named |= memmem(data, len, "@/module/", 9) != NULL;
		sent++;
		data += len + (newline != NULL);
		size -= len + (newline != NULL);
	}
	if (module_events_read(ends[1]))
		require(named);
	require(recv(ends[1], &named, 1, 0) < 0);
	close(ends[0]);
	close(ends[1]);
}

/* The files that list sunrpc's clients: whatever they contain, names are terminated, and found only if they are not
 * empty. */
static void try_rpc_clients(const uint8_t *data, size_t len)
{
	struct client_transport info;
	char name[12], op[RPC_OP_LEN];
	char *text = string_of(data, len);

	if (clients_parse_transport(&info, text)) {
		require(info.netid[0] && info.address[0]);
		require_string(info.address);
		clients_parse_server(name, sizeof(name), text, len, info.address, info.port);
	}
	if (clients_parse_server(name, sizeof(name), text, len, "127.0.0.1", NFS_PORT))
		require(name[0] && memchr(name, 0, sizeof(name)));
	if (clients_has_task(text, len, 12, op))
		require(memchr(op, 0, sizeof(op)));
	free(text);
}

/* Times as people write them: any text is refused or gives a time that is written and read back. */
static void try_time_text(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size), written[TIME_TEXT_SIZE];
	double seconds, again, raw;

	if (time_from_text(text, &seconds)) {
		require(seconds >= 0 && seconds < 253402300801.0);
		time_to_text(written, sizeof(written), seconds);
		require(strlen(written) == TIME_TEXT_SIZE - 4);
		require(time_from_text(written, &again));
		require(again == floor(seconds) || seconds >= 253402300799.0);
	}
	if (time_from_person(text, 1e9, size % 2 ? TIME_PAST : TIME_FUTURE, &seconds))
		require(seconds > -1 && seconds < 253402300801.0);
	/* Any number at all is written as a time. */
	if (size >= sizeof(raw)) {
		memcpy(&raw, data, sizeof(raw));
		time_to_text(written, sizeof(written), raw);
		require(time_from_text(written, &again));
	}
	free(text);
}

/* The policy file: any bytes give either an error of one line or well-formed entries that are found by their codes. */
static void require_entry(const struct xid_policy *p, size_t i)
{
	const struct xid_policy_entry *e = &p->entries[i];
	const char *s = e->severity;

	require(xid_policy_find(p, e->nvswitch, e->code) == e);
	require(!s || !strcmp(s, "fatal") || !strcmp(s, "warning") || !strcmp(s, "info") ||
		!strcmp(s, "unknown"));
	if (*e->action) {
		require(!e->nvswitch);
		require_string(e->action);
		require(!e->action[strspn(e->action, "abcdefghijklmnopqrstuvwxyz_0123456789")]);
	}
	if (i)
		require(e[-1].nvswitch < e->nvswitch ||
			(e[-1].nvswitch == e->nvswitch && e[-1].code < e->code));
}

static void try_xid_policy(const uint8_t *data, size_t size)
{
	struct xid_policy p;
	char error[160];

	memset(error, 'x', sizeof(error));
	if (xid_policy_parse(&p, (const char *)data, size, error, sizeof(error))) {
		require(!strncmp(error, "line ", 5));
		require_safe(error, sizeof(error));
		require(!p.entries && !p.count);
		return;
	}
	require(p.count <= XID_POLICY_MAX_LINES);
	for (size_t i = 0; i < p.count; i++)
		require_entry(&p, i);
	xid_policy_free(&p);
}

/* A saved log: no more texts than lines, and none with the time of no line. */
static void try_saved_log(const uint8_t *data, size_t size)
{
	struct saved_log l = { .in = size ? fmemopen((void *)data, size, "r") : NULL };
	size_t texts = 0, lines = 2;
	const char *text;

	if (!l.in)
		return;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	for (; (text = saved_log_next(&l)); texts++)
		require(strlen(text) < SAVED_LINE_BYTES && (!l.timed || l.time.known));
	require(texts <= lines);
	fclose(l.in);
	free(l.line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const fuzz_parser parsers[] = { try_ack,       try_bpf_refusal,   try_cgroup,
					       try_container, try_module_events, try_rpc_clients,
					       try_time_text, try_xid_policy,    try_saved_log };

	fuzz_one(parsers, sizeof(parsers) / sizeof(*parsers), data, size);
	return 0;
}
