// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The types of a loaded module that carries none, from a file. */
#include "kernel/types_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file_text.h"
#include "kernel/kernel_types.h"

#define BUILD_ID ".note.gnu.build-id"
#define NOTE_MAX 4096

static Elf_Data *find_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	const char *own;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			return NULL;
		own = elf_strptr(elf, names, header.sh_name);
		if (own && !strcmp(own, name))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* Returns NULL, or why the file is not that of the loaded module, whose note is @loaded. */
static const char *check_sections(int fd, const struct file_text *loaded)
{
	const char *reason = NULL;
	Elf_Data *note;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		reason = "it is not an ELF file";
	} else {
		note = find_section(elf, BUILD_ID);
		if (!note || !note->d_size)
			reason = "it has no build id";
		else if (note->d_size != loaded->len ||
			 memcmp(note->d_buf, loaded->bytes, loaded->len) != 0)
			reason = "its build id is not that of the loaded module: it is "
				 "another build";
		else if (!find_section(elf, BTF_ELF_SEC))
			reason = "it has no types: pahole has not been run on it";
	}
	elf_end(elf);
	return reason;
}

/* @types, if all names in them can be read; otherwise frees them. */
static struct btf *complete(struct btf *types)
{
	for (__u32 id = 1; types && id < btf__type_cnt(types); id++)
		if (!btf__name_by_offset(types, btf__type_by_id(types, id)->name_off)) {
			btf__free(types);
			types = NULL;
		}
	return types;
}

static struct btf *read_types(const char *path)
{
	/* Those based on the kernel's are not complete without them. */
	return complete(btf__parse_elf(path, NULL)) ?: complete(kernel_types_with(path));
}

struct btf *types_file_read(const char *path, const char *root, const char *module, char *reason,
			    size_t size)
{
	struct file_text loaded = {};
	char note[PATH_MAX];
	struct btf *types = NULL;
	const char *wrong;
	int fd;

	snprintf(note, sizeof(note), "%s/sys/module/%s/notes/" BUILD_ID, root, module);
	if (file_text_read(&loaded, note, NOTE_MAX) || !loaded.len) {
		snprintf(reason, size, "the loaded module has no build id: %s cannot be read",
			 note);
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	wrong = fd < 0 ? strerror(errno) : check_sections(fd, &loaded);
	if (fd >= 0)
		close(fd);
	file_text_free(&loaded);
	if (!wrong) {
		types = read_types(path);
		wrong = types ? NULL : "its types are not based on those of this kernel";
	}
	if (wrong)
		snprintf(reason, size, "%s", wrong);
	return types;
}
