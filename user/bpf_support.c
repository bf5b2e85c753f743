// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What every BPF object of the program needs around libbpf. */
#include "bpf_support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* libbpf's print callback takes no context: its state stands here, set once. */
static const struct log *message_log;
static char words[1536];

static int print_message(enum libbpf_print_level level, const char *format,
			 va_list args)
{
	char text[8192];
	size_t len, keep;
	int n;

	n = vsnprintf(text, sizeof(text), format, args);
	if (n < 0)
		return 0;
	len = strnlen(text, sizeof(text));
	if (level == LIBBPF_WARN) {
		/* Keep the tail: the verifier's verdict stands at the end. */
		if (len >= sizeof(words)) {
			memcpy(words, text + len - (sizeof(words) - 1),
			       sizeof(words));
		} else {
			keep = strlen(words);
			if (keep + len >= sizeof(words)) {
				memmove(words, words + keep + len + 1 - sizeof(words),
					sizeof(words) - 1 - len);
				keep = sizeof(words) - 1 - len;
			}
			memcpy(words + keep, text, len + 1);
		}
	}
	while (len && text[len - 1] == '\n')
		text[--len] = 0;
	log_debug(message_log, "%s", text);
	return 0;
}

void bpf_messages_init(const struct log *log)
{
	message_log = log;
	libbpf_set_print(print_message);
}

const char *bpf_last_words(void)
{
	return words;
}

void bpf_messages_forget(void)
{
	words[0] = 0;
}

uint64_t bpf_object_memory(const struct bpf_object *object)
{
	unsigned long long bytes, total = 0;
	const struct bpf_map *map;
	char path[64], line[128];
	FILE *info;

	bpf_object__for_each_map(map, object) {
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d",
			 bpf_map__fd(map));
		info = fopen(path, "re");
		if (!info)
			continue;
		while (fgets(line, sizeof(line), info))
			if (sscanf(line, "memlock: %llu", &bytes) == 1)
				total += bytes;
		fclose(info);
	}
	return total;
}

const char *bpf_advice(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return "run it as root (in a container: privileged), and see "
		       "that /sys/kernel/security/lockdown is not at "
		       "'confidentiality'";
	case ESRCH:
	case ENOENT:
		return "the kernel lacks a tracepoint or type that is needed";
	case ENOMEM:
		return "not enough memory for the maps: raise the memory limit "
		       "of the service or container";
	case EINVAL:
	case E2BIG:
		return "the kernel's verifier refused a program; please report "
		       "the lines above with your kernel version";
	default:
		return "run again with --verbose for libbpf's own messages";
	}
}
