/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of PCI devices, by which the program names GPUs and switches; and UUIDs of GPUs. */
#pragma once

#include "base/span.h"

/* Room for the text of an address with a domain of up to eight digits. */
#define PCI_ADDRESS_SIZE 24

struct pci_address {
	uint32_t domain;
	uint8_t bus;
	uint8_t slot;
	uint8_t function;
};

/* Takes domain:bus:slot[.function], or bus:slot as the GPU driver printed until about 2010. Missing parts are 0. As with all
 * span_take_ functions, false leaves *@s unchanged. */
bool pci_address_take(struct span *s, struct pci_address *address);

/* Writes the form of sysfs, in lower case: "0000:c1:00.0". */
void pci_address_text(char text[PCI_ADDRESS_SIZE], const struct pci_address *address);

/* Whether @text is "GPU-" and the 36 digits and dashes of a UUID, as the driver writes it. */
bool is_gpu_uuid(struct span text);
