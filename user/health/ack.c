// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The faults that an operator has acknowledged: parser and look-up. */
#include "health/ack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fields.h"
#include "base/file_text.h"
#include "base/time_text.h"
#include "xid/xid_catalog.h"

#define MAX_BYTES (1 << 20)

/* A PCI address, "other" or "*". */
static bool read_device(struct span field, char to[PCI_ADDRESS_SIZE])
{
	struct pci_address address;

	if (span_is(field, "*") || span_is(field, "other"))
		return span_copy(field, to, PCI_ADDRESS_SIZE);
	if (!pci_address_take(&field, &address) || span_left(field))
		return false;
	pci_address_text(to, &address);
	return true;
}

static bool read_what(struct span field, char *to, size_t size)
{
	unsigned int code;
	bool nvswitch;

	if (xid_code_read(field, &nvswitch, &code)) {
		xid_code_text(to, size, nvswitch, code);
		return true;
	}
	if (!span_copy(field, to, size))
		return false;
	return !strcmp(to, "*") || (to[0] >= 'a' && to[0] <= 'z' &&
				    !to[strspn(to, "abcdefghijklmnopqrstuvwxyz0123456789_")]);
}

static int read_line(struct ack_list *list, const struct fields *f)
{
	struct ack *a = ARRAY_APPEND(list->acks, list->count);
	char time[32];

	if (!a) {
		snprintf(f->error, f->error_size, "no memory");
		return -ENOMEM;
	}
	if (!read_device(f->field[0], a->device))
		return fields_refuse(f, 0, "is not a PCI address (0000:c1:00.0), other or *");
	if (f->count < 3)
		return fields_refuse(f, 0, "must be followed by WHAT and TIME");
	if (!read_what(f->field[1], a->what, sizeof(a->what)))
		return fields_refuse(f, 1,
				     "is not an Xid, sxid:NUMBER, a kind of driver error or *");
	if (!span_copy(f->field[2], time, sizeof(time)) || !time_from_text(time, &a->time))
		return fields_refuse(
			f, 2, "is not a time: 2026-11-21T10:00:00Z or seconds since the epoch");
	return 0;
}

int ack_parse(struct ack_list *list, const char *text, size_t len, char *error, size_t error_size)
{
	struct fields f = { .rest = { text, text + len },
			    .error = error,
			    .error_size = error_size };
	int err = 0;

	*list = (struct ack_list){};
	while (!err && f.line <= ACK_MAX_LINES && fields_next(&f))
		err = read_line(list, &f);
	if (!err && f.line > ACK_MAX_LINES) {
		snprintf(error, error_size, "at most %d lines are read", ACK_MAX_LINES);
		err = -EINVAL;
	}
	if (err)
		ack_free(list);
	return err;
}

int ack_load(struct ack_list *list, const char *path, char *error, size_t error_size)
{
	struct file_text file;
	char why[160];
	int err;

	*list = (struct ack_list){};
	err = file_text_read(&file, path, MAX_BYTES);
	if (err == -ENOENT)
		return 0;
	if (err) {
		snprintf(error, error_size, "cannot read %s: %s", path, file_text_error(err));
		return err;
	}
	err = ack_parse(list, file.bytes, file.len, why, sizeof(why));
	if (err)
		snprintf(error, error_size, "%s: %s", path, why);
	file_text_free(&file);
	return err;
}

void ack_free(struct ack_list *list)
{
	free(list->acks);
	*list = (struct ack_list){};
}

static bool matches(const char *pattern, const char *text)
{
	return !strcmp(pattern, "*") || !strcmp(pattern, text);
}

bool ack_covers(const struct ack_list *list, const char *device, const char *what, double time,
		double now)
{
	for (const struct ack *a = list->acks; a < list->acks + list->count; a++)
		if (matches(a->device, device) && matches(a->what, what) &&
		    (double)(long long)time <= a->time && a->time <= now + CLOCK_SLACK_SECONDS)
			return true;
	return false;
}
