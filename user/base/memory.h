/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of this process. */
#pragma once

/* Gives back to the kernel what only a start needs: free memory of the heap, and pages of the program's code and constants, some
 * 2 MB. They are read again from the page cache when they are used. Takes a fraction of a millisecond. */
void memory_give_back(void);
