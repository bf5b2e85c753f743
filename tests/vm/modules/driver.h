/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of the test driver share: names and prototypes of the first two are NVIDIA's. */
#pragma once

#include <linux/kernel.h> /* has va_list, too, whose own header has another name before 5.15 */
#include <linux/pci.h>

void nv_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap);
void nvswitch_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap);

/* Makes a bus with @wanted GPUs; 0: none. gpus_remove() takes it away, with the GPUs, which no driver may have. */
int gpus_add(unsigned int wanted);
void gpus_remove(void);
