// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/fault_counts.h"

#include "base/json.h"
#include "base/safe_text.h"
#include "base/time_text.h"
#include "snapshot/table.h"

const char *const fault_authority_names[AUTHORITIES] = {
	[AUTHORITY_LOG] = "log",
	[AUTHORITY_DRIVER] = "driver",
	[AUTHORITY_HOOK] = "hook",
};

const char *const fault_standing_names[STANDINGS] = {
	[STANDING_OPEN] = "open",
	[STANDING_SNOOZED] = "snoozed",
	[STANDING_ACKNOWLEDGED] = "acknowledged",
	[STANDING_HARMLESS] = "harmless",
	[STANDING_OVER] = "over",
};

const char *known_fault_name(char *text, const char *kind, const char *what)
{
	const char *colon = strchr(what, ':');

	safe_format(text, FAULT_NAME_SIZE, "%s%s",
		    !strcmp(kind, "xid")  ? "Xid " :
		    !strcmp(kind, "sxid") ? "SXid " :
					    "",
		    colon ? colon + 1 : what);
	return text;
}

const char *known_fault_text(char *text, const struct known_fault *f)
{
	const char *advice = f->standing == STANDING_OPEN ? f->advice : "";

	snprintf(
		text, KNOWN_FAULT_TEXT, "%s on %s%s: %s%s%s, %" PRIu64 " report%s, last %s: %s%s%s",
		FAULT_NAME(f->kind, f->what),
		!strcmp(f->kind, "sxid") ? "NVSwitch " :
		*f->device               ? "GPU " :
					   "the driver",
		f->device, fault_standing_names[f->standing], *f->severity ? ", " : "", f->severity,
		f->count, f->count == 1 ? "" : "s", f->last > 0 ? LOCAL_TIME(f->last) : "not known",
		f->meaning, *f->meaning && *advice ? ". " : "", advice);
	return text;
}

void known_faults_write(struct json *j, const struct known_fault *list, size_t count)
{
	JSON_ROWS(j, "faults", f, list, count, true) {
		json_text(j, "state", fault_standing_names[f->standing]);
		json_unsigned(j, "level", f->level);
		json_text(j, "kind", f->kind);
		json_text(j, "fault", f->what);
		json_text(j, "device", f->device);
		json_text(j, "severity", f->severity);
		json_text(j, "action", f->action);
		json_text(j, "meaning", f->meaning);
		json_text(j, "advice", f->advice);
		json_unsigned(j, "count", f->count);
		if (f->first > 0)
			json_time(j, "first", f->first);
		if (f->last > 0)
			json_time(j, "last", f->last);
	}
}

void fault_counts_free(struct fault_counts *counts)
{
	table_free_part(counts, offsetof(struct snapshot, faults));
	*counts = (struct fault_counts){};
}

const char *const gpu_modules[GPU_MODULES] = {
	"nvswitch",       "nvidia",    "nvidia_modeset",   "nvidia_uvm", "nvidia_drm",
	"nvidia_peermem", "nvidia_fs", "nvidia_vgpu_vfio", "gdrdrv",
};

double fault_last_recovery(const struct fault_counts *counts, const char *gpu, bool withdrawn)
{
	double last = 0;

	ARRAY_EACH(r, counts->recoveries, counts->recovery_count)
		if ((withdrawn || strcmp(r->evidence, RECOVERY_WITHDRAWN) != 0) &&
		    (!strcmp(r->gpu, gpu) || !strcmp(r->gpu, "all")))
			RAISE(last, r->time);
	return last;
}

bool is_gpu_module(struct span name)
{
	return ARRAY_FIND(m, gpu_modules, GPU_MODULES, span_is(name, *m));
}

bool fault_module_is_watched(const char *module)
{
	static const char *const nfs[] = { "nfs",    "nfsv",    "blocklayoutdriver", "lockd",
					   "sunrpc", "rpcrdma", "auth_rpcgss",       "rpcsec_gss",
					   "netfs",  "fscache" };
	size_t len = strcspn(module, "0123456789");

	return is_gpu_module(span_of(module)) ||
	       ARRAY_FIND(w, nfs, COUNT(nfs),
			  !strncmp(module, *w, strlen(*w)) &&
				  (strlen(*w) == len || module[strlen(*w)] == '_'));
}

bool kernel_event_is_stall(const char *kind)
{
	static const char *const kinds[] = { "soft_lockup", "hard_lockup", "rcu_stall",
					     "kernel_spin" };

	return ARRAY_FIND(k, kinds, COUNT(kinds), !strcmp(kind, *k));
}

const struct event_kind_row event_kinds[EVENT_KINDS + 1] = {
#define TABLE_ROW(kind, ...) { __VA_ARGS__ },
#include "event_kinds.inc"
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
