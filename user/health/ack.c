// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "health/health.h"

#include "base/clock.h"
#include "base/pci_address.h"
#include "base/span.h"
#include "base/time_text.h"
#include "xid/xid_line.h"

bool ack_read_device(struct span text, struct ack *a)
{
	struct pci_address address;

	if (span_is(text, "*") || span_is(text, "other") || is_gpu_uuid(text))
		return span_copy(text, a->device, sizeof(a->device));
	if (!pci_address_take(&text, &address) || span_left(text))
		return false;
	pci_address_text(a->device, &address);
	return true;
}

bool ack_read_what(struct span text, struct ack *a)
{
	const char *to = a->what;
	unsigned int code;
	bool nvswitch;

	if (xid_code_read(text, &nvswitch, &code)) {
		xid_code_text(a->what, sizeof(a->what), nvswitch, code);
		return true;
	}
	if (!span_copy(text, a->what, sizeof(a->what)))
		return false;
	return !strcmp(to, "*") || (to[0] >= 'a' && to[0] <= 'z' &&
				    !to[strspn(to, "abcdefghijklmnopqrstuvwxyz0123456789_")]);
}

static int read_line(struct ack_list *list, const struct fields *f)
{
	struct ack *a = ARRAY_APPEND(list->acks, list->count);
	struct span when;
	char time[32];

	if (!ack_read_device(f->field[0], a))
		return fields_refuse(f, 0, "is not " ACK_DEVICE_FORMS);
	if (f->count < 3)
		return fields_refuse(f, 0, "must be followed by WHAT and TIME");
	if (!ack_read_what(f->field[1], a))
		return fields_refuse(f, 1, "is not " ACK_WHAT_FORMS);
	when = f->field[2];
	a->snooze = span_take(&when, "until:");
	if (!span_copy(when, time, sizeof(time)) || !time_from_text(time, &a->time))
		return fields_refuse(
			f, 2, "is not a time: 2026-11-21T10:00:00Z or seconds since the epoch");
	return 0;
}

int ack_parse(struct ack_list *list, const char *text, size_t len, char *error, size_t error_size)
{
	struct fields f = { .rest = { text, text + len },
			    .error = error,
			    .error_size = error_size };
	uint64_t failed = memory_failed();
	int err = 0;

	*list = (struct ack_list){};
	while (!err && f.line <= ACK_MAX_LINES && fields_next(&f))
		err = read_line(list, &f);
	if (!err && f.line > ACK_MAX_LINES) {
		snprintf(error, error_size, "at most %d lines are read", ACK_MAX_LINES);
		err = -EINVAL;
	}
	if (memory_error(failed)) {
		snprintf(error, error_size, "no memory");
		err = -ENOMEM;
	}
	if (err)
		ack_free(list);
	return err;
}

int ack_take(struct ack_list *list, const struct file_text *file, int err, const char *path,
	     char *error, size_t error_size)
{
	char why[160];

	*list = (struct ack_list){};
	if (err == -ENOENT)
		return 0;
	if (err) {
		snprintf(error, error_size, "cannot read %s: %s", path, file_text_error(err));
		return err;
	}
	err = ack_parse(list, file->bytes, file->len, why, sizeof(why));
	if (err)
		snprintf(error, error_size, "%s: %s", path, why);
	return err;
}

void ack_free(struct ack_list *list)
{
	free(list->acks);
	*list = (struct ack_list){};
}

/* ---- the agent's file ---- */

/* Whether it says nothing of the file, which is then asked for again. */
static bool may_pass(int err)
{
	return err == -EAGAIN || err == -ENOMEM || err == -ENFILE || err == -EMFILE || err == -EIO;
}

/* Takes over what the process has read. Returns whether that is news. */
static bool take_answer(struct ack_file *f)
{
	struct file_text file = { .bytes = f->reader.text, .len = f->reader.len };
	int err;

	f->reader.text = NULL;
	f->reader.len = 0;
	err = f->reader.whole ? helper_open_file(&file) : -EAGAIN;
	f->silent = may_pass(err) ? err : 0;
	if (f->silent || (f->known && err == f->error && file.len == f->file.len &&
			  !memcmp(file.bytes ?: "", f->file.bytes ?: "", file.len))) {
		file_text_free(&file);
		return false;
	}
	f->known = true;
	f->error = err;
	file_text_free(&f->file);
	f->file = file;
	ack_free(&f->list);
	*f->trouble = 0;
	ack_take(&f->list, &f->file, err, f->path, f->trouble, sizeof(f->trouble));
	return true;
}

bool ack_file_refresh(struct ack_file *f, uint64_t most_ns)
{
	struct helper *r = &f->reader;
	bool asked = r->running;

	if (!f->path)
		return false;
	helper_collect(r, 0);
	if (r->running && monotonic_ns() >= r->begun_ns + HELPER_AGE_NS) {
		f->silent = -ETIMEDOUT;
		f->due = true;
		helper_kill(r);
	}
	if (f->due)
		f->due = !helper_start(r, "xidscope-acks", helper_send_file,
				       &(struct helper_file){ f->path, true });
	asked |= r->running;
	helper_collect(r, r->begun_ns + most_ns);
	return asked && !r->running && r->begun_ns && take_answer(f);
}

void ack_file_close(struct ack_file *f)
{
	helper_free(&f->reader);
	file_text_free(&f->file);
	ack_free(&f->list);
}

static bool matches_text(const char *pattern, const char *text)
{
	return !strcmp(pattern, "*") || !strcmp(pattern, text);
}

const struct ack *ack_find(const struct ack_list *list, const char *device, const char *uuid,
			   const char *what, double time, double now)
{
	ARRAY_EACH(a, list->acks, list->count) {
		if (!matches_text(a->device, device) && (!*uuid || strcmp(a->device, uuid) != 0))
			continue;
		if (!matches_text(a->what, what))
			continue;
		if (a->snooze ? (double)(long long)now <= a->time :
				(double)(long long)time <= a->time &&
					a->time <= now + CLOCK_SLACK_SECONDS)
			return a;
	}
	return NULL;
}
