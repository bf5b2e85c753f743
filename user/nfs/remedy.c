// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The commands that change a setting, for a person who pastes them at night on a node with jobs.
 *
 * Most settings of NFS take effect with a new connection. All mounts of a server share its connections, therefore all of
 * them must be unmounted before one is mounted again. A pasted "umount; mount" loses a mount if fstab has no line for it,
 * or if the second umount fails. The lines are therefore:
 *
 * 	sysctl -w sunrpc.tcp_max_slot_table_entries=64
 * 	# 2 processes use these mounts, drain first: python (4711), bash (802)
 * 	umount /mnt/b && umount /mnt/a
 * 	findmnt -t nfs,nfs4 -S nas:/a -M /mnt/a >/dev/null || mount -t nfs4 -o vers=4.2,... nas:/a /mnt/a
 * 	findmnt -t nfs,nfs4 -S nas:/b -M /mnt/b >/dev/null || mount /mnt/b
 * 	# to keep it: echo 'options sunrpc ...' >/etc/modprobe.d/xidscope-....conf
 *
 * Invariant: whatever fails, each mount is there afterwards. umount refuses a mount that is in use; what was unmounted
 * before it is mounted again by its line; what is still mounted is left alone.
 *
 * Each mount is mounted by what mounted it before: fstab, a unit of systemd, autofs, or a person, whose options the kernel
 * lists in mountinfo. What kubelet or a container engine has mounted belongs to pods: no command of this node may touch
 * it, and the lines say what has to be done instead. A value that is in force already, or a larger one, is never lowered. */
#include "nfs/remedy.h"

#include <unistd.h>

#include "base/file_text.h"
#include "base/safe_text.h"

#define MOUNTINFO_MAX (16 << 20)

struct plan {
	const struct remedy *r;
	struct remedy_mounts found;
	bool option; /* the setting is a mount option */
};

/* Writes @text as one word of a shell, between what is @before and @after it. */
static void write_word(FILE *out, const char *before, const char *text, const char *after)
{
	bool plain =
		*text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789_./:=,@%+-")];

	fprintf(out, "%s%s", before, plain ? "" : "'");
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fprintf(out, "%s%s", plain ? "" : "'", after);
}

static void write_field(FILE *out, const char *before, struct span field, const char *after)
{
	char text[2 * PATH_MAX];

	text[mount_unescape(text, sizeof(text) - 1, field)] = 0;
	write_word(out, before, text, after);
}

/* Whether a terminal shows the text as it is. */
static bool is_printable(const char *text)
{
	char safe[4 * PATH_MAX];

	safe_copy(safe, sizeof(safe), text, strlen(text), false, "...");
	return !strcmp(safe, text);
}

/* Names of exports are the server's. */
static bool can_be_pasted(const struct remedy_mount *m)
{
	char source[2 * PATH_MAX];

	source[mount_unescape(source, sizeof(source) - 1, m->line.source)] = 0;
	return is_printable(m->point) && is_printable(source);
}

/* ---- mounting again ---- */

/* Writes the options as mount takes them, with the new value. What the kernel finds out by itself is left out. */
static void write_options(FILE *out, const struct plan *p, const struct remedy_mount *m)
{
	static const char *const left_out[] = { "rw",         "ro",        "addr",
						"clientaddr", "mountaddr", "mountport",
						"mountproto", "seclabel" };
	struct span parts[] = { m->line.options, m->line.super_options }, option, name;
	bool read_only = false;
	size_t size;
	FREED char *text = TEXT_OF(size, all, {
		for (size_t i = 0; i < COUNT(parts); i++)
			while (span_left(parts[i])) {
				option = name = span_take_field(&parts[i], ",");
				name = span_take_until(&name, "=");
				read_only |= span_is(name, "ro");
				if (!ARRAY_FIND(x, left_out, COUNT(left_out), span_is(name, *x)) &&
				    !(p->option && span_is(name, p->r->setting)))
					fprintf(all, ",%.*s", (int)span_left(option), option.at);
			}
		if (p->option)
			fprintf(all, ",%s=%s", p->r->setting, p->r->value);
	});

	write_field(out, read_only ? "ro" : "rw", span_of(text ?: ""), "");
}

static void write_mount(FILE *out, const struct plan *p, const struct remedy_mount *m)
{
	/* Another mount may be below it. */
	write_field(out, "findmnt -t nfs,nfs4 -S ", m->line.source, "");
	write_word(out, " -M ", m->point, " >/dev/null || ");
	if (m->by == BY_UNIT) {
		write_word(out, "systemctl start ", m->unit, "\n");
		return;
	}
	fputs("mount ", out);
	if (m->by == BY_HAND && *m->bound) {
		write_field(out, "-o bind,", m->line.options, " ");
		write_word(out, "", m->bound, " ");
	} else if (!*m->bound) { /* fstab may have other options than it has now */
		fprintf(out, "-t %.*s -o ", (int)span_left(m->line.type), m->line.type.at);
		write_options(out, p, m);
		write_field(out, " ", m->line.source, " ");
	}
	write_word(out, "", m->point, "\n");
}

/* Says what mounts it again, and where an option is kept. */
static void write_mounter(FILE *out, const struct plan *p, const struct remedy_mount *m)
{
	static const char *const again[] = {
		[BY_HAND] = "was mounted by hand: nothing mounts it after a boot",
		[BY_FSTAB] = "is in /etc/fstab",
		[BY_UNIT] = "is of the unit",
		[BY_AUTOFS] = "is mounted by autofs at its next use, map",
		[BY_SYSTEMD] = "is mounted by systemd at its next use (fstab or unit)",
		[BY_KUBELET] =
			"is a pod's: drain the node with kubectl, do not unmount it here; options "
			"are mountOptions of the PersistentVolume",
		[BY_CONTAINER] =
			"is a container's: stop its containers, do not unmount it here; options "
			"belong to the volume",
	};

	if (m->nested || ((!p->option || *m->bound) && m->by <= BY_UNIT))
		return;
	fprintf(out, "# %s %s%s%s", m->point, again[m->by],
		m->by == BY_UNIT || m->by == BY_AUTOFS ? " " : "",
		m->by == BY_UNIT   ? m->unit :
		m->by == BY_AUTOFS ? m->map :
				     "");
	if (p->option && m->by && m->by < BY_KUBELET)
		fprintf(out, ": add %s=%s to its options there%s", p->r->setting, p->r->value,
			m->by == BY_FSTAB  ? "" :
			m->by == BY_AUTOFS ? " first" :
					     " first, then systemctl daemon-reload");
	fputc('\n', out);
}

/* What comes and goes by itself may be gone: then umount would fail, or remove the place of an automount for good. */
static void write_unmount(FILE *out, const struct remedy_mount *m)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an element of an array */
	bool goes = m->nested || m->by > BY_UNIT;

	if (goes)
		write_word(out, "{ ! findmnt -t nfs,nfs4 -M ", m->point, " >/dev/null || ");
	write_word(out, "umount ", m->point, goes ? "; }" : "");
}

static void write_remount(FILE *out, const struct plan *p)
{
	const struct remedy_mount *foreign =
		ARRAY_FIND(m, p->found.list, p->found.count, m->by >= BY_KUBELET);
	const struct remedy_mount *odd =
		ARRAY_FIND(m, p->found.list, p->found.count, !can_be_pasted(m));

	if (!p->found.count || odd) {
		fprintf(out, "# %s: unmount all mounts of the server, then mount again\n",
			odd ? "a mount has a name that cannot be pasted" :
			      "no mount of the server is seen from here");
		return;
	}
	ARRAY_EACH(m, p->found.list, p->found.count)
		write_mounter(out, p, m);
	if (foreign) {
		fputs("# it takes effect when all of the server's mounts are gone: also those of pods and "
		      "containers\n",
		      out);
		return;
	}
	if (*p->found.on_top && is_printable(p->found.on_top))
		fprintf(out,
			p->found.covers ?
				"# something else is mounted over %s: unmount that first\n" :
				"# %s is mounted below: until it is unmounted, umount fails\n",
			p->found.on_top);
	if (p->found.covers)
		return;
	remedy_mounts_users(out, &p->found, p->r->root);
	for (size_t i = p->found.count; i-- > 0;) {
		write_unmount(out, &p->found.list[i]);
		fputs(i ? " && " : "\n", out);
	}
	ARRAY_EACH(m, p->found.list, p->found.count)
		if (!m->nested && m->by <= BY_UNIT)
			write_mount(out, p, m);
}

/* ---- the setting ---- */

static void write_keep(FILE *out, const struct remedy *r, const char *value)
{
	const char *dot = strchr(r->setting, '.'), *name = dot ? dot + 1 : "";
	int module = (int)(dot ? dot - r->setting : 0), words = (int)strcspn(r->setting, "[");

	if (!strcmp(r->setting, "read_ahead_kb"))
		fputs("# to keep it: read_ahead_kb under [nfsrahead] in /etc/nfs.conf (nfs-utils 2.6.2), or a "
		      "udev rule\n",
		      out);
	else if (!strcmp(r->setting, "sunrpc.rdma_slot_table_entries"))
		fprintf(out,
			"# to keep it: load rpcrdma at boot (/etc/modules-load.d), and put %s = %s into /etc/sysctl.d\n",
			r->setting, value);
	else if (!strncmp(r->setting, "sunrpc.", 7) || !strncmp(r->setting, "nfs.", 4))
		fprintf(out,
			access(PATHF("%s/sys/module/%.*s/initstate", r->root, module, r->setting),
			       F_OK) ?
				"# to keep it: %.*s.%s=%s on the kernel's command line\n" :
				"# to keep it: echo 'options %.*s %s=%s' >/etc/modprobe.d/xidscope-%s.conf\n",
			module, r->setting, name, value, name);
	else
		fprintf(out,
			"# to keep it: echo '%.*s = %s' >/etc/sysctl.d/90-xidscope-%.*s.conf\n",
			words, r->setting, value, words, r->setting);
}

/* Writes the device of the mount, whose label may be a volume's name. */
static void write_device(FILE *out, const struct remedy *r)
{
	const struct nfs_mount *volume =
		ARRAY_FIND(m, r->calls->mounts, r->calls->mount_count,
			   *m->mountpoint != '/' && !strcmp(m->mountpoint, r->mountpoint));

	if (volume) {
		fprintf(out, "%" PRIu64 ":%u", volume->device >> 32, (unsigned int)volume->device);
		return;
	}
	write_word(out, "$(mountpoint -d ", r->mountpoint, ")");
}

/* Writes the command that sets it. Returns false, with the reason, if there is none. */
static bool write_setting(FILE *out, const struct remedy *r)
{
	const char *dot = strchr(r->setting, '.'), *place = strchr(r->setting, '['), *last;
	char now[128], value[192], path[64];
	uint64_t wanted = strtoull(r->value, NULL, 10), memory_kb;

	snprintf(value, sizeof(value), "%s", r->value);
	if (!strcmp(r->setting, "read_ahead_kb")) {
		fprintf(out, "echo %s >/sys/class/bdi/", value);
		write_device(out, r);
		fprintf(out, "/read_ahead_kb\n");
	} else if (!strncmp(r->setting, "nfs.", 4)) {
		fprintf(out, "echo %s >/sys/module/nfs/parameters/%s\n", value, dot + 1);
	} else {
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(r->setting, "["), r->setting);
		for (char *c = path; *c; c++)
			if (*c == '.')
				*c = '/';
		if (file_first_line(PATHF("%s/proc/sys/%s", r->root, path), now, sizeof(now))) {
			/* The kernel separates them by tabs. */
			for (char *c = now; *c; c++)
				if (*c == '\t')
					*c = ' ';
			last = strrchr(now, ' ');
			last = last ? last + 1 : now;
			if (strtoull(last, NULL, 10) >= wanted) {
				fprintf(out, "# %s is %s already\n", r->setting, last);
				return true;
			}
			if (place)
				snprintf(value, sizeof(value), "%.*s%s", (int)(last - now), now,
					 r->value);
		}
		memory_kb = file_number(PATHF("%s/proc/meminfo", r->root), "MemTotal:", 10);
		if (!strcmp(r->setting, "vm.dirty_bytes") && wanted / 1024 > memory_kb / 4) {
			fprintf(out,
				"# no command: %s of dirty pages are more than a quarter of the memory\n",
				value);
			return false;
		}
		fprintf(out, place ? "sysctl -w \"%.*s=%s\"\n" : "sysctl -w %.*s=%s\n",
			(int)strcspn(r->setting, "["), r->setting, value);
	}
	write_keep(out, r, value);
	return true;
}

void remedy_write(FILE *out, const struct remedy *r)
{
	struct plan p = { .r = r };
	FILE_TEXT text = {};

	if (!*r->setting || !*r->value || !is_printable(r->mountpoint))
		return;
	p.option = !strchr(r->setting, '.') && strcmp(r->setting, "read_ahead_kb") != 0;
	if ((!p.option && !write_setting(out, r)) || !r->remount)
		return;
	if (file_text_read(&text, PATHF("%s/proc/1/mountinfo", r->root), MOUNTINFO_MAX) &&
	    file_text_read(&text, PATHF("%s/proc/self/mountinfo", r->root), MOUNTINFO_MAX))
		fputs("# the list of mounts cannot be read\n", out);
	else
		remedy_mounts_find(&p.found, r, file_text_span(&text));
	write_remount(out, &p);
	free(p.found.list);
}
