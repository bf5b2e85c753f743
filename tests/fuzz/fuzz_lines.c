// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for parsers of lines. The first byte chooses the parser, from '0' on, in the order of the file. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/json.h"
#include "base/pci_address.h"
#include "base/process.h"
#include "base/span.h"
#include "faults/recognise/recognise.h"
#include "fuzz.h"
#include "health/node.h"
#include "kernel/kernel_log.h"
#include "kernel/trace.h"
#include "past/history.h"
#include "rpc/polled/polled.h"
#include "xid/xid_line.h"

/* Reader of event logs: any bytes become events in the order of time, each line once at most, gaps that are not
 * empty, and a cause that may be shown. */
static void require_event(const struct past_event *e)
{
	struct past_owner *owners;
	size_t count = past_owners(e, &owners);
	char text[100];

	require(e->end >= e->time && e->count > 0 && *past_grade(e));
	json_decode(e->text, text, sizeof(text));
	require(strlen(text) < sizeof(text));
	for (size_t i = 0; i < count; i++) {
		require(*owners[i].what);
		json_decode(owners[i].name, text, sizeof(text));
		require_string(text);
	}
	free(owners);
}

static void try_event_reader(const uint8_t *data, size_t size)
{
	const struct history_now now = { 1.8e9, 5000, "b" };
	const struct past_event *event;
	struct history h = {};
	const char *cause;
	size_t lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	event_reader_add(&h, (const char *)data, size);
	require(h.count + h.skipped <= lines);
	history_digest(&h, &now);
	for (size_t i = 0; i < h.count; i++) {
		require(!i || h.events[i - 1].time <= h.events[i].time);
		require_event(&h.events[i]);
	}
	for (size_t i = 0; i < h.gap_count; i++)
		require(h.gaps[i].from < h.gaps[i].to && *h.gaps[i].reason);
	event = history_cause(&h, "7", 0, 1e12, &cause);
	require(!event == !strcmp(cause, "none"));
	history_free(&h);
}

/* Lines of fields, numbers, PCI addresses and /proc/PID/stat: any bytes give fields inside the text, in order, each
 * line once; what is read of a span was there, and is written back the same. No name of a process hides when it
 * began. */
static void require_message(struct fields *f, size_t field)
{
	char error[80];

	memset(error, 'x', sizeof(error));
	f->error = error;
	f->error_size = sizeof(error);
	fields_refuse(f, field, "is no such thing");
	require_safe(error, sizeof(error));
}

static void require_field(struct span field)
{
	char copy[24], text[24];
	uint64_t number;

	require(span_left(field) > 0);
	for (const char *c = field.at; c < field.end; c++)
		require(!*c || !strchr(" \t\r\n#", *c));
	if (span_copy(field, copy, sizeof(copy)))
		require(strlen(copy) == span_left(field) && span_is(field, copy));
	if (span_number(field, UINT64_MAX, &number)) {
		while (span_left(field) > 1 && *field.at == '0')
			field.at++;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
		require(span_is(field, text));
	}
}

static void require_addresses(struct span s)
{
	char text[PCI_ADDRESS_SIZE], again[PCI_ADDRESS_SIZE];
	struct pci_address address;
	uint64_t value;

	while (s.at < s.end) {
		const char *before = s.at;
		struct span own;

		if (pci_address_take(&s, &address)) {
			pci_address_text(text, &address);
			own = (struct span){ text, text + strlen(text) };
			require(pci_address_take(&own, &address) && own.at == own.end);
			pci_address_text(again, &address);
			require(!strcmp(text, again));
		} else if (!span_take_number(&s, 16, UINT32_MAX, &value)) {
			s.at++;
		}
		require(s.at > before && s.at <= s.end);
	}
}

/* @name: up to where its bytes end a string. */
static void require_start(const char *name)
{
	char stat[4200];
	uint64_t ticks;

	process_start_ticks(name, &ticks);
	snprintf(stat, sizeof(stat),
		 "7 (%.4000s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 9", name);
	require(process_start_ticks(stat, &ticks) && ticks == 4711);
}

static void try_fields(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size);
	struct fields f = { .rest = { text, text + size } };
	unsigned int line = 0;

	while (fields_next(&f)) {
		const char *end = text;

		require(f.line > line && f.count > 0);
		line = f.line;
		for (size_t i = 0; i < f.count && i < MAX_FIELDS; i++) {
			require(f.field[i].at >= end && f.field[i].end <= text + size);
			end = f.field[i].end;
			require_field(f.field[i]);
			require_message(&f, i);
		}
	}
	require_addresses((struct span){ text, text + size });
	require_start(text);
	free(text);
}

/* /etc/fstab, and for paths as options name them: there are no more mounts than there is room for, none twice, and
 * each path is terminated and as mountinfo has it. The same bytes are mountinfo and mountstats: a mount is asked
 * only if it is there, and may be written if it should. */
static void look(const char *text, size_t size, struct node_mount *fact)
{
	struct span rest = { text, text + size };
	struct mountinfo_line m;

	fact->state = MOUNT_ABSENT;
	while (mountinfo_next_line(&rest, &m))
		node_mount_look(fact, &m);
	require_string(fact->device);
	require(fact->state <= MOUNT_READ_ONLY);
	require(fact->state == MOUNT_FINE || !*fact->device);
	require(fact->state != MOUNT_READ_ONLY || !fact->read_only);
	mount_replies((struct span){ text, text + size }, fact->path);
}

static void try_fstab(const uint8_t *data, size_t size)
{
	struct node_state facts = {};
	char *text = string_of(data, size);

	node_mounts_add_fstab(&facts, text, size);
	node_mounts_add(&facts, text);
	require(facts.mount_count <= NODE_MOUNTS_MAX);
	for (size_t i = 0; i < facts.mount_count; i++) {
		const char *path = facts.mounts[i].path;
		size_t len;

		require(memchr(path, 0, LABEL_SIZE) != NULL);
		len = strlen(path);
		require(!strstr(path, "//") && (len < 2 || path[len - 1] != '/'));
		for (size_t k = 0; k < i; k++)
			require(strcmp(path, facts.mounts[k].path) != 0);
		look(text, size, &facts.mounts[i]);
	}
	look(text, size, &(struct node_mount){ .path = "/mnt/nas" });
	free(text);
}

/* Classifier of kernel lines: any bytes give well-formed results, the iterator always moves on, and texts stay
 * inside. */
static void require_word(const char *string, size_t size)
{
	require_safe(string, size);
	require(!strchr(string, ' '));
}

static void try_kernel_line(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t offset = 0, before = 0;
	struct kernel_line line;

	while (kernel_line_next(text, size, &offset, &line)) {
		bool named = line.kind >= KERNEL_LINE_GPU_DRIVER;

		require(offset > before && offset <= size);
		require(line.kind > KERNEL_LINE_NONE && line.kind <= KERNEL_LINE_REPORT_ENDS);
		require(named == (line.name[0] != 0));
		require_word(line.device, sizeof(line.device));
		require_word(line.uuid, sizeof(line.uuid));
		require_word(line.serial, sizeof(line.serial));
		require((line.kind == KERNEL_LINE_GPU_UUID) == (line.uuid[0] != 0));
		require((line.kind == KERNEL_LINE_GPU_SERIAL) == (line.serial[0] != 0));
		require(line.text >= text + before && line.text + line.text_len <= text + offset);
		require(line.text_len > 0 && memchr(line.text, '\n', line.text_len) == NULL);
		before = offset;
	}
	require(offset == size && line.kind == KERNEL_LINE_NONE);
}

/* Parser of /dev/kmsg records: any bytes are refused or give a text that fits; a text escaped as the kernel does
 * reads back. */
static void parse_anything(const char *bytes, size_t len, size_t size)
{
	char *text = malloc(size ? size : 1); /* for ASan */
	struct kmsg_record r;
	bool ok;

	require(text != NULL);
	ok = kmsg_record_parse(bytes, len, &r, text, size);
	require(r.text_len <= size && r.text_len <= len);
	require(ok || (!r.text_len && !r.sequence && !r.time_us && !r.facility));
	free(text);
}

/* As the kernel's msg_print_ext_body() is documented. */
static void read_back(const char *bytes, size_t len)
{
	char *record = malloc(64 + 4 * len), *text = malloc(len + 1);
	struct kmsg_record r;
	int used;

	require(record && text);
	used = sprintf(record, "4,%zu,7,c,caller=T1;", len);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		used += sprintf(record + used, c < ' ' || c >= 127 || c == '\\' ? "\\x%02x" : "%c",
				c);
	}
	used += sprintf(record + used, "\n SUBSYSTEM=x\n");
	require(kmsg_record_parse(record, (size_t)used, &r, text, len + 1));
	require(r.text_len == len && r.continued && r.sequence == len);
	require(!memcmp(text, bytes, len));
	free(record);
	free(text);
}

/* The first byte is the room for the text. */
static void try_kmsg_record(const uint8_t *data, size_t size)
{
	if (!size)
		return;
	parse_anything((const char *)data + 1, size - 1, data[0]);
	read_back((const char *)data + 1, size - 1);
}

/* Mountstats, mountinfo and xprt_info: any bytes give strings that fit and counts within bounds, and the reading
 * comes to an end. */
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

static void try_mountstats(const uint8_t *data, size_t size)
{
	static struct mountstats_mount mount;
	char *text = string_of(data, size);
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
	xprt_info_parse(&xprt, text);
	free(text);
}

/* The `format` files that describe the fields of trace events: whatever they contain, nothing beyond the file is read. */
static void try_trace(const uint8_t *data, size_t size)
{
	struct trace_field field;
	char *text = copy_of(data, size);

	trace_field_find((struct span){ text, text + size }, "dev", &field);
	free(text);
}

/* Parser of fault lines: any bytes give well-formed events, the iterator always moves on, and messages stay inside
 * the text. */
static void require_pci(const char *pci)
{
	size_t len = strlen(pci);

	require(len >= 12 && len <= 16);
	require(pci[len - 2] == '.' && pci[len - 5] == ':' && pci[len - 8] == ':');
	for (size_t i = 0; i < len; i++)
		require(strchr("0123456789abcdef:.", pci[i]) != NULL);
}

/* A message ends with its line, unless the newline can be one of a process' name. */
static void require_end(const struct xid_line *line)
{
	const char *end = line->message + line->message_len, *at = line->message;
	const char *text = memchr(line->header, ')', (size_t)(end - line->header));
	const char *name = memmem(text, (size_t)(end - text), "name=", 5);

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		require(name && at > name && at - name - 5 < 15);
		at++;
	}
}

static void try_xid_line(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t offset = 0, before = 0;
	struct xid_line line;

	while (xid_line_next(text, size, &offset, &line)) {
		/* the shortest header is "NVRM: Xid (0:0): 0" without its space */
		require(offset >= before + 17 && offset <= size);
		require(line.kind != XID_LINE_NONE);
		require_one_line(line.pci, sizeof(line.pci));
		require_pci(line.pci);
		require_one_line(line.process, sizeof(line.process));
		require_one_line(line.recovery, sizeof(line.recovery));
		require_one_line(line.recovery_from, sizeof(line.recovery_from));
		require_one_line(line.nvlink.unit, sizeof(line.nvlink.unit));
		require(line.nvlink.xc >= -1 && line.nvlink.instance >= -1 &&
			line.nvlink.link >= -2);
		require(line.nvlink.word_count >= 0 && line.nvlink.word_count <= NVLINK_WORDS);
		require(line.pid >= -1 && line.gpu_instance >= -1 && line.compute_instance >= -1);
		require(line.message >= text + before &&
			line.message + line.message_len <= text + offset);
		require_end(&line);
		before = offset;
	}
	require(offset == size && line.kind == XID_LINE_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const fuzz_parser parsers[] = { try_event_reader, try_fields,      try_fstab,
					       try_kernel_line,  try_kmsg_record, try_mountstats,
					       try_trace,        try_xid_line };

	fuzz_one(parsers, sizeof(parsers) / sizeof(*parsers), data, size);
	return 0;
}
