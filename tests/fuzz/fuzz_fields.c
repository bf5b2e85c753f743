// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for lines of fields, numbers, PCI addresses and /proc/PID/stat: any bytes give fields inside the
 * text, in order, each line once; what is read of a span was there, and is written back the same. No name of a
 * process hides when it began. */
#include "fuzz.h"
#include "base/fields.h"
#include "base/pci_address.h"
#include "base/process.h"

static void require_message(struct fields *f, size_t field)
{
	char error[80];

	memset(error, 'x', sizeof(error));
	f->error = error;
	f->error_size = sizeof(error);
	fields_refuse(f, field, "is no such thing");
	require_safe(error, sizeof(error));
}

static void require_field(struct span field)
{
	char copy[24], text[24];
	uint64_t number;

	require(span_left(field) > 0);
	for (const char *c = field.at; c < field.end; c++)
		require(!*c || !strchr(" \t\r\n#", *c));
	if (span_copy(field, copy, sizeof(copy)))
		require(strlen(copy) == span_left(field) && span_is(field, copy));
	if (span_number(field, UINT64_MAX, &number)) {
		while (span_left(field) > 1 && *field.at == '0')
			field.at++;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
		require(span_is(field, text));
	}
}

static void require_addresses(struct span s)
{
	char text[PCI_ADDRESS_SIZE], again[PCI_ADDRESS_SIZE];
	struct pci_address address;
	uint64_t value;

	while (s.at < s.end) {
		const char *before = s.at;
		struct span own;

		if (pci_address_take(&s, &address)) {
			pci_address_text(text, &address);
			own = (struct span){ text, text + strlen(text) };
			require(pci_address_take(&own, &address) && own.at == own.end);
			pci_address_text(again, &address);
			require(!strcmp(text, again));
		} else if (!span_take_number(&s, 16, UINT32_MAX, &value)) {
			s.at++;
		}
		require(s.at > before && s.at <= s.end);
	}
}

/* @name: up to where its bytes end a string. */
static void require_start(const char *name)
{
	char stat[4200];
	uint64_t ticks;

	process_start_ticks(name, &ticks);
	snprintf(stat, sizeof(stat),
		 "7 (%.4000s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 9", name);
	require(process_start_ticks(stat, &ticks) && ticks == 4711);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size);
	struct fields f = { .rest = { text, text + size } };
	unsigned int line = 0;

	while (fields_next(&f)) {
		const char *end = text;

		require(f.line > line && f.count > 0);
		line = f.line;
		for (size_t i = 0; i < f.count && i < MAX_FIELDS; i++) {
			require(f.field[i].at >= end && f.field[i].end <= text + size);
			end = f.field[i].end;
			require_field(f.field[i]);
			require_message(&f, i);
		}
	}
	require_addresses((struct span){ text, text + size });
	require_start(text);
	free(text);
	return 0;
}
