/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the two halves of the test driver share: the names and prototypes are those of NVIDIA's. */
#pragma once

#include <linux/kernel.h> /* has va_list, too, whose own header has another name before 5.15 */
#include <linux/pci.h>

void nv_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap);
void nvswitch_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap);
