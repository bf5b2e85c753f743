// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which path of a file `trace --files` shows: below a mount only if it is there. Which files and directories it shows, and
 * which slow calls, with what of the kernel side's tables. These are made up. */
#include "unit.h"
#include <bpf/bpf.h>
#include "rpc.h"
#include "rpc/slow_calls.h"
#include "owners/mount_calls.h"
#include "made_up_map.h"

static const struct client_calls *client_of(const struct mount_calls_state *m, uint32_t client);
#define bpf_map__fd(map) ((int)!map)
#define shares_owner_of_group(owners, owner, group) \
	((void)owners, formatted("%u of %llu", owner, group))
#define mount_calls_client client_of
#include "rpc/slow_calls.c"

/* The path of @names, which end in two NULs: the file's own first, if @whole that of a root last. */
static const char *path_of(const char *names, size_t len, bool whole, bool directory)
{
	static char path[FILE_PATH_SIZE];
	struct rpc_file f = { .whole = whole };

	memcpy(f.names, names, len);
	file_calls_path(path, &f, directory);
	return path;
}
#define PATH(names, whole, directory) path_of(names, sizeof(names), whole, directory)

#define N32 "0123456789abcdef0123456789abcdef"
#define N127 N32 N32 N32 "0123456789abcdef0123456789abcde"

TEST(a_path_is_that_on_the_server)
{
	static const char twelve[] = "l\0k\0j\0i\0h\0g\0f\0e\0d\0c\0b\0a\0nas:/";

	assert_string_equal(PATH("file\0dir\0nas:/x", true, false), "/x/dir/file");
	assert_string_equal(PATH("file\0dir\0nas:/x", true, true), "/x/dir");
	assert_string_equal(PATH("file\0nas:/x/", true, true), "/x");
	assert_string_equal(PATH("file\0[fd00::1]:/", true, false), "/file");
	assert_string_equal(PATH("file\0[fd00::1]:/", true, true), "/");
	assert_string_equal(PATH("nas:/x", true, false), "/x");
	assert_string_equal(PATH("file\0dir", false, false), ".../dir/file");
	assert_string_equal(PATH("file\0dir", false, true), ".../dir");
	assert_string_equal(PATH("file", false, true), "");
	assert_string_equal(PATH("", false, false), "");
	assert_string_equal(PATH(twelve, true, false), "/a/b/c/d/e/f/g/h/i/j/k/l");
	/* Freed memory in the place of a root's path, and one that is cut. */
	assert_string_equal(PATH("file\0x", true, false), ".../file");
	assert_string_equal(
		PATH("file\0nas:/" N32 N32 N32 "0123456789abcdef0123456789", true, false),
		".../file");
	/* Names are cut at 127 bytes. */
	assert_string_equal(PATH(N127 "\0nas:/x", true, false), "/x/" N127 "...");
}

TEST(a_file_is_below_the_mount_that_its_calls_have_only_if_it_is_there)
{
	static const struct {
		const char *path, *export, *mountpoint, *mount, *below;
	} cases[] = {
		{ "/x/dir/file", "/x", "/data", "/data", "/dir/file" },
		{ "/x", "/x/", "/data", "/data", "/" },
		{ "/dir/file", "/", "/data", "/data", "/dir/file" },
		/* A folder of a file system, by NFSv4; a bind mount of a folder whose mount is gone. */
		{ "/x/pv-a/file", "/x/pv-a", "pv:a", "pv:a", "/file" },
		/* A mount contains the one of the file. */
		{ "/x/p/file", "/x", "/data", "/data", "/p/file" },
		/* A file that is open on a mount that is gone, and one of two volumes. */
		{ "/x/file", "/x/p", "/data", "", "/x/file" },
		{ "/x/pp/file", "/x/p", "/data", "", "/x/pp/file" },
		{ "/x/pv-a/file", "/x", "", "", "/x/pv-a/file" },
		{ ".../file", "/x", "/data", "/data", ".../file" },
		/* A directory of that name. */
		{ "/.../file", "/", "/data", "/data", "/.../file" },
		{ "/.../file", "/x", "/data", "", "/.../file" },
		{ "", "/x", "/data", "/data", "" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char path[FILE_PATH_SIZE], mount[LABEL_SIZE] = "";

		print_message("# case %zu\n", i);
		strcpy(path, cases[i].path);
		file_calls_place(cases[i].export, cases[i].mountpoint, mount, path);
		assert_string_equal(mount, cases[i].mount);
		assert_string_equal(path, cases[i].below);
	}
}

/* ---- the files and directories that are shown ---- */

enum { READ = 0, GETATTR = 5 };

static const struct {
	struct rpc_file_key key;
	struct rpc_file f;
} files[] = {
	{ { 11, 1, READ }, { 5, 50, 500, 7, 3, 100, "cat", 20, true, "a\0d\0nas:/x" } },
	{ { 12, 1, READ }, { 4, 90, 400, 8, 4, 101, "dd\n", 20, true, "b\0d\0nas:/x" } },
	{ { 13, 1, READ },
	  { 1, 1, 2000, .directory = 21, .whole = true, .names = "c\0e\0nas:/x" } },
	{ { 14, 2, READ }, { 3, 3, 3, .directory = 20, .whole = true, .names = "a\0d\0nas:/y" } },
	{ { 15, 1, GETATTR }, { 6, 6, 6, .whole = true, .names = "d\0nas:/x" } },
	/* Directories without a name are one. */
	{ { 16, 1, GETATTR }, { 4, 4, 4 } },
	{ { 17, 1, GETATTR }, { 9, 3, 3 } },
};

BEFORE_EACH()
{
	MAKE_UP_MAP(files, key, f);
}

static const char *shown(const struct snapshot *s)
{
	static char all[1000];

	*all = 0;
	ARRAY_EACH(f, s->calls.files, s->calls.file_count)
		append_text(all, "%s%s %s %s %lu files %lu %lu %lu%s\n", f->directory ? "in " : "",
			    f->path, f->op, f->mount, f->files, f->calls, f->bytes, f->total_ns,
			    f->client == 2 ? " client 2" : "");
	return all;
}

TEST(the_first_by_calls_bytes_and_time_are_shown)
{
	struct snapshot s = {};

	file_calls_add(&s, NULL, 1, NULL);
	assert_string_equal(shown(&s), "/x/e/c READ  1 files 1 1 2000\n"
				       "in /x/e READ  1 files 1 1 2000\n"
				       "in /x/d READ  2 files 9 140 900\n"
				       "/x/d/a READ  1 files 5 50 500\n"
				       "/x/d/b READ  1 files 4 90 400\n"
				       "in  GETATTR  2 files 13 7 7\n");
	assert_printed("100 cat 3 of 7", "%u %s %s", s.calls.files[3].pid, s.calls.files[3].comm,
		       s.calls.files[3].owner);
	snapshot_free(&s);
	file_calls_add(&s, NULL, 10, NULL);
	assert_has_all(shown(&s), "/y/d/a READ  1 files 3 3 3 client 2\n",
		       "in /x/d GETATTR  1 files 6 6 6\n",
		       "in /y/d READ  1 files 3 3 3 client 2\n");
	assert_int_equal(s.calls.file_count, 9);
	snapshot_free(&s);
}

/* ---- slow calls ---- */

TEST(of_more_calls_than_are_kept_the_slowest_are_wanted)
{
	__u64 threshold = 1;
	struct slow_calls c = { .threshold = &threshold };
	struct rpc_slow_call call = { .op = "READ" };

	for (uint64_t i = 0; i < SLOW_CALLS_KEPT; i++) {
		assert_int_equal(threshold, 1);
		call.total = 1000 + (i * 7919) % SLOW_CALLS_KEPT;
		on_call(&c, &call, sizeof(call));
	}
	assert_int_equal(threshold, 1000);
	call.total = 1000;
	on_call(&c, &call, sizeof(call));
	assert_int_equal(threshold, 1000);
	call.total = 5000;
	on_call(&c, &call, sizeof(call));
	assert_int_equal(threshold, 1001);
	assert_int_equal(c.slowest[0], 5000);
	on_call(&c, &call, sizeof(call) - 1);
	assert_int_equal(c.taken_count, SLOW_CALLS_KEPT + 2);
	slow_calls_take(&c);
	assert_int_equal(c.taken_count, 0);
	slow_calls_close(&c);
}

static struct client_calls client = { .server = "nas",
				      .mount = { .export = "/x", .mountpoint = "/data" } };

static const struct client_calls *client_of(const struct mount_calls_state *m, uint32_t number)
{
	(void)m;
	return number == 1 ? &client : NULL;
}

TEST(a_slow_call_has_its_phases_file_and_mount)
{
	struct snapshot s = { .wall = 1000, .time_ns = 100 * SECOND };
	struct rpc_slow_call call = {
		.end = 99 * SECOND,
		.total = 100,
		.before = 60,
		.rtt = 30,
		.resend = 20,
		.wait_ns = { [RPC_PHASE_SLOT] = 25, [RPC_PHASE_SEND] = 10 },
		.client = 1,
		.pid = 4711,
		.status = -5,
		.file = files[0].key,
		.op = "READ",
	};
	const struct slow_call *c;

	slow_calls_add(&s, &call, "nas", "slurm:1", NULL);
	call.client = 2; /* the file's is another */
	call.rtt = ~0ull;
	call.before = 200;
	call.status = 1;
	slow_calls_add(&s, &call, "nas", "slurm:1", NULL);
	calls_find_mounts(&s, NULL);
	c = s.calls.slow;
	assert_printed("999 nas slurm:1 READ 4711 5 100 /data /d/a",
		       "%.0f %s %s %s %u %u %lu %s %s", c->time, c->server, c->owner, c->op, c->pid,
		       c->status, c->total_ns, c->mount, c->file);
	assert_printed("30 10 20 25 10 5", "%lu %lu %lu %lu %lu %lu", c->phase_ns[RPC_PHASE_RTT],
		       c->phase_ns[RPC_PHASE_FINISH], c->phase_ns[RPC_PHASE_RESEND],
		       c->phase_ns[RPC_PHASE_SLOT], c->phase_ns[RPC_PHASE_SEND],
		       c->phase_ns[RPC_PHASE_SETUP]);
	c++;
	assert_printed("0 100  ", "%u %lu %s %s", c->status, c->total_ns, c->mount, c->file);
	assert_printed("0 0 20 25 10 45", "%lu %lu %lu %lu %lu %lu", c->phase_ns[RPC_PHASE_RTT],
		       c->phase_ns[RPC_PHASE_FINISH], c->phase_ns[RPC_PHASE_RESEND],
		       c->phase_ns[RPC_PHASE_SLOT], c->phase_ns[RPC_PHASE_SEND],
		       c->phase_ns[RPC_PHASE_SETUP]);
	/* The server's only mount. */
	snapshot_mount(&s.calls, &(struct nfs_mount){
					 .server = "nas", .export = "/x", .mountpoint = "/only" });
	file_calls_add(&s, NULL, 1, NULL);
	calls_find_mounts(&s, NULL);
	assert_printed("/only /data /e/c nas", "%s %s %s %s", s.calls.slow[1].mount,
		       s.calls.files[0].mount, s.calls.files[0].path, s.calls.files[0].server);
	snapshot_free(&s);
}
