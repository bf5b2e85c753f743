/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The running kernel's own word on its types (BTF), for what CO-RE cannot do.
 */
#ifndef XIDSCOPE_KERNEL_TYPES_H
#define XIDSCOPE_KERNEL_TYPES_H

#include <stdbool.h>

/* The functions below read the kernel's types once, and keep their 5 MB until
 * they are told to forget them. */
void kernel_types_forget(void);

/* Whether the kernel itself, modules aside, has such a type; of the kernel whose
 * /sys lies below @root, "" for the running one. */
bool kernel_has_type(const char *root, const char *name);

/*
 * Offsets in bytes from a struct pci_dev to the two pointers of which one is to
 * its name: dev.init_name where that is set, else dev.kobj.name (dev_name() in
 * the kernel's include/linux/device.h). Returns 0, or -ENOENT if the kernel has
 * no BTF or not these types.
 */
int pci_name_offsets(int *init_name, int *name);

/* Bytes from slot_tbl_waitq to slot_tbl_state in nfsv4's nfs4_slot_table; 0 if
 * nfsv4 is not loaded or has no BTF. */
int session_state_offset(void);

#endif
