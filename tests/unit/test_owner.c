// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves who an owner is, by the path of its control group and by the files of runtimes. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "made_up_tree.h"
#include "base/clock.h"
#include "owners/mount_calls.h"

#define ID "4f0cd5b61a92" HEX_40 "0123456789ab"
#define HEX_40 "0123456789012345678901234567890123456789"
#define POD "kubepods-burstable-pod01234567_89ab_cdef_0123_456789abcdef.slice"
#define POD_ID "01234567-89ab-cdef-0123-456789abcdef"

/* What the process that looks for names has found. */
static struct helper helper = { .pipe = -1 };

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
	static const char *const paths[][2] = {
		{ "", "kernel" },
		{ "/system.slice/slurmstepd.scope/job_7/step_0", "slurm:7" },
		{ "/slurm/uid_1000/job_8/step_batch", "slurm:8" },
		{ "/slurm.slice/slurmstepd.scope/job_7/step_0", "slurm:7" }, /* CgroupSlice= */
		/* No process has its number. */
		{ "/system.slice/slurmstepd.scope/s1JHM889NVM300/step_0", "slurm:s1JHM889NVM300" },
		{ "/lsf/cluster1/job.4711.2026.1695012345", "lsf:4711" },
		{ "/lsf/cluster1/job.4711[3].2026.1695012345/task", "lsf:4711[3]" },
		{ "/pbs_jobs.service/jobid/4711.server", "pbs:4711" },
		{ "/pbs_jobs.service/jobs/4711[3].server", "pbs:4711[3]" },
		{ "/pbspro.service/jobid/4711.server", "pbs:4711" },
		{ "/pbspro.slice/pbspro-4711.server.slice", "pbs:4711" },
		{ "/pbspro.slice/pbspro-4711\\x5b3\\x5d.my\\x2dserver.slice", "pbs:4711[3]" },
		{ "/pbspro/4711[3].server", "pbs:4711[3]" },
		{ "/torque/4711.server/R0.t0", "pbs:4711" },
		{ "/pbspro/jobs", "group:pbspro/jobs" },
		{ "/system.slice/pbspro/4711.server", "group:system.slice/pbspro" },
		{ "/pbs_jobs.service", "unit:pbs_jobs.service" },
		{ "/lsf/cluster1/job.x", "group:lsf/cluster1" },
		/* A container of a job, and a job of a pod, with a group beside the container's or in it. */
		{ "/system.slice/slurmstepd.scope/job_7/step_0/docker-" ID ".scope", "slurm:7" },
		{ "/system.slice/n1_slurmstepd.scope/job_7/step_0/" ID, "slurm:7" },
		{ "/kubepods.slice/kubepods-burstable.slice/" POD
		  "/system.slice/slurmstepd.scope/job_7/step_0",
		  "pod:" POD_ID " slurm:7" },
		{ "/kubelet.slice/kubelet-kubepods.slice/" POD "/cri-containerd-" ID
		  ".scope/system.slice/n1_slurmstepd.scope/job_7",
		  "pod:" POD_ID " slurm:7" },
		{ "/kubepods/burstable/pod" POD_ID "/" ID "/slurm/uid_0/job_9/step_0",
		  "pod:" POD_ID " slurm:9" },
		{ "/docker/" ID "/system.slice/slurmstepd.scope/job_9/step_0",
		  "container:4f0cd5b61a92 slurm:9" },
		/* Pods. */
		{ "/kubepods.slice/kubepods-burstable.slice/" POD "/cri-containerd-ab.scope",
		  "pod:" POD_ID },
		{ "/kubepods/besteffort/pod" POD_ID "/ab", "pod:" POD_ID },
		{ "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice",
		  "pod:" POD_ID },
		{ "/my.slice/my-pods.slice/my-pods-kubepods.slice/my-pods-" POD "/x",
		  "pod:" POD_ID },
		/* containerd with cgroupfs under a kubelet with systemd; nodes in containers: kind, k3d, minikube. */
		{ "/system.slice/containerd.service/" POD ":cri-containerd:ab", "pod:" POD_ID },
		{ "/system.slice/k3s.service/" POD ":cri-containerd:ab", "pod:" POD_ID },
		{ "/system.slice/k3s-agent.service/" POD ":cri-containerd:ab", "pod:" POD_ID },
		{ "/system.slice/rke2-server.service/" POD ":cri-containerd:ab", "pod:" POD_ID },
		{ "/system.slice/k0sworker.service/" POD ":cri-containerd:ab", "pod:" POD_ID },
		{ "/system.slice/snap.microk8s.daemon-containerd.service/" POD ":cri-containerd:ab",
		  "pod:" POD_ID },
		{ "/system.slice/crio.service/" POD ":crio:ab", "pod:" POD_ID },
		{ "/system.slice/docker-" ID
		  ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-" POD,
		  "pod:" POD_ID },
		{ "/docker/" ID "/kubelet/kubepods/burstable/pod" POD_ID "/ab", "pod:" POD_ID },
		{ "/docker/" ID "/kubepods/pod" POD_ID "/" ID
		  "/system.slice/slurmstepd.scope/job_9",
		  "pod:" POD_ID " slurm:9" },
		/* Groups that others than root may make below their own, with names of other pods, containers and jobs. */
		{ "/lxc.payload.a/kubepods/pod" POD_ID, "container:a" },
		{ "/machine.slice/machine-a.scope/kubepods.slice/" POD, "container:a" },
		{ "/machine.slice/libpod-" ID ".scope/container/kubepods/pod" POD_ID,
		  "container:4f0cd5b61a92" },
		{ "/libpod_parent/libpod-" ID "/kubepods/pod" POD_ID, "container:4f0cd5b61a92" },
		{ "/docker/" ID "/pod" POD_ID, "container:4f0cd5b61a92" },
		{ "/system.slice/alice.service/kubepods/pod" POD_ID, "unit:alice.service" },
		{ "/system.slice/alice.service/docker-" ID ".scope", "unit:alice.service" },
		{ "/system.slice/alice.service/docker/" ID, "unit:alice.service" },
		{ "/system.slice/alice.service/lxc/a/slurm/uid_0/job_4711", "unit:alice.service" },
		{ "/system.slice/alice.service/libpod-payload-0/lxc/a", "unit:alice.service" },
		{ "/users/alice/lxc/a", "group:users/alice" },
		{ "/users/lxc.payload.a", "group:users/lxc.payload.a" },
		{ "/alice/machine.slice/machine-a.scope", "group:alice/machine.slice" },
		{ "/alice/nginx.service", "group:alice/nginx.service" },
		{ "/system.slice/alice.scope/lxc/a", "unit:alice.scope" },
		/* Containers. */
		{ "/system.slice/docker-" ID ".scope", "container:4f0cd5b61a92" },
		{ "/docker/" ID "/init.scope", "container:4f0cd5b61a92" },
		{ "/machine.slice/libpod-" ID ".scope/container", "container:4f0cd5b61a92" },
		{ "/machine.slice/machine-libpod_pod_0" HEX_40
		  "01234567890123456789012.slice/libpod-" ID ".scope",
		  "container:4f0cd5b61a92" },
		{ "/libpod_parent/libpod-" ID, "container:4f0cd5b61a92" },
		{ "/docker/0" HEX_40 "0123456789012345678901)",
		  "group:docker/0" HEX_40 "0123456789012345678901)" },
		/* Rootless, or without a name: the ID is another one after each start. */
		{ "/system.slice/quadlet.service/libpod-payload-" ID, "unit:quadlet.service" },
		{ "/docker/" ID "/system.slice/a.service/x", "container:4f0cd5b61a92" },
		{ "/system.slice/quadlet.service/supervisor", "unit:quadlet.service" },
		{ "/libpod_parent/0" HEX_40 "01234567890123456789012/libpod-" ID,
		  "container:4f0cd5b61a92" },
		{ "/system.slice/nerdctl-" ID ".scope", "container:4f0cd5b61a92" },
		{ "/default/" ID, "container:4f0cd5b61a92" },
		{ "/system.slice/crio-" ID ".scope", "container:4f0cd5b61a92" },
		{ "/docker/" ID "/docker/0" HEX_40 "01234567890123456789012",
		  "container:4f0cd5b61a92" },
		{ "/lxc.payload.train/system.slice/cron.service", "container:train" },
		{ "/lxc.payload/train", "container:train" },
		{ "/lxc.payload.project_" HEX_40 HEX_40, "container:project_" HEX_40 HEX_40 },
		{ "/lxc/101/ns/system.slice", "container:101" },
		{ "/system.slice/lxc/101", "container:101" },
		{ "/machine.slice/machine-my\\x2dbox.scope/payload", "container:my-box" },
		{ "/machine.slice/systemd-nspawn@my\\x2dbox.service/payload", "container:my-box" },
		/* libvirt counts the machines that it has started. */
		{ "/machine.slice/machine-lxc\\x2d1234\\x2dmy\\x2dbox.scope", "container:my-box" },
		{ "/machine.slice/machine-qemu\\x2d9\\x2dvm\\x2d1.scope/libvirt/emulator",
		  "container:vm-1" },
		{ "/machine.slice/machine-lxc\\x2dbox.scope", "container:lxc-box" },
		{ "/machine.slice/machine-qemu\\x2d9.scope", "container:qemu-9" },
		/* What looks like one. */
		{ "/system.slice/docker-" ID "0.scope", "unit:docker-" ID "0.scope" },
		{ "/system.slice/x" ID ".scope", "unit:x" ID ".scope" },
		{ "/docker/" HEX_40, "group:docker/" HEX_40 },
		{ "/lxc", "group:lxc" },
		{ "/lxc.payload.", "group:lxc.payload." },
		/* A name that imitates a job. */
		{ "/lxc.payload.a slurm:7", "container:a_slurm:7" },
		{ "/lxc.payload.a\n", "container:a\\x0a" },
		{ "/a/b slurm:7", "group:a/b_slurm:7" },
		{ "/system.slice/x slurm:7.scope", "unit:x_slurm:7.scope" },
		{ "/system.slice/nginx.service", "unit:nginx.service" },
		/* Cut at 95 bytes. */
		{ "/system.slice/" HEX_40 HEX_40 "0123456789.serv",
		  "unit:" HEX_40 HEX_40 "0123456789.serv" },
		{ "/data.slice/data-base.slice/db.service/worker", "unit:db.service" },
		{ "/user.slice/user-1000.slice", "user:1000" },
		{ "/user.slice/user-1000.slice/user@1000.service/libpod-" ID ".scope",
		  "user:1000" },
		{ "/user.slice/user-1000.slice/system.slice/slurmstepd.scope/job_1", "user:1000" },
		{ "/user.slice/odd.slice", "user:unknown" },
		/* Groups of users by pam_cgfs of LXC, and of a job's user by HTCondor. */
		{ "/user/alice/0/kubepods/pod" POD_ID, "group:user/alice" },
		{ "/user/alice/0/lxc/a/slurm/uid_0/job_4711", "group:user/alice" },
		{ "/user/alice/0/" ID, "group:user/alice" },
		{ "/htcondor/condor_slot1@n/kubepods/pod" POD_ID, "group:htcondor/condor_slot1@n" },
		{ "/system.slice/htcondor/condor_slot1@n/lxc/a", "group:system.slice/htcondor" },
		{ "/a", "group:a" },
		{ "/a/b/c", "group:a/b" },
		{ "/a\nb\"", "group:a\\x0ab\"" },
	};

	for (size_t i = 0; i < COUNT(paths); i++) {
		print_message("# %s\n", paths[i][0]);
		assert_string_equal(owner_of(paths[i][0]), paths[i][1]);
	}
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
	/* Empty is not set. A value that is too long is cut. */
	add_process(11, "/lxc.payload.a/x", 400, 'S', ENVIRONMENT("RUN="));
	assert_string_equal(owner_with("RUN", "/lxc.payload.a", true), "container:a");
	add_process(11, "/lxc.payload.a/x", 400, 'S',
		    ENVIRONMENT("RUN=" HEX_40 HEX_40 HEX_40 HEX_40 HEX_40));
	assert_int_equal(strlen(owner_with("RUN", "/lxc.payload.a", true)),
			 strlen("env:RUN=") + 64);
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
		helper = (struct helper){ .pipe = -1, .begun_ns = monotonic_ns() };
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

	helper = (struct helper){ .pipe = -1, .begun_ns = begun, .whole = true };
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
	assert_true(helper.pipe >= 0 && helper.len > 0);
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
