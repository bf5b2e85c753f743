// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/event.h"

const struct event_kind_row event_kinds[EVENT_KINDS + 1] = {
#define TABLE_ROW(kind, ...) { __VA_ARGS__ },
#include "event_kinds.inc"
#undef TABLE_ROW
	{ "", .device = "device" },
};

enum event_kind event_kind_find(struct span name)
{
	const struct event_kind_row *row =
		ARRAY_FIND(k, event_kinds, EVENT_KINDS, span_is(name, k->name));

	return row ? (enum event_kind)(row - event_kinds) : EVENT_KINDS;
}

static const struct event_class classes[] = {
#define TABLE_ROW(kind, name, grade, cause, meaning) \
	{ EVENT_KIND_##kind, name, grade, cause, sizeof(meaning) > 1 ? " (" meaning ")" : "" },
#include "grades.inc"
#undef TABLE_ROW
	{ EVENT_KINDS, "", "unknown", "", "" },
};

const struct event_class *event_class_of(enum event_kind kind, struct span name)
{
	return ARRAY_FIND(c, classes, COUNT(classes) - 1, c->kind == kind && (!*c->name || span_is(name, c->name))) ?:
		       &classes[COUNT(classes) - 1];
}

const char *kernel_event_meaning(struct span name)
{
	const struct event_class *class =
		ARRAY_FIND(c, classes, COUNT(classes), *c->name && span_is(name, c->name));

	return class ? class->meaning : "";
}
