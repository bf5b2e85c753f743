// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The mounts that a setting is about, what has mounted each of them, and who uses them. */
#include "nfs/remedy.h"

#include <unistd.h>

#include "base/file_text.h"
#include "base/helper.h"
#include "base/safe_text.h"

#define LIST_MAX (16 << 20)
#define USERS_NAMED 3

/* ---- who has mounted it ---- */

static struct span without_slashes(struct span path)
{
	while (span_left(path) && path.end[-1] == '/')
		path.end--;
	return path;
}

static bool is_in_fstab(const char *root, const struct remedy_mount *m)
{
	struct span rest, line, source;
	char path[PATH_MAX];
	FILE_TEXT text = {};

	if (helper_read_file(&text, PATHF("%s/etc/fstab", root), false))
		return false;
	rest = file_text_span(&text);
	while (span_next_line(&rest, &line)) {
		source = span_take_word(&line);
		if (!mount_path(path, sizeof(path), span_take_word(&line)))
			continue;
		for (size_t len = strlen(path); len > 1 && path[len - 1] == '/';)
			path[--len] = 0;
		if (strcmp(path, m->point) != 0)
			continue;
		if (*m->bound ?
			    mount_path(path, sizeof(path), source) && !strcmp(path, m->bound) :
			    span_equals(without_slashes(source), without_slashes(m->line.source)))
			return true;
	}
	return false;
}

/* The unit of the path, as systemd-escape --path names it; whether somebody wrote it. */
static bool has_unit(const char *root, struct remedy_mount *m)
{
	static const char *const folders[] = { "etc", "run", "usr/local/lib", "usr/lib", "lib" };
	char *end = m->unit;

	for (const char *c = m->point + 1; *c && end < m->unit + sizeof(m->unit) - 16; c++)
		if (*c == '/')
			*end++ = '-';
		else if ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
			 (*c >= 'A' && *c <= 'Z') || *c == '_' || *c == ':' ||
			 (*c == '.' && end > m->unit))
			*end++ = *c;
		else
			end += sprintf(end, "\\x%02x", (unsigned char)*c);
	memcpy(end, ".mount", sizeof(".mount"));
	return ARRAY_FIND(f, folders, COUNT(folders),
			  !access(PATHF("%s/%s/systemd/system/%s", root, *f, m->unit), F_OK));
}

static enum mounted_by find_mounter(const char *root, struct remedy_mount *m,
				    const struct remedy_mount *autofs)
{
	/* Also a CSI driver's own mounts, from which it binds those of all pods. */
	if (strstr(m->point, "/kubelet/pods/") || strstr(m->point, "/kubelet/plugins/") ||
	    strstr(m->point, "/volumes/kubernetes.io~") ||
	    strstr(m->point, "/plugins/kubernetes.io/") || strstr(m->point, "/volume-subpaths/"))
		return BY_KUBELET;
	if (strstr(m->point, "/volumes/") && strstr(m->point, "/_data"))
		return BY_CONTAINER;
	if (autofs) {
		snprintf(m->map, sizeof(m->map), "%.*s", (int)span_left(autofs->line.source),
			 autofs->line.source.at);
		return strcmp(m->map, "systemd-1") ? BY_AUTOFS : BY_SYSTEMD;
	}
	return is_in_fstab(root, m) ? BY_FSTAB : has_unit(root, m) ? BY_UNIT : BY_HAND;
}

/* ---- the mounts of the server ---- */

/* The server's mount of this line; NULL: it is another's, or the setting is another mount's. */
static const struct nfs_mount *find_wanted(const struct remedy *r, const struct remedy_mount *m)
{
	uint64_t device;
	char label[LABEL_SIZE];

	mount_point_label(label, sizeof(label), m->point, strlen(m->point));
	if ((*r->mountpoint && !m->nested && strcmp(r->mountpoint, label) != 0) ||
	    !mount_device(m->line.device, &device))
		return NULL;
	return CALLS_FIND(x, r->calls, mount, r->server,
			  x->device ? x->device == device : !strcmp(x->mountpoint, label));
}

/* What leads from the source of @parent to that of @m; empty: it is not below. */
static struct span source_below(const struct remedy_mount *m, const struct remedy_mount *parent)
{
	struct span rest = m->line.source;

	if (span_left(rest) <= span_left(parent->line.source))
		return (struct span){};
	rest.at += span_left(parent->line.source);
	return span_equals((struct span){ m->line.source.at, rest.at }, parent->line.source) ?
		       rest :
		       (struct span){};
}

/* Whether @m is below @parent in the same tree of the server: NFSv4 mounts it when somebody goes there. */
static bool is_submount(const struct remedy_mount *m, const struct remedy_mount *parent)
{
	const char *rest = m->point + strlen(parent->point);

	return mount_leads_to(m->point, parent->point) && *rest == '/' &&
	       span_is(source_below(m, parent), rest);
}

/* Finds the path below another mount, with the same device, that is mounted a second time at @m. The kernel gives it the source
 * of the first, with what leads from there to the path. */
static void find_bound(const struct remedy_mounts *p, struct remedy_mount *m)
{
	const struct remedy_mount *of = ARRAY_FIND(
		x, p->list, p->count,
		span_equals(x->line.device, m->line.device) && x->line.source.end[-1] != '/' &&
			span_starts_with(source_below(m, x), "/"));
	char path[PATH_MAX];

	if (!of)
		return;
	if (!mount_path(path, sizeof(path), source_below(m, of)) ||
	    (size_t)snprintf(m->bound, sizeof(m->bound), "%s%s", of->point, path) >=
		    sizeof(m->bound))
		*m->bound = 0;
}

/* Adds the mount of a line; NULL: its path is not usable. */
static struct remedy_mount *add_found(struct remedy_mounts *to, const struct mountinfo_line *line)
{
	size_t before = to->count;
	struct remedy_mount *m;
	char point[PATH_MAX];

	if (!mount_path(point, sizeof(point), line->point))
		return NULL;
	m = ARRAY_APPEND(to->list, to->count);
	if (to->count == before)
		return NULL;
	m->line = *line;
	snprintf(m->point, sizeof(m->point), "%s", point);
	return m;
}

void remedy_mounts_find(struct remedy_mounts *p, const struct remedy *r, struct span text)
{
	struct remedy_mounts autofs = {};
	uint64_t failed = memory_failed();
	struct mountinfo_line line;
	const struct nfs_mount *known;
	struct remedy_mount *m;
	char host[PATH_MAX]; /* in a container, fstab and units are others */

	snprintf(host, sizeof(host), "%s/proc/1/root", r->root);
	if (access(PATHF("%s/etc", host), F_OK))
		snprintf(host, sizeof(host), "%s", r->root);
	while (mountinfo_next_line(&text, &line)) {
		if (span_is(line.type, "autofs"))
			add_found(&autofs, &line);
		if (!(m = add_found(p, &line)))
			continue;
		m->nested = ARRAY_FIND(x, p->list, p->count - 1, is_submount(m, x));
		find_bound(p, m);
		known = mount_is_nfs(line.type) ? find_wanted(r, m) : NULL;
		if (!known) {
			p->count--;
			if (!p->covers &&
			    ARRAY_FIND(x, p->list, p->count, mount_leads_to(m->point, x->point))) {
				snprintf(p->on_top, sizeof(p->on_top), "%s", m->point);
				p->covers = ARRAY_FIND(x, p->list, p->count,
						       !strcmp(m->point, x->point));
			}
			continue;
		}
		m->by = known->elsewhere ?
				BY_CONTAINER :
				find_mounter(host, m,
					     ARRAY_FIND(a, autofs.list, autofs.count,
							mount_leads_to(m->point, a->point)));
	}
	free(autofs.list);
	/* Commands for some of a server's mounts would lose the others. */
	if (memory_error(failed))
		p->count = 0;
}

/* ---- who uses them ---- */

/* The number of the group of mounts of this kind; empty: it is in none. */
static struct span group_of(struct span tags, const char *kind)
{
	struct span tag;

	while (span_left(tag = span_take_word(&tags)))
		if (span_take(&tag, kind))
			return tag;
	return (struct span){};
}

/* Whether a copy in another namespace is unmounted with the mount. */
static bool goes_with(const struct mountinfo_line *copy, const struct remedy_mount *m)
{
	struct span here = group_of(m->line.tags, "shared:");

	return span_left(here) && (span_equals(here, group_of(copy->tags, "shared:")) ||
				   span_equals(here, group_of(copy->tags, "master:")));
}

/* Whether the mountinfo of another namespace has one of the mounts, and keeps it when it is unmounted here. */
static bool keeps_mounts(const struct remedy_mounts *p, const char *path)
{
	FILE_TEXT text = {};
	struct mountinfo_line copy;
	struct span rest;

	if (file_text_read(&text, path, LIST_MAX))
		return false;
	rest = file_text_span(&text);
	while (mountinfo_next_line(&rest, &copy))
		if (ARRAY_FIND(m, p->list, p->count, span_equals(m->line.device, copy.device)) &&
		    !ARRAY_FIND(m, p->list, p->count, goes_with(&copy, m)))
			return true;
	return false;
}

/* Whether the maps of a process name the device of one of the mounts. */
static bool maps_mounts(const struct remedy_mounts *p, const char *path)
{
	FILE_TEXT text = {};
	char device[32];
	uint64_t number;

	if (file_text_read(&text, path, LIST_MAX))
		return false;
	ARRAY_EACH(m, p->list, p->count) {
		if (!mount_device(m->line.device, &number))
			continue;
		snprintf(device, sizeof(device), " %02x:%02x ", (unsigned int)(number >> 32),
			 (unsigned int)number);
		if (strstr(text.bytes, device))
			return true;
	}
	return false;
}

static bool leads_to_mounts(const struct remedy_mounts *p, const char *link)
{
	char path[PATH_MAX];
	ssize_t len = readlink(link, path, sizeof(path) - 1);

	path[len > 0 ? len : 0] = 0;
	return ARRAY_FIND(m, p->list, p->count, mount_leads_to(path, m->point));
}

/* Whether an open file is on none of the mounts, though its path leads to one: automount keeps the places of its mounts open.
 * @info: its fdinfo, of a process in the mounts' own namespace. */
static bool is_on_another(const struct remedy_mounts *p, const char *info)
{
	uint64_t number = file_number(info, "mnt_id:", 10), own;

	return number &&
	       !ARRAY_FIND(m, p->list, p->count,
			   span_number(m->line.number, UINT64_MAX, &own) && own == number);
}

/* Whether the process whose folder is @proc uses one of the mounts: by a file, a folder, a mapping, or because its container has
 * it. @namespace: of the mounts; "": not known. */
static bool uses_mounts(const struct remedy_mounts *p, const char *proc, const char *namespace)
{
	OPEN_FOLDER *fds = opendir(PATHF("%s/fd", proc));
	char own[64];
	ssize_t len = readlink(PATHF("%s/ns/mnt", proc), own, sizeof(own) - 1);
	const char *name;
	bool same;

	own[len > 0 ? len : 0] = 0;
	same = *own && !strcmp(own, namespace);
	if (!same && *own && *namespace && keeps_mounts(p, PATHF("%s/mountinfo", proc)))
		return true;
	while ((name = folder_next(fds)))
		if (leads_to_mounts(p, PATHF("%s/fd/%s", proc, name)) &&
		    !(same && is_on_another(p, PATHF("%s/fdinfo/%s", proc, name))))
			return true;
	return leads_to_mounts(p, PATHF("%s/cwd", proc)) ||
	       leads_to_mounts(p, PATHF("%s/root", proc)) ||
	       leads_to_mounts(p, PATHF("%s/exe", proc)) || maps_mounts(p, PATHF("%s/maps", proc));
}

struct users_wanted {
	const struct remedy_mounts *mounts;
	const char *root;
};

/* In a process of its own: a process may hold the lock of its memory, which `maps` needs. */
static void list_users(const void *wanted, FILE *out)
{
	const struct users_wanted *w = wanted;
	OPEN_FOLDER *folder = opendir(PATHF("%s/proc", w->root));
	char comm[32], namespace[64] = "", names[160] = "";
	const char *pid;
	unsigned int users = 0;
	ssize_t len =
		readlink(PATHF("%s/proc/1/ns/mnt", w->root), namespace, sizeof(namespace) - 1);

	namespace[len > 0 ? len : 0] = 0;
	while ((pid = folder_next(folder))) {
		if (!*pid || pid[strspn(pid, "0123456789")] || atoi(pid) == getppid() ||
		    !uses_mounts(w->mounts, PATHF("%s/proc/%s", w->root, pid), namespace) ||
		    users++ >= USERS_NAMED)
			continue;
		file_first_line(PATHF("%s/proc/%s/comm", w->root, pid), comm, sizeof(comm));
		len = (ssize_t)strlen(names);
		safe_format(names + len, sizeof(names) - (size_t)len, "%s %s (%s)", len ? "," : "",
			    comm, pid);
	}
	if (users)
		fprintf(out,
			"# %u process%s use%s these mounts, drain the node or end them first:%s%s\n",
			users, users == 1 ? "" : "es", users == 1 ? "s" : "", names,
			users > USERS_NAMED ? ", ..." : "");
}

void remedy_mounts_users(FILE *out, const struct remedy_mounts *p, const char *root)
{
	FILE_TEXT text = {};

	if (helper_ask_once(&text, list_users, &(struct users_wanted){ p, root }))
		fputs("# who uses these mounts is not known: reading a process blocks, look for state D\n",
		      out);
	fwrite(text.bytes, 1, text.len, out);
}
