// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/process.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/span.h"

/* The inode of the first PID namespace, whose numbers the kernel prints (kernel: PROC_PID_INIT_INO in include/linux/proc_ns.h). */
#define FIRST_PID_NAMESPACE 0xeffffffcu

/* In the fields after the name, which is in parentheses: proc_pid_stat(5), field 22. */
#define FIELDS_BEFORE_START 19

/* Reads a file of the folder, which always belongs to the same process; "" if that has ended. */
static void read_at(int folder, const char *file, char *text, size_t size)
{
	file_read_and_close(openat(folder, file, O_RDONLY | O_CLOEXEC), text, size);
}

bool process_start_ticks(const char *stat, uint64_t *ticks)
{
	/* The name may have parentheses in it. */
	const char *name_end = strrchr(stat, ')');
	struct span rest;

	if (!name_end)
		return false;
	rest = (struct span){ name_end + 1, stat + strlen(stat) };
	for (int i = 0; i < FIELDS_BEFORE_START; i++)
		span_take_word(&rest);
	return span_number(span_take_word(&rest), UINT64_MAX, ticks);
}

static bool began_before(int folder, uint64_t time_ns)
{
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	double shift = (double)clock_shift_ns(CLOCK_BOOTTIME) / 1e9;
	struct clock_offsets clocks;
	char text[1024];
	uint64_t ticks;

	read_at(folder, "stat", text, sizeof(text));
	return clock_offsets_read(&clocks) && process_start_ticks(text, &ticks) &&
	       (double)(ticks + 1) * tick - shift <= boot_seconds(&clocks, time_ns);
}

bool process_text(int pid, uint64_t time_ns, const char *file, char *text, size_t size)
{
	struct stat namespace;
	OPEN_FILE folder = -1;

	text[0] = 0;
	if (pid <= 0 || stat("/proc/self/ns/pid", &namespace) ||
	    namespace.st_ino != FIRST_PID_NAMESPACE)
		return false;
	folder = open(PATHF("/proc/%d", pid), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0 && began_before(folder, time_ns))
		read_at(folder, file, text, size);
	return *text;
}

bool process_comm(int pid, uint64_t time_ns, char *comm, size_t size)
{
	process_text(pid, time_ns, "comm", comm, size);
	comm[strcspn(comm, "\n")] = 0;
	return *comm;
}

/* "some avg10=0.00 avg60=0.12 avg300=0.50 total=12345": the total in microseconds. */
uint64_t cpu_pressure_waiting_ns(const char *root)
{
	return file_number(PATHF("%s/proc/pressure/cpu", root), " total=", 10) * 1000;
}

/* The first line is "0::/system.slice/xidscope.service". With hierarchies of version 1 it is one of theirs. */
uint64_t group_kernel_bytes(const char *root)
{
	char path[512], processes[1024], *at = processes;

	if (!file_first_line(PATHF("%s/proc/self/cgroup", root), path, sizeof(path)) ||
	    strncmp(path, "0::", 3) != 0)
		return 0;
	file_read_and_close(open(PATHF("%s/sys/fs/cgroup%s/cgroup.procs", root, path + 3),
				 O_RDONLY | O_CLOEXEC),
			    processes, sizeof(processes));
	do {
		pid_t pid = (pid_t)strtol(at, &at, 10);

		if (!pid || getpgid(pid) != getpgrp())
			return 0;
	} while (*at && *++at);
	return file_number(PATHF("%s/sys/fs/cgroup%s/memory.stat", root, path + 3), "\nkernel ",
			   10);
}

/* Where the section of the Makefile begins that memory_drop_program() does not keep; unwinding tables follow. NULL: there is none. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's */
extern const char __start_once[] __attribute__((weak));

/* Of the first object, which is the program: gives back what nobody writes to, and locks all that is in the file if @keep. */
static int drop_segments(struct dl_phdr_info *object, size_t size, void *keep)
{
	(void)size;
	ARRAY_EACH(s, object->dlpi_phdr, object->dlpi_phnum) {
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): it is a number there */
		char *at = (char *)(object->dlpi_addr + s->p_vaddr);
		size_t before_once = __start_once > at ? (size_t)(__start_once - at) : SIZE_MAX;

		if (s->p_type != PT_LOAD)
			continue;
		if (!(s->p_flags & PF_W)) {
			munlock(at, s->p_memsz);
			madvise(at, s->p_memsz, MADV_DONTNEED);
		}
		if (keep)
			mlock2(at, before_once < s->p_filesz ? before_once : s->p_filesz, 0);
	}
	return 1;
}

void memory_drop_program(bool keep)
{
	dl_iterate_phdr(drop_segments, keep ? "" : NULL);
}

/* proc(5): "CapEff:\t000001ffffffffff". */
uint64_t effective_capabilities(const char *root)
{
	return file_number(PATHF("%s/proc/self/status", root), "\nCapEff:", 16);
}

/* capset(2): each set is divided into words of 32 bits. */
#define WORDS _LINUX_CAPABILITY_U32S_3

int capabilities_keep(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[WORDS];
	int err = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	/* Only with CAP_SETPCAP can the bounding set be made smaller. Without it no-new-privs has the same effect: an executed
	 * program gets no more than the process has. */
	for (unsigned int i = 0; i < 64; i++)
		if (!(keep & CAPABILITY(i)))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	if (syscall(SYS_capget, &header, sets))
		return -errno;
	for (int i = 0; i < WORDS; i++) {
		sets[i].permitted &= (uint32_t)(keep >> 32 * i);
		sets[i].effective &= sets[i].permitted;
		/* This clears the ambient set as well, which is a part of it. */
		sets[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, sets) ? -errno : err;
}
