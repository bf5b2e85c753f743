// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What an operator has dealt with: parser and look-up. */
#include "health/ack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/file_text.h"
#include "base/time_text.h"

#define MAX_BYTES (1 << 20)
#define SXID "sxid:"

static int refuse(const struct fields *f, size_t n, const char *what, char *error,
		  size_t error_size)
{
	char shown[48];

	field_show(&f->field[n], shown, sizeof(shown));
	snprintf(error, error_size, "line %u: '%s' %s", f->line, shown, what);
	return -EINVAL;
}

/* A PCI address, or "*". */
static bool read_device(const struct field *field, char to[PCI_ADDRESS_SIZE])
{
	struct span rest = { field->at, field->at + field->len };
	struct pci_address address;

	if (span_is(rest, "*"))
		return field_copy(field, to, PCI_ADDRESS_SIZE);
	if (!pci_address_take(&rest, &address) || span_left(rest))
		return false;
	pci_address_text(to, &address);
	return true;
}

static bool read_what(struct field field, char *to, size_t size)
{
	size_t len = strlen(SXID);
	bool nvswitch = field.len > len && !memcmp(field.at, SXID, len);
	unsigned int code;

	if (nvswitch)
		field = (struct field){ field.at + len, field.len - len };
	if (field_number(&field, &code)) {
		snprintf(to, size, "%s%u", nvswitch ? SXID : "", code);
		return true;
	}
	if (nvswitch || !field_copy(&field, to, size))
		return false;
	return !strcmp(to, "*") || (to[0] >= 'a' && to[0] <= 'z' &&
				    !to[strspn(to, "abcdefghijklmnopqrstuvwxyz0123456789_")]);
}

static int read_line(struct ack_list *list, const struct fields *f, char *error, size_t error_size)
{
	struct ack *a = &list->acks[list->count];
	char time[32];

	if (!read_device(&f->field[0], a->device))
		return refuse(f, 0, "is no PCI address (0000:c1:00.0) and not *", error,
			      error_size);
	if (f->count < 3)
		return refuse(f, 0, "must be followed by WHAT and TIME", error, error_size);
	if (!read_what(f->field[1], a->what, sizeof(a->what)))
		return refuse(f, 1,
			      "is no Xid, no " SXID "NUMBER, no kind of driver "
			      "error and not *",
			      error, error_size);
	if (!field_copy(&f->field[2], time, sizeof(time)) || !time_from_text(time, &a->time))
		return refuse(f, 2,
			      "is no time: 2026-11-21T10:00:00Z or seconds "
			      "since the epoch",
			      error, error_size);
	list->count++;
	return 0;
}

int ack_parse(struct ack_list *list, const char *text, size_t len, char *error, size_t error_size)
{
	size_t lines = 1;
	struct fields f;
	int err = 0;

	*list = (struct ack_list){};
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	if (lines > ACK_MAX_LINES) {
		snprintf(error, error_size, "at most %d lines are read", ACK_MAX_LINES - 1);
		return -EINVAL;
	}
	list->acks = calloc(lines, sizeof(*list->acks));
	if (!list->acks) {
		snprintf(error, error_size, "no memory");
		return -ENOMEM;
	}
	fields_begin(&f, text, len);
	while (!err && fields_next(&f))
		err = read_line(list, &f, error, error_size);
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

static bool fits(const char *pattern, const char *text)
{
	return !strcmp(pattern, "*") || !strcmp(pattern, text);
}

bool ack_covers(const struct ack_list *list, const char *device, const char *what, double time)
{
	for (const struct ack *a = list->acks; a < list->acks + list->count; a++)
		if (fits(a->device, device) && fits(a->what, what) &&
		    (double)(long long)time <= a->time)
			return true;
	return false;
}
