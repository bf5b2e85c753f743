// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes the kernel refuse BPF programs of one name until it is killed: refuse NAME. Prints "ready" once it does. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "refuse.skel.h"

int main(int argc, char **argv)
{
	struct refuse_bpf *bpf = argc == 2 ? refuse_bpf__open() : NULL;

	if (!bpf)
		return 2;
	/* The kernel keeps 15 bytes of a name. */
	strncpy((char *)bpf->rodata->name_to_refuse, argv[1], 15);
	if (refuse_bpf__load(bpf) || refuse_bpf__attach(bpf))
		return 1;
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
