// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for files of types: whatever they hold, they are refused with one line, or their types can be
 * copied for the programs. The first byte says whether the others are a whole file, or the types in a good one. */
#include <elf.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "kernel/kernel_types.h"
#include "rpc/btf/btf.h"
#include "rpc_probed.skel.h"

#define NOTES "/sys/module/sunrpc/notes"
#define MAX_TYPES 65536

static char root[] = "/dev/shm/xidscope-fuzz.XXXXXX";
static char path[sizeof(root) + 8];
static struct rpc_probed_bpf *programs;

static const uint8_t note[] = { 4, 0, 0,   0,   4,   0, 0,   0,   3,   0,
				0, 0, 'G', 'N', 'U', 0, 'a', 'b', 'c', 'd' };
static const char names[] = "\0.note.gnu.build-id\0.BTF";

struct file {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3]; /* of names, the note, types */
	uint8_t note[sizeof(note)];
	char names[sizeof(names)];
	uint8_t types[MAX_TYPES];
};

static void put(const char *name, const void *bytes, size_t size)
{
	FILE *f = fopen(name, "w");

	require(f && fwrite(bytes, 1, size, f) == size && !fclose(f));
}

static void remove_all(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	require(!system(command));
}

static void prepare(void)
{
	char name[128], command[128];

	require(mkdtemp(root) != NULL);
	atexit(remove_all);
	snprintf(command, sizeof(command), "mkdir -p '%s" NOTES "'", root);
	require(!system(command));
	snprintf(name, sizeof(name), "%s" NOTES "/.note.gnu.build-id", root);
	put(name, note, sizeof(note));
	snprintf(path, sizeof(path), "%s/file", root);
	programs = rpc_probed_bpf__open();
	require(programs != NULL);
}

/* Puts the types into a file that is right otherwise. */
static void put_types(const uint8_t *types, size_t size)
{
	static struct file f = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB :
									   ELFDATA2MSB },
			    .e_shoff = offsetof(struct file, sections),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3 },
		.sections = { { .sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct file, names),
				.sh_size = sizeof(names) },
			      { .sh_name = 1,
				.sh_type = SHT_NOTE,
				.sh_offset = offsetof(struct file, note),
				.sh_size = sizeof(note) },
			      { .sh_name = 20,
				.sh_type = SHT_PROGBITS,
				.sh_offset = offsetof(struct file, types) } },
	};

	memcpy(f.note, note, sizeof(note));
	memcpy(f.names, names, sizeof(names));
	memcpy(f.types, types, size);
	f.sections[2].sh_size = size;
	put(path, &f, offsetof(struct file, types) + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf *types, *selected;
	char reason[200] = "";

	if (!size || size > MAX_TYPES)
		return 0;
	if (!programs)
		prepare();
	if (*data & 1)
		put(path, data + 1, size - 1);
	else
		put_types(data + 1, size - 1);
	types = types_file_read(path, root, "sunrpc", reason, sizeof(reason));
	if (!types) {
		require(*reason != 0);
		require_safe(reason, sizeof(reason));
		return 0;
	}
	kernel_types_offset(types, "nfs4_slot_table", "slot_tbl_waitq");
	selected = module_types_select(types, programs->obj);
	btf__free(selected);
	btf__free(types);
	return 0;
}
