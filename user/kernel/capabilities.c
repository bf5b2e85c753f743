// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/capabilities.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_text.h"

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
