// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the jobs and pods that hold a GPU's device file are found, with the paths of Slurm and of kubelet in
 * cgroup v1 and v2, and no others. */

#include "golden.h"
#include "base/cgroup.h"
#include "faults/gpu_holders.c"
#include "made_up_tree.h"
#include "printed.h"

#define UID "0a1b2c3d-0000-1111-2222-333344445555"

static const char *group_of(const char *text)
{
	struct cgroup c;

	cgroup_read(&c, text);
	return formatted("%s%s%s%s%s", c.path, *c.job ? " job " : "", c.job, *c.pod ? " pod " : "",
			 c.pod);
}

TEST(jobs_and_pods_are_known_by_their_groups)
{
	assert_string_equal(group_of(""), "");
	assert_golden_in(TEST_DATA "/texts.tsv", "jobs and pods by their groups", group_of);
}

#define SCOPE "0::/system.slice/n1_slurmstepd.scope/"

/* A process with this title, in this group, of these users. */
static void add_titled(int pid, const char *title, const char *group, const char *uids)
{
	put(formatted("/proc/%d/cmdline", pid), title);
	put(formatted("/proc/%d/cgroup", pid), group);
	put(formatted("/proc/%d/stat", pid),
	    formatted("%d (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %d 0\n", pid, pid));
	put(formatted("/proc/%d/status", pid), formatted("Name:\tx\nUid:\t%s\nGid:\t0\n", uids));
}

static const char *job_of(const char *text)
{
	static struct cgroup c;
	char *jobs = NULL;
	size_t size;
	FILE *out = open_memstream(&jobs, &size);

	cgroup_write_names(root, NULL, out);
	fclose(out);
	cgroup_read(&c, text);
	cgroup_find_names(&c, jobs);
	free(jobs);
	return c.job;
}

/* Slurm 26.05: the number is in the title of root's slurmstepd alone. */
TEST(the_job_of_a_group_without_its_number)
{
	static const char ours[] = SCOPE "s1JHM889NVM300/step_0/user/task_0\n";
	static const char root_s[] = "0\t0\t0\t0";

	put("/proc/self", "");
	put("/proc/1/cmdline", "/sbin/init");
	assert_string_equal(job_of(ours), "");
	/* Titles of users, in the group and elsewhere, and of a program of root's that a user has started. */
	add_titled(20, "slurmstepd: [1.0]", ours, "1000\t1000\t1000\t1000");
	add_titled(21, "slurmstepd: [2.0]", ours, "1000\t0\t0\t0");
	add_titled(22, "slurmstepd: [3.0]", "0::/user.slice/user-1000.slice/s1JHM889NVM300\n",
		   root_s);
	add_titled(23, "slurmstepd: [4.0]", SCOPE "s1JHM889NVM301/step_0/slurm\n", root_s);
	add_titled(24, "slurmstepd: [5]", ours, root_s);
	add_titled(25, "slurmstepd: [x.0]", ours, root_s);
	add_titled(26, "sleep: [6.0]", ours, root_s);
	assert_string_equal(job_of(ours), "");
	add_titled(30, "slurmstepd: [4711.batch]", SCOPE "s1JHM889NVM300/step_batch/slurm\n",
		   root_s);
	assert_string_equal(job_of(ours), "4711");
	assert_string_equal(job_of("0::/../../system.slice/n1_slurmstepd.scope/s1JHM889NVM300\n"),
			    "4711");
	/* Other groups: a user's, longer or shorter names, and one that has its number. */
	assert_string_equal(job_of("0::/user.slice/slurmstepd.scope/s1JHM889NVM300/step_0\n"), "");
	assert_string_equal(job_of(SCOPE "s1JHM889NVM3000/step_0\n"), "");
	assert_string_equal(job_of(SCOPE "system\n"), "");
	assert_string_equal(job_of(SCOPE "job_7/step_0\n"), "7");
}

/* Device files of this machine in the stead of the driver's: 1:3 and 1:5. */
#define MAJOR 1
#define DEVICE_3 "/dev/null"
#define DEVICE_5 "/dev/zero"

/* A file that stands for @device. */
static void add_file(const char *file, const char *device)
{
	put(file, "");
	assert_int_equal(unlink(file + 1), 0);
	assert_int_equal(symlink(device, file + 1), 0);
}

/* The process @pid with that file open. */
static void add_process(int pid, const char *file, const char *cgroup)
{
	put(formatted("/proc/%d/cgroup", pid), cgroup);
	put(formatted("/proc/%d/comm", pid), "python3\n");
	mkdir(formatted("proc/%d/fd", pid), 0755);
	for (int i = 3; i < 6; i++)
		assert_int_equal(symlink(i == 4 ? "/dev/null" : formatted("%s%s", root, file),
					 formatted("proc/%d/fd/%d", pid, i)),
				 0);
}

static void scan(const struct gpu_minors *minors)
{
	FILE *out = text_begin();

	gpu_holders_scan(root, MAJOR, minors, out);
	text_end(out);
}

TEST(who_holds_a_gpu)
{
	struct gpu_minors minors = {};

	add_file("/dev/nvidia3", DEVICE_3);
	add_file("/dev/nvidia30", DEVICE_3);
	add_file("/dev/nvidiactl", DEVICE_3);
	add_file("/run/rootfs/dev/nvidia3", DEVICE_3);
	put("/proc/driver/nvidia/gpus/0000:c1:00.0/information",
	    "Model: \t\t NVIDIA H100\nDevice Minor: \t 3\n");
	put("/proc/driver/nvidia/gpus/0000:d1:00.0/information", "Model: x\n");
	add_process(20, "/dev/nvidia3", "0::/system.slice/slurmstepd.scope/job_7/step_0\n");
	add_process(21, "/dev/nvidia3", "0::/system.slice/slurmstepd.scope/job_7/step_0\n");
	add_process(22, "/dev/nvidia30", "0::/system.slice/slurmstepd.scope/job_8/step_0\n");
	add_process(23, "/dev/nvidiactl", "0::/system.slice/slurmstepd.scope/job_9/step_0\n");
	add_process(24, "/run/rootfs/dev/nvidia3", "7:cpu:/kubepods/pod" UID "/x\n");
	add_process(25, "/dev/nvidia3", SCOPE "s1JHM889NVM300/step_0/user/task_0\n");
	add_titled(30, "slurmstepd: [4711.0]", SCOPE "s1JHM889NVM300/step_0/slurm\n", "0\t0\t0\t0");
	scan(&minors);
	assert_has_all(text, "0000:c1:00.0 3 - \"held_by\":[", "\"job\":\"4711\",\"pid\":25",
		       "\"job\":\"7\",\"pid\":2", "\"comm\":\"python3\",\"processes\":2}",
		       "\"pod\":\"" UID "\"");
	assert_lacks(text, "\"8\"");
	assert_lacks(text, "\"9\"");
	assert_lacks(text, "d1:00.0");
	assert_lacks(text, "holders_");
}

/* Files of that name, the device of another driver bound over one, and a path that was not opened. */
TEST(only_the_drivers_device_is_held)
{
	struct gpu_minors minors = { .count = 1, .list = { { "0000:c1:00.0", 3, "GPU-x" } } };

	put("/proc/driver/nvidia/gpus/0000:c1:00.0/information", "Device Minor: \t 3\n");
	put("/home/dev/nvidia3", "");
	add_file("/dev/nvidia3", DEVICE_3);
	add_file("/mnt/dev/nvidia3", DEVICE_5);
	add_process(20, "/home/dev/nvidia3", "0::/file\n");
	add_process(21, "/mnt/dev/nvidia3", "0::/other\n");
	add_process(22, "/dev/nvidia3", "0::/path\n");
	for (int i = 3; i < 6; i++)
		put(formatted("/proc/22/fdinfo/%d", i),
		    "pos:\t0\nflags:\t010000000\nmnt_id:\t27\n");
	scan(&minors);
	assert_has(text, "0000:c1:00.0 3 GPU-x \"held_by\":[]");
	put("/proc/22/fdinfo/3", "pos:\t0\nflags:\t0100002\nmnt_id:\t27\n");
	scan(&minors);
	assert_has(text, "\"held_by\":[{\"cgroup\":\"/path\"");
}

#define GPU "GPU-eaf23aa1-4d3d-596c-da66-b86b0e5db584"
#define INFORMATION "/proc/driver/nvidia/gpus/0000:c1:00.0/information"

TEST(what_is_known_is_not_read_again)
{
	struct gpu_minors minors = { .count = 1, .list = { { "0000:c1:00.0", 3, GPU } } };

	add_file("/dev/nvidia3", DEVICE_3);
	put(INFORMATION, "Device Minor: 4\n");
	add_process(20, "/dev/nvidia3", "0::/a\n");
	scan(&minors);
	assert_has(text, "0000:c1:00.0 3 " GPU " \"held_by\":[{\"cgroup\":\"/a\"");
	assert_lacks(text, "0000:c1:00.0 4");
	/* Without its UUID it is: the driver may have it now. */
	*minors.list[0].uuid = 0;
	put(INFORMATION, "GPU UUID: \t " GPU "\nDevice Minor: \t 3\n");
	scan(&minors);
	assert_has(text, "0000:c1:00.0 3 - \"held_by\":[{");
	assert_has(text, "0000:c1:00.0 3 " GPU " \"held_by\":[{");
}

/* The file as drivers 410 to 590 have it. */
TEST(the_drivers_file_about_a_gpu_is_read)
{
	static const struct {
		const char *text, *uuid;
		bool found;
	} files[] = {
		{ "Model: \t\t NVIDIA GeForce RTX 3090\nIRQ:   \t\t 77\nGPU UUID: \t " GPU
		  "\nVideo BIOS: \t 94.02.26.40.81\nBus Type: \t PCI\nDMA Size: \t 47 bits\n"
		  "DMA Mask: \t 0x7fffffffffff\nBus Location: \t 0000:01:00.0\nDevice Minor: \t 5\n"
		  "GPU Firmware: \t 590.48.01\nGPU Excluded:\t No\n",
		  GPU, true },
		/* Nobody has opened it yet. */
		{ "GPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?\?\?\?\?\?\?\?\?\n"
		  "Device Minor: \t 5\n",
		  "", true },
		{ "GPU UUID: \t " GPU "0\nDevice Minor: \t 5\n", "", true },
		{ "GPU UUID: \t GPU-\nDevice Minor: \t 5", "", true },
		{ "GPU UUID: \t " GPU "\nDevice Minor: \t -\n", GPU, false },
		{ "GPU UUID: \t " GPU "\n", GPU, false },
		{ "", "", false },
	};

	for (size_t i = 0; i < COUNT(files); i++) {
		char uuid[GPU_UUID_SIZE] = "x";
		unsigned int minor = 0;

		put(INFORMATION, files[i].text);
		assert_int_equal(gpu_information_read(root, "0000:c1:00.0", &minor, uuid),
				 files[i].found);
		assert_string_equal(uuid, files[i].uuid);
		assert_int_equal(minor, files[i].found ? 5 : 0);
	}
}

TEST(without_a_driver_nothing_is_read)
{
	struct gpu_minors minors = {};

	add_process(20, "/dev/nvidia3", "0::/a\n");
	scan(&minors);
	assert_string_equal(text, "");
}

TEST(what_a_process_leaves_is_taken_without_a_fault)
{
	struct gpu_holders holders = {};

	gpu_holders_learn(&holders);
	assert_true(holders.helper.running);
	for (int tries = 0; holders.helper.running && tries < 100000; tries++) {
		usleep(1000);
		gpu_holders_poll(&holders);
	}
	assert_false(holders.helper.running);
	gpu_holders_free(&holders);
}

/* More GPUs than there is room for: the first keep theirs, and what is found later completes them. */
TEST(the_numbers_of_many_gpus)
{
	static struct gpu_holders holders;
	const size_t room = COUNT(holders.minors.list);
	char *found = NULL;
	size_t size;
	FILE *out = open_memstream(&found, &size);

	for (size_t i = 0; i < room + 2; i++)
		fprintf(out, "%04zx:01:00.0 %zu -\n", i, i);
	fprintf(out, "0000:01:00.0 7 " GPU " \n%04zx:01:00.0 8 " GPU " \nwithout a number\n", room);
	fclose(out);
	holders.helper.text = found;
	holders.helper.len = size;
	note_minors(&holders);
	assert_int_equal(holders.minors.count, room);
	assert_printed("0000:01:00.0 0 " GPU, "%s %u %s", holders.minors.list[0].gpu,
		       holders.minors.list[0].minor, holders.minors.list[0].uuid);
	assert_printed("003f:01:00.0 63 ", "%s %u %s", holders.minors.list[63].gpu,
		       holders.minors.list[63].minor, holders.minors.list[63].uuid);
	free(found);
}

/* Of this machine, which has no driver: the process that looks ends, and is waited for. */
TEST(the_answer_without_a_driver_is_none)
{
	struct gpu_holders holders = {};

	gpu_holders_learn(&holders);
	assert_string_equal(gpu_holders_find(&holders, "0000:c1:00.0"), "");
	assert_string_equal(gpu_holders_uuid(&holders, "0000:c1:00.0"), "");
	gpu_holders_free(&holders);
}
