// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that what proc shows of a process is used only if that process had its number at the time in question; and
 * that the time for which tasks waited for a CPU, and the memory of a group of its own, are read, and anything else unknown. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"
#include "base/clock.h"
#include "base/process.h"
#include "made_up_tree.h"

/* In a container without the node's processes the kernel's numbers mean nothing. */
static bool sees_kernels_numbers(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == 4026531836u;
}

/* A child that waits, with a name that is hard to read. */
static pid_t start(void)
{
	int named[2];
	pid_t child;

	assert_int_equal(pipe(named), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a) R 1 2 3 (b");
		close(named[0]);
		close(named[1]);
		pause();
		_exit(0);
	}
	close(named[1]);
	assert_int_equal(read(named[0], &(char){ 0 }, 1), 0); /* ends when the child has its name */
	close(named[0]);
	usleep(50000); /* its begin is known to a hundredth of a second */
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Reads of CLOCK_MONOTONIC from now on, of which this many come 20 ms late: in place of the C library's. */
static int late_reads;
static int64_t late_ns;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	long result = syscall(SYS_clock_gettime, clock, now);

	if (clock == CLOCK_MONOTONIC && late_reads > 0) {
		late_reads--;
		late_ns += 20000000;
	}
	now->tv_nsec += late_ns % 1000000000;
	now->tv_sec += late_ns / 1000000000 + now->tv_nsec / 1000000000;
	now->tv_nsec %= 1000000000;
	return (int)result;
}

/* As it is on a busy machine, and for a container that has used up its time. */
TEST(an_interrupted_measurement_of_the_clocks_is_made_again)
{
	struct clock_offsets clocks;

	late_reads = 8;
	assert_true(clock_offsets_read(&clocks));
	late_reads = 1000;
	assert_false(clock_offsets_read(&clocks));
	late_reads = 0;
	late_ns = 0;
}

TEST(a_process_that_lived_then_is_read)
{
	pid_t child = start();
	char line[512];
	bool found = process_comm(child, monotonic_ns(), line, sizeof(line));

	assert_int_equal(found, sees_kernels_numbers());
	assert_string_equal(line, found ? "a) R 1 2 3 (b" : "");
	/* Cut where there is no room. */
	assert_int_equal(process_comm(child, monotonic_ns(), line, 4), found);
	assert_string_equal(line, found ? "a) " : "");
	assert_int_equal(process_text(child, monotonic_ns(), "cgroup", line, sizeof(line)), found);
	end(child);
}

TEST(a_process_that_came_later_is_not)
{
	uint64_t before = monotonic_ns();
	pid_t child = start();
	char line[64] = "x";

	assert_false(process_comm(child, before, line, sizeof(line)));
	assert_string_equal(line, "");
	assert_false(process_comm(child, 0, line, sizeof(line)));
	end(child);
	assert_false(process_comm(child, monotonic_ns(), line, sizeof(line)));
}

TEST(what_is_no_process_is_not)
{
	char line[64] = "x";

	assert_false(process_comm(0, monotonic_ns(), line, sizeof(line)));
	assert_false(process_comm(-1, monotonic_ns(), line, sizeof(line)));
	assert_false(process_text(getpid(), monotonic_ns(), "absent", line, sizeof(line)));
	assert_string_equal(line, "");
}

TEST(the_total_of_some_is_read_in_nanoseconds)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{ "some avg10=0.00 avg60=1.25 avg300=12.50 total=123456789012\nfull avg10=0.00 total=7\n",
		  UINT64_C(123456789012000) },
		{ "some avg10=0.00\n", 0 },
	};

	assert_int_equal(cpu_pressure_waiting_ns(root), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		put("/proc/pressure/cpu", cases[i].text);
		assert_int_equal(cpu_pressure_waiting_ns(root), cases[i].ns);
	}
}

TEST(the_kernel_memory_of_a_group_of_its_own_is_read)
{
	static const struct {
		const char *group,
			*processes; /* %1$d: this one; %2$d: one of another process group */
		uint64_t bytes;
	} cases[] = {
		{ "0::/a/b\n", "%1$d\n", 7491584 },
		{ "9:memory:/a/b\n0::/a/b\n", "%1$d\n", 0 },
		{ "0::/a/b\n", "%2$d\n%1$d\n", 0 },
		{ "0::/a/b\n", "0\n%1$d\n", 0 }, /* outside of the namespace */
	};
	char processes[32];
	pid_t other = fork();

	if (!other) {
		pause();
		_exit(0);
	}
	setpgid(other, other);
	put("/sys/fs/cgroup/a/b/memory.stat", "anon 1\nkernel 7491584\nkernel_stack 5\n");
	assert_int_equal(group_kernel_bytes(root), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(processes, sizeof(processes), cases[i].processes, getpid(), other);
		put("/proc/self/cgroup", cases[i].group);
		put("/sys/fs/cgroup/a/b/cgroup.procs", processes);
		assert_int_equal(group_kernel_bytes(root), cases[i].bytes);
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/* Functions that have not yet run as well: a disk that hangs could not give them back. */
TEST(the_program_stays_in_memory)
{
	char line[512];
	bool here = false;
	unsigned long begin, end, size = 0, rss = 0, locked = 0, value;
	struct rlimit limit;
	FILE *maps;

	memory_drop_program(true);
	maps = not_null(fopen("/proc/self/smaps", "r"));
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &begin, &end) == 2)
			here = strstr(line, "test_process");
		if (!here)
			continue;
		size += sscanf(line, "Size: %lu", &value) == 1 ? value : 0;
		rss += sscanf(line, "Rss: %lu", &value) == 1 ? value : 0;
		locked += sscanf(line, "Locked: %lu", &value) == 1 ? value : 0;
	}
	fclose(maps);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur < size << 10 && geteuid())
		skip();
	assert_int_equal(rss, size);
	assert_int_equal(locked, size);
}
