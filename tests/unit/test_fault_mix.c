// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that each call of the driver counts once, however late it is read, whatever users and processes print beside
 * it, of texts of the driver, too, and whatever of that the hook and the log lose. */
#include "fault_world.h"
#include "faults/fault_authority.h"

#define MIXES 250
#define MAX_RECORDS 150
#define MAX_CALLS 2 /* in a record */
#define REPEATS 16
#define TEXT 1024
#define OPTION "tmpfs: Unknown parameter '"
#define REPEATED OPTION "NVRM'"

/* What the driver prints, and others imitate. */
static const struct {
	const char *text;
	unsigned int code; /* of the fault; 0: none */
	const char *event; /* the driver error; NULL: none */
} lines[] = {
	{ "NVRM: Xid (PCI:0000:c1:00): 79, pid=7, name=py, GPU has fallen off the bus.", 79, NULL },
	{ "NVRM: Xid (PCI:0000:c2:00): 31, pid=8, name=a b, Ch 00000008, MMU Fault", 31, NULL },
	{ "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 48", 20034, NULL },
	{ "NVRM: GPU 0000:c4:00.0: RmInitAdapter failed! (0x24:0x72:1568)", 0,
	  "rm_init_adapter_failed" },
	{ "NVRM: GPU0 kgspHeartbeat: GSP RM heartbeat timed out", 0, "gsp_heartbeat_timeout" },
	{ "NVRM: another line", 0, NULL },
	{ "NVRM", 0, NULL },
};

struct mix {
	uint32_t random;
	uint64_t wanted[COUNT(lines)];
	size_t to_repeat, count;
	struct printed {
		uint64_t time;
		unsigned int facility;
		bool lost; /* by the log */
		char text[TEXT];
		size_t call_count;
		struct {
			enum printk_origin origin;
			bool dropped; /* by the hook */
			size_t at;
		} calls[MAX_CALLS];
	} records[MAX_RECORDS];
};

static size_t up_to(struct mix *m, size_t limit)
{
	m->random = m->random * 1664525u + 1013904223u;
	return (m->random >> 8) % limit;
}

static void begin_call(struct printed *p, enum printk_origin origin, bool dropped)
{
	p->calls[p->call_count].origin = origin;
	p->calls[p->call_count].dropped = dropped;
	p->calls[p->call_count++].at = strlen(p->text);
}

static void print_line(struct mix *m, struct printed *p)
{
	size_t line = up_to(m, COUNT(lines));

	begin_call(p, PRINTK_ORIGIN_DRIVER, false);
	strcat(p->text, lines[line].text);
	m->wanted[line]++;
}

/* A text of a user: lines of the driver, or their beginnings; now and then a line behind many texts of messages that he
 * prints just after it. */
static void print_option(struct mix *m, struct printed *p)
{
	size_t parts = up_to(m, 6);

	begin_call(p, PRINTK_ORIGIN_OTHER, up_to(m, 2));
	strcat(p->text, OPTION);
	if (!up_to(m, 8)) {
		m->to_repeat = REPEATS;
		for (size_t i = 0; i < REPEATS; i++)
			strcat(p->text, REPEATED);
		strcat(p->text, lines[up_to(m, COUNT(lines))].text);
		parts = 0;
	}
	for (size_t i = 0; i < parts; i++) {
		const char *text = lines[up_to(m, COUNT(lines))].text;

		strncat(p->text, text, up_to(m, 4) ? strlen(text) : up_to(m, strlen(text)));
		strcat(p->text, up_to(m, 4) ? "" : "\n");
	}
	strcat(p->text, "'");
}

static void print(struct mix *m)
{
	struct printed *p = &m->records[m->count++];

	p->time = w->now;
	p->lost = !up_to(m, 6);
	if (m->to_repeat) {
		m->to_repeat--;
		begin_call(p, PRINTK_ORIGIN_OTHER, false);
		strcat(p->text, REPEATED);
		return;
	}
	switch (up_to(m, 5)) {
	case 0: /* a process, which may guess */
		p->facility = 1;
		begin_call(p, PRINTK_ORIGIN_PROCESS, up_to(m, 2));
		strcat(p->text, lines[up_to(m, COUNT(lines))].text);
		break;
	case 1:
	case 2:
		print_option(m, p);
		break;
	default:
		print_line(m, p);
		return;
	}
	/* The line was left unfinished. */
	if (!up_to(m, 3))
		print_line(m, p);
}

static void pass_message(const struct printed *p, size_t call)
{
	size_t at = p->calls[call].at;
	size_t end = call + 1 < p->call_count ? p->calls[call + 1].at : strlen(p->text);

	w->origin = p->calls[call].origin;
	if (printk_marked(p->text + at, end - at) && !p->calls[call].dropped)
		printk_at(p->time, formatted("%.*s", (int)(end - at), p->text + at));
}

static void pass_record(struct mix *m, const struct printed *p)
{
	struct kmsg_record record = { .facility = p->facility,
				      .sequence = (uint64_t)(p - m->records),
				      .time_us = p->time / 1000,
				      .continued = !strncmp(p->text, "NVRM: Xid", 9),
				      .text_len = strlen(p->text) };

	if (!p->lost)
		fault_authority_record(&w->authority, &record, p->text, RECORD_NEW, w->now);
}

static uint64_t counted(size_t line)
{
	uint64_t sum = 0;

	for (size_t i = 0; lines[line].code && i < counts->fault_count; i++)
		if (counts->faults[i].code == lines[line].code)
			sum += counts->faults[i].count;
	for (size_t i = 0; lines[line].event && i < counts->kernel_event_count; i++)
		if (!strcmp(counts->kernel_events[i].kind, lines[line].event))
			sum += counts->kernel_events[i].count;
	return sum;
}

static void try_mix(struct mix *m)
{
	size_t messages = 0, records = 0, size = 1 + up_to(m, MAX_RECORDS);

	while (records < size) {
		if (m->count < size)
			print(m);
		w->now += up_to(m, 40) ? up_to(m, SECOND / 500) : up_to(m, 3 * SECOND);
		if (m->count < size && up_to(m, 30))
			continue;
		for (; messages < m->count; messages++)
			for (size_t i = 0; i < m->records[messages].call_count; i++)
				pass_message(&m->records[messages], i);
		while (records < m->count && (m->count == size || up_to(m, 10)))
			pass_record(m, &m->records[records++]);
		if (records == m->count)
			fault_authority_all_read(&w->authority, w->now);
	}
	pass(10 * SECOND);
	for (size_t i = 0; i < COUNT(lines); i++)
		if (lines[i].code || lines[i].event)
			assert_int_equal(counted(i), m->wanted[i]);
}

TEST(each_call_of_the_driver_counts_once)
{
	for (uint32_t i = 0; i < MIXES; i++) {
		struct mix *m = not_null(calloc(1, sizeof(*m)));

		fresh();
		m->random = i * 2654435761u;
		fault_authority_offer(&w->authority, AUTHORITY_HOOK, true, w->now);
		pass(10 * SECOND);
		try_mix(m);
		free(m);
	}
}
