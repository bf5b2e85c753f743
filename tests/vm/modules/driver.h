/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the two halves of the test driver share: the names and prototypes are those of NVIDIA's. */
#ifndef DRIVER_H
#define DRIVER_H

#include <linux/pci.h>
#include <linux/kernel.h> /* va_list, wherever that is */

void nv_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap);
void nvswitch_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap);

#endif
