// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The memory of this process. */
#include "base/memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/std.h"

/* Only pages that nothing has written to are as they are in the file. */
static int give_back_segments(struct dl_phdr_info *object, size_t size, void *context)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)context;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
		uintptr_t end = (begin + segment->p_memsz) & ~(page - 1);

		begin = (begin + page - 1) & ~(page - 1);
		if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) && end > begin)
			madvise((void *)begin, end - begin, MADV_DONTNEED);
	}
	return 0;
}

void memory_give_back(void)
{
	malloc_trim(0);
	dl_iterate_phdr(give_back_segments, NULL);
}
