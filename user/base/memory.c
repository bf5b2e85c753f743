// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/memory.h"

#include <link.h>
#include <sys/mman.h>

#include "base/std.h"

/* Of the first object, which is the program, the segments that nobody writes to. */
static int drop_segments(struct dl_phdr_info *object, size_t size, void *context)
{
	(void)size;
	(void)context;
	ARRAY_EACH(s, object->dlpi_phdr, object->dlpi_phnum)
		if (s->p_type == PT_LOAD && !(s->p_flags & PF_W))
			madvise((void *)(object->dlpi_addr + s->p_vaddr), s->p_memsz,
				MADV_DONTNEED);
	return 1;
}

void memory_drop_program(void)
{
	dl_iterate_phdr(drop_segments, NULL);
}
