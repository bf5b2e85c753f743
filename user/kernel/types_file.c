// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

#include <endian.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/mountinfo.h"
#include "kernel/kernel_types.h"

#define DAMAGED "its types are damaged"
#define BUILD_ID ".note.gnu.build-id"
#define GNU_NAME 4 /* bytes of "GNU" in a note */

/* More than any module has: sunrpc's types are 0.4 MB if they are complete. */
#define NOTE_MAX 4096
#define NAMES_MAX (1 << 20)
#define TYPES_MAX (16 << 20)

#define NATIVE_ORDER (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)

/* ---- the file: nothing in it is trusted, and a process of its own reads it ---- */

static Elf_Scn *find_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *found;
	size_t names;

	/* All names are read at once. */
	if (elf_getshdrstrndx(elf, &names) || !gelf_getshdr(elf_getscn(elf, names), &header) ||
	    header.sh_size > NAMES_MAX)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		found = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) :
							 NULL;
		if (found && header.sh_type != SHT_NOBITS && !strcmp(found, name))
			break;
	}
	return section;
}

/* The bytes of a section of the file, valid until elf_end(); NULL: some are missing, or there are more than @max. */
static const Elf_Data *read_section(Elf_Scn *section, size_t max)
{
	GElf_Shdr header;

	return gelf_getshdr(section, &header) && header.sh_size <= max ?
		       elf_rawdata(section, NULL) :
		       NULL;
}

static bool may_hang(const char *root, const char *path)
{
	char source[160];

	return mounts_find_network(root, -1, path, false, source, sizeof(source));
}

/* Opens the file. Returns NULL, or why it cannot be read. */
static const char *open_file(int *fd, const char *root, const char *path)
{
	struct stat status;

	if (may_hang(root, path))
		return "it is on a file system that may stop answering; copy it to a local one";
	*fd = file_open_regular(path, 0, &status);
	if (*fd < 0)
		return *fd == -EINVAL ? file_text_error(*fd) : strerror(-*fd);
	/* The types say what is read of the kernel's memory and shown. */
	return file_is_anybodys(&status) ? "others than root may write to it" : NULL;
}

static const char *check_elf(Elf *elf)
{
	const char *ident = elf_getident(elf, NULL);

	if (elf_kind(elf) != ELF_K_ELF || !ident)
		return "it is not an ELF file";
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != NATIVE_ORDER)
		return "it is an ELF file of another architecture";
	return NULL;
}

/* ---- the build id ---- */

static bool read_note(struct file_text *note, const char *root, const char *module)
{
	return !file_text_read(note, PATHF("%s/sys/module/%s/notes/" BUILD_ID, root, module),
			       NOTE_MAX) &&
	       note->len;
}

bool module_build_id(char id[MODULE_BUILD_ID], const char *root, const char *module)
{
	FILE_TEXT note = {};
	size_t begin = sizeof(Elf64_Nhdr) + GNU_NAME, len = 0;
	Elf64_Nhdr header;

	*id = 0;
	if (read_note(&note, root, module) && note.len > begin) {
		memcpy(&header, note.bytes, sizeof(header));
		if (header.n_namesz == GNU_NAME && header.n_descsz <= note.len - begin)
			len = header.n_descsz;
	}
	if (len < 2 || len > 64)
		len = 0;
	for (size_t i = 0; i < len; i++)
		snprintf(id + 2 * i, 3, "%02x", (unsigned char)note.bytes[begin + i]);
	return len;
}

bool types_file_place(char *path, size_t size, const char *root, const char *module)
{
	char id[MODULE_BUILD_ID];

	*path = 0;
	if (!module_build_id(id, root, module))
		return false;
	snprintf(path, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	return true;
}

static void send_version(const void *path, FILE *out)
{
	struct stat file;

	if (!may_hang("", path) && !stat(path, &file))
		fprintf(out, "%" PRIu64,
			(uint64_t)file.st_ino * 31 + (uint64_t)file.st_size * 17 +
				(uint64_t)file.st_mtim.tv_sec * 1000000000 +
				(uint64_t)file.st_mtim.tv_nsec);
}

uint64_t types_file_version(const char *path, const char *module)
{
	char place[PATH_MAX];
	FILE_TEXT version = {};

	if (!path && types_file_place(place, sizeof(place), "", module))
		path = place;
	if (path)
		helper_ask_once(&version, send_version, path);
	return version.len ? strtoull(version.bytes, NULL, 10) : 0;
}

bool module_is_loaded(const char *root, const char *name)
{
	return !access(PATHF("%s/sys/module/%s/initstate", root, name), F_OK);
}

/* A built-in module may have no folder in sysfs. Its types are those of the kernel, which then has a struct that no other
 * part of it uses. What uses sunrpc is built in only if sunrpc is. */
static bool is_built_in(const char *root, const char *module)
{
	static const struct {
		const char *module, *type;
	} * row, structs[] = {
		{ "sunrpc", "rpc_task" },
		{ "nfs", "nfs_pgio_header" },
		{ "nfsv4", "nfs4_slot_table" },
		{ "rpcrdma", "rpcrdma_xprt" },
	};

	if (module_is_loaded(root, module) || module_is_loaded(root, "sunrpc") ||
	    access(PATHF("%s/sys/module/sunrpc", root), F_OK))
		return false;
	row = ARRAY_FIND(s, structs, COUNT(structs), !strcmp(s->module, module));
	return row && kernel_has_type(root, row->type);
}

enum types_place types_place_find(const char *root, const char *module)
{
	char place[PATH_MAX];

	if (!access(PATHF("%s/sys/kernel/btf/%s", root, module), F_OK))
		return TYPES_MODULE;
	if (types_file_place(place, sizeof(place), root, module))
		return types_file_version(PATHF("%s%s", root, place), module) ? TYPES_FILE :
										TYPES_NOWHERE;
	return is_built_in(root, module) ? TYPES_KERNEL : TYPES_NOWHERE;
}

/* Returns NULL, or why the file is not that of the loaded module. */
static const char *check_build_id(Elf *elf, const char *root, const char *module)
{
	const Elf_Data *note = read_section(find_section(elf, BUILD_ID), NOTE_MAX);
	FILE_TEXT loaded = {};

	if (!note || !note->d_size)
		return "it has no build id, or is incomplete";
	if (!read_note(&loaded, root, module))
		return "the loaded module has no build id in /sys/module/MODULE/notes";
	if (note->d_size != loaded.len || memcmp(note->d_buf, loaded.bytes, loaded.len) != 0)
		return "its build id is not that of the loaded module: it is another build";
	return NULL;
}

/* ---- the types ---- */

/* Whether libbpf may see these bytes. */
static bool is_header(const void *bytes, uint64_t size)
{
	const struct btf_header *h = bytes;

	return size > sizeof(*h) && h->magic == BTF_MAGIC && h->hdr_len == sizeof(*h) &&
	       (uint64_t)h->type_off + h->type_len <= h->str_off &&
	       (uint64_t)h->str_off + h->str_len <= size - sizeof(*h);
}

/* libbpf reads types that are based on others from a file only. */
static struct btf *new_split(const void *bytes, size_t size, struct btf *base)
{
	OPEN_FILE fd = memfd_create("types", MFD_CLOEXEC);

	return fd >= 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size ?
		       btf__parse_split(PATHF("/proc/self/fd/%d", fd), base) :
		       NULL;
}

struct wanted_types {
	const char *path, *root, *module;
};

/* Writes a NUL and the bytes of the types. Returns NULL, or why it cannot. */
static const char *write_types(Elf *elf, FILE *out)
{
	Elf_Scn *section = find_section(elf, BTF_ELF_SEC);
	const Elf_Data *data = read_section(section, TYPES_MAX);

	if (!section)
		return "it has no types: pahole has not been run on it";
	if (find_section(elf, ".BTF.base"))
		return "its types have a base of their own: remove its sections .BTF and "
		       ".BTF.base and run pahole on it";
	if (!data || !is_header(data->d_buf, data->d_size))
		return DAMAGED;
	fputc(0, out);
	fwrite(data->d_buf, 1, data->d_size, out);
	return NULL;
}

/* Writes the types, or why they cannot be read. */
static void send_types(const void *context, FILE *out)
{
	const struct wanted_types *w = context;
	OPEN_FILE fd = -1;
	const char *wrong = open_file(&fd, w->root, w->path);
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = wrong ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!wrong)
		wrong = check_elf(elf)                                  ?:
				check_build_id(elf, w->root, w->module) ?:
									  write_types(elf, out);
	fputs(wrong ?: "", out);
}

struct btf *types_file_read(const char *path, const char *root, const char *module, char *reason,
			    size_t size)
{
	const struct wanted_types wanted = { path, root, module };
	struct btf *types = NULL;
	FILE_TEXT answer = {};
	int err = helper_ask_once(&answer, send_types, &wanted);

	if (err || !answer.len || *answer.bytes) {
		snprintf(reason, size, "%s", err ? file_text_error(err) : answer.bytes ?: DAMAGED);
		return NULL;
	}
	types = btf__new(answer.bytes + 1, (__u32)answer.len - 1);
	/* libbpf refuses those that are based on the kernel's without them. */
	if (!types && kernel_types())
		types = new_split(answer.bytes + 1, answer.len - 1, kernel_types());
	if (!types)
		snprintf(reason, size, DAMAGED);
	return types;
}
