// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The faults seen so far: from lines of the kernel log to counts. */
#include "faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "xid_catalog.h"
#include "xid_line.h"

/* A process that writes nonsense into the kernel log must not make us grow. */
#define MAX_FAULTS 1024

static const struct fault other = { .device = "other", .severity = "unknown" };

/* The list is a snapshot's, so that its look-up serves both. */
static struct fault *find(struct faults *f, const struct fault *like)
{
	struct snapshot s = { .faults = f->list, .fault_count = f->count };
	struct fault *found = snapshot_fault(&s, like);

	/* Was that one too many? Then it is the last. */
	if (found && s.fault_count > MAX_FAULTS &&
	    found == &s.faults[s.fault_count - 1] && !found->count) {
		s.fault_count--;
		found = snapshot_fault(&s, &other);
	}

	f->list = s.faults;
	f->count = s.fault_count;
	return found;
}

static void describe(const struct log *log, const struct fault *fault,
		     const struct fault_source *source,
		     const struct xid_line *line)
{
	const struct xid_catalog_entry *entry = xid_catalog_find(line->code);
	char message[256];

	label_from_bytes(message, sizeof(message), line->message,
			 line->message_len);
	log_warn(log, "%s %u on %s (%s%s%s), pid %d %s, on CPU %u: %s",
		 fault->nvswitch ? "SXid" : "Xid", fault->code, fault->device,
		 fault->severity, fault->nvswitch ? "" : ", ",
		 fault->nvswitch ? "" : entry->description,
		 line->pid >= 0 ? line->pid : (int)source->pid,
		 line->process[0] ? line->process : source->comm, source->cpu,
		 message);
}

int faults_add_text(struct faults *f, const struct log *log,
		    const struct fault_source *source, const char *text,
		    size_t len)
{
	struct xid_line line;
	struct fault *fault;
	size_t offset = 0;
	int count = 0;

	while (xid_line_next(text, len, &offset, &line)) {
		struct fault like = { .code = line.code,
				      .nvswitch = line.kind == XID_LINE_SXID };

		if (line.kind == XID_LINE_SXID_DETAIL)
			continue;
		label_from_bytes(like.device, sizeof(like.device), line.pci,
				 strlen(line.pci));
		label_from_bytes(like.severity, sizeof(like.severity),
				 xid_line_severity(&line),
				 strlen(xid_line_severity(&line)));
		if (!like.nvswitch) {
			const char *action = xid_catalog_find(line.code)->action;

			label_from_bytes(like.action, sizeof(like.action),
					 action, strlen(action));
		}
		fault = find(f, &like);
		if (!fault)
			return -ENOMEM;
		fault->count++;
		fault->last = source->time;
		describe(log, &like, source, &line);
		count++;
	}
	return count;
}

int faults_snapshot(const struct faults *f, struct snapshot *s)
{
	struct fault *copy;

	for (size_t i = 0; i < f->count; i++) {
		copy = snapshot_fault(s, &f->list[i]);
		if (!copy)
			return -ENOMEM;
		*copy = f->list[i];
	}
	return 0;
}

void faults_free(struct faults *f)
{
	free(f->list);
	*f = (struct faults){};
}
