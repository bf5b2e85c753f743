/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The running kernel's own word on its types (BTF), for what CO-RE cannot do.
 */
#ifndef XIDSCOPE_KERNEL_TYPES_H
#define XIDSCOPE_KERNEL_TYPES_H

/* Offset in bytes from a struct pci_dev to the pointer to its name (dev.kobj.name,
 * see dev_name() in the kernel's include/linux/device.h), or -errno: -ENOENT if
 * the kernel has no BTF or not these types. */
int pci_name_offset(void);

#endif
