// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the running kernel offers: read from sysfs, proc, tracefs, debugfs. */
#include "rpc/choice.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/process.h"
#include "kernel/bpf_support.h"
#include "kernel/kernel_types.h"

#define MODULE "/sys/module/sunrpc"

/* Whether it can be read: access() would not count capabilities. */
static bool path_exists(const char *root, const char *path)
{
	OPEN_FILE file = open(PATHF("%s%s", root, path), O_RDONLY | O_CLOEXEC);

	return file >= 0;
}

/* What cannot be looked at for another reason may be there. */
static bool is_absent(const char *root, const char *path)
{
	return access(PATHF("%s%s", root, path), F_OK) && (errno == ENOENT || errno == ENOTDIR);
}

enum sunrpc_state sunrpc_look(const char *root)
{
	char state[16];

	/* A built-in sunrpc has a folder too, for its parameters. */
	if (!file_first_line(PATHF("%s" MODULE "/initstate", root), state, sizeof(state)))
		return is_absent(root, MODULE) ? SUNRPC_ABSENT : SUNRPC_BUILT_IN;
	/* Not SUNRPC_LIVE yet: its BTF appears earlier. */
	return strcmp(state, "live") ? SUNRPC_LOADING : SUNRPC_LIVE;
}

/* "none [integrity] confidentiality": the mode in force is in brackets. A kernel without modes has a file beside this one. */
static enum lockdown read_lockdown(const char *root, enum tracefs_state tracefs)
{
	char line[64];

	if (!file_first_line(PATHF("%s/sys/kernel/security/lockdown", root), line, sizeof(line)))
		return tracefs == TRACEFS_EMPTY                      ? LOCKDOWN_CONFIDENTIALITY :
		       path_exists(root, "/sys/kernel/security/lsm") ? LOCKDOWN_NONE :
								       LOCKDOWN_UNKNOWN;
	return strstr(line, "[confidentiality]") ? LOCKDOWN_CONFIDENTIALITY :
	       strstr(line, "[integrity]")       ? LOCKDOWN_INTEGRITY :
						   LOCKDOWN_NONE;
}

static enum debugfs_state find_debugfs(const char *root)
{
	OPEN_FOLDER *folder = NULL;

	if (path_exists(root, "/sys/kernel/debug/sunrpc/rpc_clnt"))
		return DEBUGFS_CLIENTS;
	folder = opendir(PATHF("%s/sys/kernel/debug", root));
	if (!folder)
		return errno == ENOENT ? DEBUGFS_ABSENT : DEBUGFS_FORBIDDEN;
	return folder_next(folder) ? DEBUGFS_NO_CLIENTS : DEBUGFS_UNMOUNTED;
}

/* Opens an event of all processes on CPU 0, as libbpf does. Returns 0 or an errno: EPERM also for a filter that says ENOSYS. */
static int try_perf_event(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.disabled = 1 };
	OPEN_FILE event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	int err = event < 0 ? errno : 0;

	return err == ENOSYS && path_exists("", "/proc/sys/kernel/perf_event_paranoid") ? EPERM :
											  err;
}

/* "memory 0 91 1": the last column is 0 with cgroup_disable=memory. Kernels without version 1 list the
 * controller only in the root of version 2. */
static bool has_memory_groups(const char *root)
{
	FILE_TEXT groups = {}, root_group = {};
	unsigned int hierarchy, count, enabled;
	const char *line;
	int unread = file_text_read(&groups, PATHF("%s/proc/cgroups", root), 1 << 16);

	line = unread ? NULL : strstr(groups.bytes, "\nmemory\t");
	if (line && sscanf(line, " memory %u %u %u", &hierarchy, &count, &enabled) == 3)
		return enabled;
	if (file_text_read(&root_group, PATHF("%s/sys/fs/cgroup/cgroup.controllers", root),
			   1 << 16))
		return unread;
	return strstr(root_group.bytes, "memory");
}

void rpc_offer_add_refusal(struct rpc_offer *f, int error)
{
	if (strstr(bpf_reason(error), "lockdown"))
		f->lockdown = LOCKDOWN_CONFIDENTIALITY;
	else
		f->refused = error == EPERM || (error == ENOSYS && f->bpf); /* by a filter */
}

static void read_types_file(struct rpc_offer *f, const char *root, const char *path)
{
	char reason[200];
	struct btf *types = types_file_read(path, root, "sunrpc", reason, sizeof(reason));

	f->types_file = types ? TYPES_FILE_GOOD : TYPES_FILE_REFUSED;
	if (!types)
		snprintf(f->types_refused, sizeof(f->types_refused),
			 "the file of types %.150s is refused: %s", f->types_path, reason);
	btf__free(types);
}

static void look_for_types_file(struct rpc_offer *f, const char *root, const char *option)
{
	char place[PATH_MAX];
	const char *path;

	if (f->sunrpc != SUNRPC_LIVE || !f->kernel_btf)
		return;
	if (types_file_place(place, sizeof(place), root, "sunrpc"))
		snprintf(f->types_fix, sizeof(f->types_fix),
			 "in the folder of the unstripped sunrpc.ko: install -D "
			 "-m 644 sunrpc.ko %.200s && pahole -J --btf_base /sys/kernel/btf/vmlinux "
			 "%.200s (with DKMS at each build: see xidscope(8)); or use the source "
			 "tracepoints",
			 place, place);
	snprintf(f->types_path, sizeof(f->types_path), "%s", option ?: place);
	path = PATHF("%s%s", option ? "" : root, f->types_path);
	if (option || (!f->sunrpc_btf && *place && types_file_version(path, "sunrpc")))
		read_types_file(f, root, path);
}

void rpc_offer_look(struct rpc_offer *f, const char *root, const char *types_file)
{
	enum types_place sunrpc;
	char taint[64];

	*f = (struct rpc_offer){ .sunrpc = sunrpc_look(root) };
	file_first_line(PATHF("%s" MODULE "/srcversion", root), f->srcversion,
			sizeof(f->srcversion));
	file_first_line(PATHF("%s" MODULE "/taint", root), taint, sizeof(taint));
	f->out_of_tree = strchr(taint, 'O');
	/* A kernel with bpf() creates this mount point, which only root may read. */
	f->bpf = !is_absent(root, "/sys/fs/bpf");
	f->kernel_btf = path_exists(root, "/sys/kernel/btf/vmlinux");
	sunrpc = types_place_find(root, "sunrpc");
	f->sunrpc_btf = sunrpc == TYPES_MODULE || sunrpc == TYPES_KERNEL;
	look_for_types_file(f, root, types_file);
	f->capabilities = effective_capabilities(root);
	f->tracefs = tracefs_find(root, f->tracefs_path, sizeof(f->tracefs_path));
	f->lockdown = read_lockdown(root, f->tracefs);
	f->sunrpc_events =
		f->tracefs == TRACEFS_MOUNTED && tracefs_has_event(f->tracefs_path, "sunrpc");
	f->debugfs = find_debugfs(root);
	f->perf_error = *root ? 0 : try_perf_event();
	f->memory_groups = has_memory_groups(root);
	f->transports = path_exists(root, "/sys/kernel/sunrpc/xprt-switches");
	f->mountstats = path_exists(root, "/proc/self/mountstats");
	f->nfs_types = types_place_find(root, "nfs");
	f->nfs = path_exists(root, "/sys/module/nfs");
}
