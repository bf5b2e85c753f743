// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/bpf_support.h"

#include <bpf/bpf.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/file_text.h"

/* Static, because libbpf's print callback takes no context. Set once. */
static const struct log *message_log;
static char error_log[1536];
char bpf_refused_program[64];

/* libbpf names the program only in its message: "prog 'NAME': failed to ...". */
static void note_refused(const char *text)
{
	struct span rest = span_of(text), name;

	if (*bpf_refused_program || !span_take_through(&rest, "prog '"))
		return;
	name = span_take_until(&rest, "'");
	if (span_take(&rest, "': failed to"))
		span_copy(name, bpf_refused_program, sizeof(bpf_refused_program));
}

/* If the log grows too long, keeps its last whole lines, which have the verifier's reason. */
static void append_error(const char *text)
{
	const int room = sizeof(error_log) - 1;
	char *all, *tail, *line;
	int len = asprintf(&all, "%s%s", error_log, text);

	if (len < 0)
		return;
	tail = len > room ? all + (len - room) : all;
	line = len > room ? strchr(tail, '\n') : NULL;
	if (line && line[1])
		tail = line + 1;
	snprintf(error_log, sizeof(error_log), "%s", tail);
	free(all);
}

static int print_message(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t len, first;
	FREED char *text = NULL;

	if (level != LIBBPF_WARN && !message_log->verbose)
		return 0;
	/* The verifier's log is one message of any length. */
	if (vasprintf(&text, format, args) < 0)
		return 0;
	len = strlen(text);
	if (level == LIBBPF_WARN) {
		note_refused(text);
		append_error(text);
	}
	while (len && text[len - 1] == '\n')
		text[--len] = 0;
	first = strcspn(text, "\n");
	log_write_lines(message_log, LOG_LEVEL_DEBUG, text + first + (text[first] == '\n'), "%.*s",
			(int)first, text);
	return 0;
}

void bpf_messages_init(const struct log *log)
{
	message_log = log;
	libbpf_set_print(print_message);
}

/* libbpf removes it as well, but only at the first load, when the process may have given up CAP_SYS_RESOURCE. A failure shows at that load. */
void bpf_remove_memory_limit(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &none);
}

const char *bpf_error_log(void)
{
	return error_log;
}

void bpf_error_log_clear(void)
{
	error_log[0] = 0;
	bpf_refused_program[0] = 0;
}

const char *bpf_reason(int error)
{
	static char feature[512];

	return bpf_refusal_explain(feature, sizeof(feature), error_log) ? feature : strerror(error);
}

#define LOG_FIGURES 4 /* the kernel's BPF_LOG_STATS */

void bpf_report_verified(const struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
		if (message_log->verbose)
			bpf_program__set_log_level(program, LOG_FIGURES);
}

/* Kernel memory of the map or program behind @fd. */
static uint64_t memory_of(int fd)
{
	return file_number(PATHF("/proc/self/fdinfo/%d", fd), "memlock:", 10);
}

/* Of a program with functions the kernel accounts a part: each of them, the program too, also has at least a page. */
static uint64_t program_memory(const struct bpf_program *program)
{
	struct bpf_prog_info info;

	bpf_program_info(program, &info);
	return memory_of(bpf_program__fd(program)) + info.jited_prog_len +
	       (info.nr_jited_ksyms > 1 ? info.nr_jited_ksyms : 0) *
		       (uint64_t)sysconf(_SC_PAGESIZE);
}

void bpf_object_memory(const struct bpf_object *object, struct bpf_memory *m)
{
	struct bpf_program *program;
	const struct bpf_map *map;

	*m = (struct bpf_memory){};
	bpf_object__for_each_map(map, object)
		m->maps += memory_of(bpf_map__fd(map));
	bpf_object__for_each_program(program, object)
		m->programs += program_memory(program);
}

uint64_t bpf_event_memory(void)
{
	return (uint64_t)libbpf_num_possible_cpus() * 4 * 8192;
}

bool bpf_program_info(const struct bpf_program *program, struct bpf_prog_info *info)
{
	__u32 size = sizeof(*info);
	int fd = bpf_program__fd(program);

	*info = (struct bpf_prog_info){};
	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, info, &size);
}

uint32_t bpf_run(const struct bpf_program *program, const void *arguments, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = arguments, .ctx_size_in = (uint32_t)size);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts) ? 0 : opts.retval;
}

uint32_t bpf_shards(uint32_t max)
{
	int cpus = libbpf_num_possible_cpus();
	uint32_t shards = 1;

	while ((int)shards < cpus && shards < max)
		shards *= 2;
	return shards;
}

const char *bpf_advice(int error)
{
	if (strstr(bpf_reason(error), "lockdown"))
		return "boot with lockdown=integrity, or without lockdown";
	switch (error) {
	case ENOSYS: /* of a filter of system calls, if the kernel has made the folder of bpf() */
		if (access("/sys/fs/bpf", F_OK) && errno == ENOENT)
			return "boot a kernel with CONFIG_BPF_SYSCALL=y";
		/* fall through */
	case EPERM:
		return "run it as root, outside of user namespaces (in a container: privileged), and "
		       "check that /sys/kernel/security/lockdown is not 'confidentiality'";
	case ENOMEM:
		return "not enough memory for the maps: raise the memory limit of the service or container";
	case ESRCH:
	case ENOENT:
	case EACCES:
	case EINVAL:
	case E2BIG:
		return "please report this with your kernel version (uname -r)";
	default:
		return "run again with --verbose for libbpf's own messages";
	}
}

void bpf_ring_read(const struct bpf_map *map, ring_buffer_sample_fn take, void *context)
{
	int fd = bpf_map__fd(map);
	struct pollfd any = { .fd = fd, .events = POLLIN };
	struct ring_buffer *ring =
		poll(&any, 1, 0) > 0 ? ring_buffer__new(fd, take, context, NULL) : NULL;

	if (ring)
		ring_buffer__consume(ring);
	ring_buffer__free(ring);
}

void *bpf_values_map_first(const struct bpf_map *map, size_t count, int protection)
{
	void *values = mmap(NULL, count * bpf_map__value_size(map), protection, MAP_SHARED,
			    bpf_map__fd(map), 0);

	return values == MAP_FAILED ? NULL : values;
}

void bpf_values_unmap_first(const struct bpf_map *map, size_t count, const void *values)
{
	if (values)
		munmap((void *)values, count * bpf_map__value_size(map));
}

void *bpf_values_map(const struct bpf_map *map, int protection)
{
	return bpf_values_map_first(map, bpf_map__max_entries(map), protection);
}

void bpf_values_unmap(const struct bpf_map *map, const void *values)
{
	if (values) /* otherwise there may be no map */
		bpf_values_unmap_first(map, bpf_map__max_entries(map), values);
}

/* The addresses stay taken: libbpf unmaps all of the value. */
void bpf_values_drop(volatile void *values, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	char *from = (char *)values + -(uintptr_t)values % page, *end = (char *)values + size;

	if (from < end)
		mmap(from, (size_t)(end - from) / page * page, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void bpf_array_read(const struct bpf_map *map, uint32_t index, void *value)
{
	if (bpf_map_lookup_elem(bpf_map__fd(map), &index, value)) {
		memset(value, 0, bpf_map__value_size(map));
		memory_count_failure();
	}
}

/* ---- a copy while a program writes ---- */

/* How often to copy again at once. A program that still writes after these tries was interrupted. */
#define COPY_TRIES 16
#define PAUSE_NS 1000000

/* Waits, so that an interrupted program can continue. False: this snapshot has waited long enough. */
static bool pause_for_program(unsigned int *left)
{
	const struct timespec turn = { .tv_nsec = PAUSE_NS };

	if (!*left)
		return false;
	--*left;
	nanosleep(&turn, NULL);
	return true;
}

bool bpf_copy(void *to, const struct bpf_value *from, unsigned int *pauses_left, uint64_t *before)
{
	uint64_t begun;
	int tries = 0;

	do {
		*before = *from->finished;
		__sync_synchronize();
		memcpy(to, (const void *)from->bytes, from->size);
		__sync_synchronize();
		begun = *from->started;
	} while (begun != *before && (++tries < COPY_TRIES || pause_for_program(pauses_left)));
	return begun == *before;
}

/* ---- why the kernel refused a program: the meaning of libbpf's and the verifier's messages ---- */

#define PARTS 3
#define PART_SIZE 128 /* bytes, with the NUL */

/* The first row that matches, words and parts, wins. */
static const struct {
	const char *words; /* the message contains these */
	const char *scan; /* sscanf() format of what follows; parts are texts */
	int parts;
	const char *feature; /* snprintf() format for the parts */
} rows[] = {
#define TABLE_ROW(words, scan, parts, feature) { words, scan, parts, feature },
#include "bpf_refusals.inc"
};

static bool explain_row(char *feature, size_t size, const char *words, size_t r)
{
	char part[PARTS][PART_SIZE] = {};
	const char *at = words;

	while ((at = strstr(at, rows[r].words))) {
		at += strlen(rows[r].words);
		/* Parts that are not in the format stay empty. */
		if (rows[r].parts &&
		    sscanf(at, rows[r].scan, part[0], part[1], part[2]) < rows[r].parts)
			continue;
		snprintf(feature, size, rows[r].feature, part[0], part[1], part[2]);
		return true;
	}
	return false;
}

/* The verifier's log ends with its reason, lines of figures, and libbpf's mark. */
static bool explain_verdict(char *feature, size_t size, const char *words)
{
	const char *end = strstr(words, "\n-- END PROG LOAD LOG --"), *begin;
	const char *figures =
		strstr(words, "\nverification time ") ?: strstr(words, "\nprocessed ");
	const char *mark = "-- BEGIN PROG LOAD LOG --", *good = " is safe for any args that match ";

	if (figures && figures < end)
		end = figures;
	if (!end)
		return false;
	for (begin = end; begin > words && begin[-1] != '\n'; begin--)
		;
	if (memmem(begin, (size_t)(end - begin), mark, strlen(mark)) ||
	    memmem(begin, (size_t)(end - begin), good, strlen(good)))
		snprintf(feature, size,
			 "the kernel's verifier accepts the program, but something else "
			 "in the kernel refuses it, such as a security module");
	else
		snprintf(feature, size, "the kernel's verifier reports: %.*s", (int)(end - begin),
			 begin);
	return true;
}

bool bpf_refusal_explain(char *feature, size_t size, const char *words)
{
	for (size_t r = 0; r < COUNT(rows); r++)
		if (explain_row(feature, size, words, r))
			return true;
	if (explain_verdict(feature, size, words))
		return true;
	/* It did not reach the verifier. */
	if (!strstr(words, "BPF program load failed: Invalid argument"))
		return false;
	snprintf(feature, size,
		 "the kernel gives no reason; it may not support programs of this type");
	return true;
}
