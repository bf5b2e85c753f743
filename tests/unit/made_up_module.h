/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests of sunrpc: in the made-up tree, a loaded one with a build id, files of modules, a healthy machine. */
#pragma once

#include <bpf/btf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include "made_up_tree.h"

/* The note of a loaded module with the build id 61626364, and another one. */
#define NOTE "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd"
#define PLACE "/usr/lib/debug/.build-id/61/626364.debug"
#define OTHER_NOTE "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abce"

static inline void add_section(Elf *elf, size_t name, const void *bytes, size_t size)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	GElf_Shdr header;

	data->d_buf = (void *)bytes;
	data->d_size = size;
	data->d_align = 4;
	gelf_getshdr(section, &header);
	header.sh_name = (GElf_Word)name;
	header.sh_type = name == 1 ? SHT_STRTAB : SHT_PROGBITS;
	gelf_update_shdr(section, &header);
}

/* An ELF file of a module with this build id, and with these types if they are not NULL. */
static inline void put_module(const char *path, const char *note, const struct btf *types)
{
	static const char names[] = "\0.shstrtab\0.note.gnu.build-id\0.BTF";
	char full[128];
	GElf_Ehdr header;
	uint32_t size;
	const void *bytes = types ? btf__raw_data(types, &size) : NULL;
	Elf *elf;
	int fd;

	snprintf(full, sizeof(full), "%s%s", root, path);
	fd = open(full, O_RDWR | O_CREAT | O_TRUNC, 0644);
	elf_version(EV_CURRENT);
	elf = not_null(elf_begin(fd, ELF_C_WRITE, NULL));
	assert_non_null(gelf_newehdr(elf, ELFCLASS64));
	gelf_getehdr(elf, &header);
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_type = ET_REL;
	header.e_shstrndx = 1;
	gelf_update_ehdr(elf, &header);
	add_section(elf, 1, names, sizeof(names));
	add_section(elf, 11, note, sizeof(NOTE) - 1);
	if (bytes)
		add_section(elf, 30, bytes, size);
	assert_true(elf_update(elf, ELF_C_WRITE) > 0);
	elf_end(elf);
	close(fd);
}

static inline void load_module(void)
{
	put_bytes("/sys/module/sunrpc/notes/.note.gnu.build-id", NOTE, sizeof(NOTE) - 1);
}

/* A healthy machine, for root: the module sunrpc is loaded, and has its types. */
static inline void put_machine(void)
{
	static const char hooks[] = "\0btf_trace_rpc_task_sleep\0btf_trace_rpc_task_wakeup\0";

	put("/sys/module/sunrpc/initstate", "live\n");
	put("/sys/module/sunrpc/srcversion", "0123ABCD\n");
	put_bytes("/sys/kernel/btf/sunrpc", hooks, sizeof(hooks));
	put_types("btf_trace_console");
	put("/sys/fs/bpf/x", "");
	put("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n");
	put("/proc/self/mountstats", "");
	put("/proc/self/mounts", "nas:/data /mnt/a\\040b nfs4 rw 0 0\nproc /proc proc rw 0 0\n");
	put("/sys/kernel/tracing/instances/x", "");
	put("/sys/bus/event_source/devices/kprobe/type", "8\n");
	put("/sys/kernel/tracing/events/sunrpc/rpc_stats_latency/id", "1\n");
	put("/sys/kernel/debug/sunrpc/rpc_clnt/0/info", "");
	put("/sys/kernel/sunrpc/xprt-switches/switch-0/x", "");
	put("/dev/kmsg", "");
}
