// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which files are accepted for the types of a loaded module. */
#include "kernel/types_file.h"

#include <bpf/btf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include "made_up_tree.h"
#include "unit.h"

#define NOTE "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd"
#define OTHER_NOTE "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abce"

TEST_EACH(enter, leave)

static void add_section(Elf *elf, size_t name, const void *bytes, size_t size)
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
static void put_module(const char *path, const char *note, const struct btf *types)
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
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	assert_non_null(elf);
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

/* Reads the file in the made-up tree: NULL, or why it is refused. */
static const char *refused(const char *path)
{
	static char reason[512];
	char full[128];
	struct btf *types;

	snprintf(full, sizeof(full), "%s%s", root, path);
	types = types_file_read(full, root, "sunrpc", reason, sizeof(reason));
	if (!types)
		return reason;
	assert_true(btf__find_by_name_kind(types, "rpc_task", BTF_KIND_STRUCT) > 0);
	btf__free(types);
	return NULL;
}

static void load_module(void)
{
	put_bytes("/sys/module/sunrpc/notes/.note.gnu.build-id", NOTE, sizeof(NOTE) - 1);
}

TEST(types_of_the_loaded_module_are_read)
{
	struct btf *types = btf__new_empty();

	assert_true(btf__add_struct(types, "rpc_task", 8) > 0);
	load_module();
	put_module("/sunrpc.ko", NOTE, types);
	assert_null(refused("/sunrpc.ko"));
	put_module("/other.ko", OTHER_NOTE, types);
	assert_string_equal(refused("/other.ko"),
			    "its build id is not that of the loaded module: it is another build");
	btf__free(types);
}

TEST(a_file_without_types_is_refused)
{
	load_module();
	put_module("/sunrpc.ko", NOTE, NULL);
	assert_string_equal(refused("/sunrpc.ko"),
			    "it has no types: pahole has not been run on it");
}

TEST(a_file_of_another_kind_is_refused)
{
	load_module();
	put("/text", "no ELF file");
	assert_string_equal(refused("/text"), "it is not an ELF file");
	put("/empty", "");
	assert_string_equal(refused("/empty"), "it is not an ELF file");
	assert_string_equal(refused("/absent"), "No such file or directory");
}

TEST(a_module_without_build_id_has_no_file)
{
	put("/text", "no ELF file");
	assert_non_null(strstr(refused("/text"), "the loaded module has no build id: "));
}
