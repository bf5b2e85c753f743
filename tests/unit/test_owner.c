// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves who an owner is, by the path of its control group and by the files of runtimes. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "golden.h"
#include "made_up_tree.h"
#include "base/clock.h"
#include "owners/mount_calls.h"

#define ID "4f0cd5b61a92" HEX_40 "0123456789ab"
#define HEX_40 "0123456789012345678901234567890123456789"
#define POD "kubepods-burstable-pod01234567_89ab_cdef_0123_456789abcdef.slice"
#define POD_ID "01234567-89ab-cdef-0123-456789abcdef"

/* What the process that looks for names has found. */
static struct helper helper = {};

/* The owner of the group with this path. The helper's text is what it has just found. */
static const char *owner_of(const char *path)
{
	static char label[LABEL_SIZE];
	const char *names[12];
	char copy[CGROUP_PATH], *last;
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	for (; (last = strrchr(copy, '/')); *last = 0)
		names[count++] = formatted("%s", last + 1);
	while (count < COUNT(names))
		names[count++] = "";
	helper.begun_ns = monotonic_ns();
	helper.whole = true;
	assert_true(owner_name(label, names, count, &helper, NULL, 1));
	return label;
}

TEST(an_owner_is_who_the_path_of_its_group_says)
{
	assert_golden(TEST_DATA "/owners.tsv", owner_of);
	helper_free(&helper);
}

/* The owner after a look at the files that are there. */
static const char *owner_in_tree(const char *path)
{
	FILE *out = open_memstream(&helper.text, &helper.len);
	const char *owner;

	cgroup_write_names(root, NULL, out);
	fclose(out);
	owner = owner_of(path);
	helper_free(&helper);
	return owner;
}

#define DOCKER "/var/lib/docker/containers/" ID "/config.v2.json"
#define PODMAN "/var/lib/containers/storage/overlay-containers/"
#define GROUP "/system.slice/docker-" ID ".scope"

TEST(a_container_has_its_name_from_its_runtime)
{
	const char *other = "5" HEX_40 "01234567890123456789012";

	put("/var/lib/docker/containers/x/config.v2.json", "{}");
	put(DOCKER, "{\"State\":{\"Name\":\"no\"},\"ID\":\"" ID "\",\"Name\":\"/train-1\"}");
	assert_string_equal(owner_in_tree("/docker/" ID), "container:train-1");
	assert_string_equal(owner_in_tree(formatted("/docker/%s", other)),
			    "container:501234567890");
	/* docker's folder is elsewhere. */
	put("/etc/docker/daemon.json", "{\"data-root\": \"/raid/[d]*\"}");
	assert_string_equal(owner_in_tree(GROUP), "container:4f0cd5b61a92");
	put("/raid/[d]*/containers/" ID "/config.v2.json", "{\"Name\":\"/moved\"}");
	assert_string_equal(owner_in_tree(GROUP), "container:moved");
	/* With userns-remap. */
	put("/raid/[d]*/100000.100000/containers/" ID "/config.v2.json", "{\"Name\":\"/mapped\"}");
	assert_int_equal(unlink("raid/[d]*/containers/" ID "/config.v2.json"), 0);
	assert_string_equal(owner_in_tree(GROUP), "container:mapped");
	assert_int_equal(unlink("raid/[d]*/100000.100000/containers/" ID "/config.v2.json"), 0);
	put(PODMAN "containers.json", formatted("[{\"id\":\"%s\",\"names\":[\"old\"]},{\"id\":\"" ID
						"\",\"names\":[\"kept\"],\"layer\":\"x\"}]",
						other));
	assert_string_equal(owner_in_tree("/machine.slice/libpod-" ID ".scope/container"),
			    "container:kept");
	assert_int_equal(unlink("." PODMAN "containers.json"), 0);
	put(PODMAN "volatile-containers.json", "[{\"id\":\"" ID "\",\"names\":[\"brief\"]}]");
	assert_string_equal(owner_in_tree("/libpod_parent/libpod-" ID), "container:brief");
	assert_int_equal(unlink("." PODMAN "volatile-containers.json"), 0);
	put("/etc/containers/storage.conf", "[storage]\n  graphroot = \"/raid/podman\" # here\n");
	put("/raid/podman/overlay-containers/containers.json",
	    "[{\"id\":\"" ID "\",\"names\":[\"there\"]}]");
	assert_string_equal(owner_in_tree("/libpod_parent/libpod-" ID), "container:there");
	assert_int_equal(unlink("raid/podman/overlay-containers/containers.json"), 0);
	put("/run/containerd/io.containerd.runtime.v2.task/default/" ID "/config.json",
	    "{\"hostname\":\"x\",\"annotations\":{\"nerdctl/name\":\"shell\"}}");
	assert_string_equal(owner_in_tree("/default/" ID), "container:shell");
}

TEST(a_file_that_anybody_can_write_names_no_container)
{
	static const char *const names[][2] = {
		{ "a b\\n", "container:a_b\\x5cx0a" },
		{ "other", "container:other" },
		{ "a\\u0000b", "container:a\xef\xbf\xbd"
			       "b" },
	};
	char longest[80], file[CONTAINER_ID + 100];

	put(DOCKER, "{\"Name\":\"/x\"}");
	assert_int_equal(chmod("." DOCKER, 0666), 0);
	assert_string_equal(owner_in_tree(GROUP), "container:4f0cd5b61a92");
	assert_int_equal(rename("." DOCKER, "elsewhere"), 0);
	assert_int_equal(chmod("elsewhere", 0600), 0);
	assert_int_equal(symlink(formatted("%s/elsewhere", root), "." DOCKER), 0);
	assert_string_equal(owner_in_tree(GROUP), "container:4f0cd5b61a92");
	assert_int_equal(unlink("." DOCKER), 0);
	put(DOCKER, "{\"Name\":\"/\"}");
	assert_string_equal(owner_in_tree(GROUP), "container:4f0cd5b61a92");
	put(DOCKER, "{\"Name\":7");
	assert_string_equal(owner_in_tree(GROUP), "container:4f0cd5b61a92");
	for (size_t i = 0; i < COUNT(names); i++) {
		put(DOCKER, formatted("{\"Name\":\"/%s\"}", names[i][0]));
		assert_string_equal(owner_in_tree(GROUP), names[i][1]);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	snprintf(file, sizeof(file), "{\"Name\":\"%s\"}", longest);
	put(DOCKER, file);
	assert_int_equal(strlen(owner_in_tree(GROUP)), strlen("container:") + CONTAINER_NAME - 1);
}

TEST(the_job_stays_behind_the_name_of_a_pod_that_is_long)
{
	char name[190], path[400], owner[LABEL_SIZE];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	put(formatted("/var/log/pods/train_%s_" POD_ID "/x", name), "");
	snprintf(path, sizeof(path), "/kubepods/pod" POD_ID "/x/slurm/uid_1/job_4294967295");
	snprintf(owner, sizeof(owner), "%s", owner_in_tree(path));
	assert_true(!strncmp(owner, "pod:train/nnn", 13));
	assert_non_null(strstr(owner, " slurm:4294967295"));
}

TEST(a_container_that_begins_after_the_look_is_looked_for_again)
{
	const char *names[] = { "docker-" ID ".scope", "system.slice", "" };
	char label[LABEL_SIZE];

	uint64_t before = monotonic_ns() - 2000000000;

	helper.begun_ns = before;
	owner_name(label, names, COUNT(names), &helper, NULL, monotonic_ns());
	assert_true(helper.begun_ns > before);
	assert_string_equal(label, "container:4f0cd5b61a92");
	helper_free(&helper);
}

/* A process of a group, which began at @ticks; its main thread has @state. */
static void add_process(int pid, const char *group, int ticks, char state, const char *environment,
			size_t len)
{
	const char *stat =
		formatted("%d (a) b) %c 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %d 0\n", pid,
			  state, ticks);

	put(formatted("/proc/%d/cgroup", pid), formatted("0::%s\n", group));
	put(formatted("/proc/%d/stat", pid), stat);
	put(formatted("/proc/%d/task/%d/stat", pid, pid), stat);
	put_bytes(formatted("/proc/%d/environ", pid), environment, len);
}
#define ENVIRONMENT(text) text, sizeof(text)
#define TEN_E "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"

/* The owner after a look at environments as well. @known: whether it is final. */
static const char *owner_with(const char *variables, const char *path, bool known)
{
	static char label[LABEL_SIZE];
	FILE *out = open_memstream(&helper.text, &helper.len);
	const char *names[] = { path + 1 };

	cgroup_write_names(root, variables, out);
	fclose(out);
	helper.begun_ns = monotonic_ns();
	helper.whole = true;
	assert_int_equal(owner_name(label, names, 1, &helper, variables, helper.begun_ns), known);
	helper_free(&helper);
	return label;
}

TEST(a_variable_of_the_oldest_process_names_the_owner)
{
	add_process(10, "/lxc.payload.a", 500, 'S', ENVIRONMENT("RUN=young"));
	add_process(11, "/lxc.payload.a/x", 400, 'S',
		    ENVIRONMENT("PATH=/\0RUN=old\0SESSION=s 1\n"));
	add_process(12, "/lxc.payload.ab", 100, 'S', ENVIRONMENT("RUN=other"));
	assert_string_equal(owner_with(NULL, "/lxc.payload.a", true), "container:a");
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "env:RUN=old");
	assert_string_equal(owner_with("RUN", "/lxc.payload.a/y", true), "env:RUN=old");
	assert_string_equal(owner_with("NO,SESSION,RUN", "/lxc.payload.a", true),
			    "env:SESSION=s_1\\x0a");
	assert_string_equal(owner_with("UN,PATH", "/lxc.payload.ab", true), "container:ab");
	assert_string_equal(owner_with("RUN", "/lxc.payload.gone", true), "container:gone");
	/* Of a group in which users may make others. */
	add_process(13, "/htcondor/a", 90, 'S', ENVIRONMENT("RUN=a"));
	assert_string_equal(owner_with("RUN", "/htcondor/a", true), "env:RUN=a");
	assert_string_equal(owner_with("RUN", "/htcondor/b", true), "group:htcondor/b");
	assert_string_equal(owner_with("RUN", "/user/alice", true), "group:user/alice");
	/* A zombie has no environment. */
	add_process(9, "/lxc.payload.a", 50, 'Z', "", 0);
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "env:RUN=old");
	/* Empty is not set. A value that is too long is cut. */
	add_process(11, "/lxc.payload.a/x", 400, 'S', ENVIRONMENT("RUN="));
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "container:a");
	add_process(11, "/lxc.payload.a/x", 400, 'S',
		    ENVIRONMENT("RUN=" HEX_40 HEX_40 HEX_40 HEX_40 HEX_40));
	assert_int_equal(strlen(owner_with("RUN", "/lxc.payload.a", true)),
			 strlen("env:RUN=") + 64);
	/* Between characters. */
	add_process(11, "/lxc.payload.a/x", 400, 'S',
		    ENVIRONMENT("RUN=" TEN_E TEN_E TEN_E TEN_E TEN_E));
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true),
			    "env:RUN=" TEN_E TEN_E
			    "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9...9e5b7ce2");
	add_process(11, "/lxc.payload.a/x", 400, 'S', ENVIRONMENT("RUN=\"a'=\\x41\t\xff"));
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true),
			    "env:RUN=\"a'=\\x5cx41\\x09\\xff");
}

#define HELD "/lxc.payload.a"

/* While a container begins, its oldest process may be the runtime's, and its environment may be gone or locked. */
TEST(what_the_first_look_cannot_know_is_asked_again)
{
	static char large[6 << 20];
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	add_process(10, "/lxc.payload.a", (int)now.tv_sec * 100, 'S',
		    ENVIRONMENT("_LIBCONTAINER_X=1"));
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", false), "container:a");
	add_process(10, "/lxc.payload.a", (int)now.tv_sec * 100, 'S', ENVIRONMENT("RUN=x"));
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "env:RUN=x");
	add_process(10, "/lxc.payload.a", 1, 'S', ENVIRONMENT("A=1"));
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "container:a");
	assert_int_equal(unlink("proc/10/environ"), 0);
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", false), "container:a");
	/* As large as a program can have it. */
	memset(large, 'x', sizeof(large) - sizeof("\0RUN=x"));
	memcpy(large + sizeof(large) - sizeof("\0RUN=x"), "\0RUN=x", sizeof("\0RUN=x"));
	add_process(10, "/lxc.payload.a", 1, 'S', large, sizeof(large));
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "env:RUN=x");
}

#define STEP "/system.slice/slurmstepd.scope/s1JHM889NVM300"
#define OTHER_STEP "/system.slice/slurmstepd.scope/s1JHM889NVM301"

/* The owner of a job whose only process is slurmstepd: the names of its path, the last one first. */
static const char *owner_of_step(char state, const char *users, uint64_t age_ns, bool known)
{
	static char label[LABEL_SIZE];
	const char *names[] = { "s1JHM889NVM300", "slurmstepd.scope", "system.slice" };
	FILE *out = open_memstream(&helper.text, &helper.len);

	add_process(12, STEP, 1, state, "", 0);
	put("/proc/12/status", formatted("Name:\tx\nUid:\t%s\n", users));
	put("/proc/12/cmdline", "slurmstepd: [4711.batch]");
	cgroup_write_names(root, NULL, out);
	fclose(out);
	helper.begun_ns = monotonic_ns();
	helper.whole = true;
	assert_int_equal(
		owner_name(label, names, COUNT(names), &helper, NULL, helper.begun_ns - age_ns),
		known);
	helper_free(&helper);
	return label;
}

TEST(a_slurmstepd_that_could_not_be_read_is_asked_again_for_ten_minutes)
{
	assert_string_equal(owner_of_step('D', "0\t0\t0\t0", 0, false), "slurm:s1JHM889NVM300");
	assert_string_equal(owner_of_step('D', "0\t0\t0\t0", 599 * SECOND, false),
			    "slurm:s1JHM889NVM300");
	assert_string_equal(owner_of_step('D', "0\t0\t0\t0", 601 * SECOND, true),
			    "slurm:s1JHM889NVM300");
	assert_string_equal(owner_of_step('S', "0\t0\t0\t0", 0, true), "slurm:4711");
	/* Another step of the job can be read. */
	put("/proc/13/cgroup", "0::" STEP "\n");
	put("/proc/13/status", "Name:\tx\nUid:\t0\t0\t0\t0\n");
	put("/proc/13/task/13/stat", "13 (a) D 1 2\n");
	assert_string_equal(owner_of_step('S', "0\t0\t0\t0", 0, true), "slurm:4711");
	/* It opens the job's files as the job's user, who cannot be root by these. */
	assert_string_equal(owner_of_step('S', "0\t1000\t0\t1000", 0, true), "slurm:4711");
	assert_int_equal(unlink("proc/13/cgroup"), 0);
	assert_string_equal(owner_of_step('S', "1000\t0\t0\t0", 0, true), "slurm:s1JHM889NVM300");
	assert_string_equal(owner_of_step('S', "0\t0\t1000\t0", 0, true), "slurm:s1JHM889NVM300");
}

/* A process that is held ends an answer anywhere. */
TEST(an_answer_that_is_not_whole_is_one_about_the_names_in_it)
{
	static const struct {
		const char *path, *text, *owner;
		bool final;
	} cases[] = {
		{ "/" ID, ID " train\n~5 - /lxc", "container:train", false },
		{ "/" ID, ID " train\n~5 - /" ID "\n", "container:train", true },
		{ "/" ID, ID " tra", "container:4f0cd5b61a92", false },
		{ HELD, "", "container:a", false },
		{ HELD, "~5 RUN=x " HELD "\n", "env:RUN=x", true },
		{ HELD, "~5 RUN=x /lxc.pay", "container:a", false },
		{ HELD, "~5 - " HELD "\n", "container:a", true },
		{ HELD, "~5 ? " HELD "\n", "container:a", false },
	};
	char label[LABEL_SIZE];

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *names[] = { cases[i].path + 1 };

		print_message("# %s\n", cases[i].text);
		helper = (struct helper){ .begun_ns = monotonic_ns() };
		helper.text = not_null(strdup(cases[i].text));
		assert_int_equal(owner_name(label, names, 1, &helper, "RUN", helper.begun_ns),
				 cases[i].final);
		assert_string_equal(label, cases[i].owner);
		helper_free(&helper);
	}
}

/* However long the look took. */
TEST(an_answer_is_about_groups_that_were_there_when_it_was_asked_for)
{
	const char *names[] = { ID };
	uint64_t begun = monotonic_ns() - 4000000000;
	char label[LABEL_SIZE];

	helper = (struct helper){ .begun_ns = begun, .whole = true };
	assert_true(owner_name(label, names, 1, &helper, NULL, begun));
	assert_int_equal(helper.begun_ns, begun);
	owner_name(label, names, 1, &helper, NULL, begun + 1);
	assert_int_not_equal(helper.begun_ns, begun);
	helper_free(&helper);
}

static const char *held; /* whoever opens this file waits for ever */

int open(const char *path, int flags, ...)
{
	while (held && strstr(path, held))
		pause();
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

static void look(const void *variables, FILE *out)
{
	cgroup_write_names(root, variables, out);
}

/* What a look finds until it waits for the memory of a process. */
static void look_until_held(void)
{
	helper_free(&helper);
	assert_true(helper_start(&helper, "x", look, "RUN"));
	for (int i = 0; i < 200 && !helper.len; i++) /* it may have no CPU */
		helper_collect(&helper, monotonic_ns() + 100000000);
	assert_true(helper.running && helper.len > 0);
}

TEST(a_process_that_is_held_hides_no_name_for_good)
{
	bool found[2] = {};

	put(DOCKER, "{\"Name\":\"/train\"}");
	add_process(10, "/a", 1, 'S', ENVIRONMENT("RUN=x"));
	add_process(11, "/b", 1, 'S', ENVIRONMENT("RUN=x"));
	add_process(12, "/c", 1, 'S', ENVIRONMENT("RUN=x"));
	held = "/proc/12/environ";
	for (int i = 0; i < 200 && !(found[0] && found[1]); i++) {
		look_until_held();
		assert_non_null(strstr(helper.text, ID " train\n"));
		found[0] |= strstr(helper.text, "~1 RUN=x /a\n") != NULL;
		found[1] |= strstr(helper.text, "~1 RUN=x /b\n") != NULL;
	}
	assert_true(found[0] && found[1]);
	/* The title of a slurmstepd. */
	for (int i = 0; i < 2; i++) {
		add_process(12 + i, i ? STEP : OTHER_STEP, 1, 'S', "", 0);
		put(formatted("/proc/%d/status", 12 + i), "\nUid:\t0\t0\t0\t0\n");
		put(formatted("/proc/%d/cmdline", 12 + i), "slurmstepd: [4711.batch]");
	}
	held = "/proc/12/cmdline";
	memset(found, 0, sizeof(found));
	for (int i = 0; i < 200 && !(found[0] && found[1]); i++) {
		look_until_held();
		assert_non_null(strstr(helper.text, ID " train\n"));
		found[0] |= strstr(helper.text, "~1 RUN=x /a\n") != NULL;
		found[1] |= strstr(helper.text, "4711 " STEP "\n") != NULL;
	}
	assert_true(found[0] && found[1]);
	put("/proc/12/task/13/stat", "13 (a) D 1 2\n");
	helper_free(&helper);
	assert_string_equal(owner_in_tree("/a"), "group:a");
	held = NULL;
}

TEST(links_in_the_root_of_process_1_lead_into_it)
{
	const char *names[] = { "pod" POD_ID, "kubepods" };
	char label[LABEL_SIZE];

	if (geteuid())
		return; /* only root may change the root */
	put("/first/logs/train_a_" POD_ID "/x", "");
	put("/first/var/log/x", "");
	put("/proc/1/cgroup", "");
	assert_int_equal(symlink("/logs", "first/var/log/pods"), 0);
	assert_int_equal(symlink(formatted("%s/first", root), "proc/1/root"), 0);
	helper_free(&helper);
	assert_true(helper_start(&helper, "x", look, NULL));
	for (int i = 0; i < 200 && !helper.whole; i++)
		helper_collect(&helper, monotonic_ns() + 100000000);
	owner_name(label, names, COUNT(names), &helper, NULL, helper.begun_ns);
	assert_string_equal(label, "pod:train/a");
	helper_free(&helper);
}

TEST(a_group_is_that_of_the_whole_system)
{
	/* The agent in a group namespace of its own; cgroup v1 alone, where only some hierarchies have the unit's group. */
	add_process(10, "/../../lxc.payload.a", 1, 'S', ENVIRONMENT("RUN=x"));
	add_process(11, "/", 1, 'S', ENVIRONMENT("RUN=y"));
	put("/proc/11/cgroup", "12:rdma:/\n11:pids:/db.service\n1:name=systemd:/\n");
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "env:RUN=x");
	assert_string_equal(owner_with("RUN", "/db.service", true), "env:RUN=y");
	/* Of two the deepest, however long its name is, and before that of systemd's own hierarchy. */
	add_process(12, "/", 1, 'S', ENVIRONMENT("RUN=z"));
	put("/proc/12/cgroup",
	    "3:cpu:/condor/slot_1\n1:name=systemd:/system.slice/condor.service\n0::/condor.service\n");
	assert_string_equal(owner_with("RUN", "/condor/slot_1", true), "env:RUN=z");
}

TEST(a_variable_replaces_neither_a_schedulers_owner_nor_a_user)
{
	static const char *const paths[][2] = {
		{ "/system.slice/slurmstepd.scope/job_7/step_0", "slurm:7" },
		{ "/lsf/c/job.8.1.2", "lsf:8" },
		{ "/kubepods/pod" POD_ID, "pod:" POD_ID },
		{ "/docker/" ID "/slurm/uid_0/job_9", "container:4f0cd5b61a92 slurm:9" },
		{ "/user.slice/user-1000.slice", "user:1000" },
		{ "/system.slice/nginx.service", "env:RUN=x" },
		{ "/a/b", "env:RUN=x" },
	};

	for (size_t i = 0; i < COUNT(paths); i++) {
		add_process(20 + (int)i, paths[i][0], 1, 'S', ENVIRONMENT("RUN=x"));
		assert_string_equal(owner_with("RUN", paths[i][0], true), paths[i][1]);
	}
}

TEST(a_process_that_may_hold_its_memory_is_left_alone)
{
	add_process(10, "/lxc.payload.a", 500, 'S', ENVIRONMENT("RUN=x"));
	put("/proc/10/task/11/stat", "11 (a) D 1 2\n");
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", false), "container:a");
	put("/proc/10/task/11/stat", "11 (a) S 1 2\n");
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "env:RUN=x");
}
