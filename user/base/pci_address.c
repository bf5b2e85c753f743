// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/pci_address.h"

bool pci_address_take(struct span *s, struct pci_address *address)
{
	uint64_t domain, bus, slot, function = 0;
	struct span rest = *s;

	if (!span_take_number(&rest, 16, UINT32_MAX, &domain) || !span_take(&rest, ":") ||
	    !span_take_number(&rest, 16, 0xff, &bus))
		return false;
	if (span_take(&rest, ":")) {
		if (!span_take_number(&rest, 16, 0xff, &slot))
			return false;
	} else {
		slot = bus;
		bus = domain;
		domain = 0;
	}
	if (bus > 0xff || (span_take(&rest, ".") && !span_take_number(&rest, 16, 7, &function)))
		return false;
	*address = (struct pci_address){ (uint32_t)domain, (uint8_t)bus, (uint8_t)slot,
					 (uint8_t)function };
	*s = rest;
	return true;
}

void pci_address_text(char text[PCI_ADDRESS_SIZE], const struct pci_address *address)
{
	snprintf(text, PCI_ADDRESS_SIZE, "%04x:%02x:%02x.%x", address->domain, address->bus,
		 address->slot, address->function);
}

bool is_gpu_uuid(struct span text)
{
	if (span_left(text) != 40 || !span_take(&text, "GPU-"))
		return false;
	span_take_run(&text, "0123456789abcdef-");
	return !span_left(text);
}
