// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libFuzzer entry for /etc/fstab, and for paths as options name them: there are no more mounts than
 * there is room for, none twice, and each path is terminated and as mountinfo has it.
 */
#include "fuzz.h"
#include "health/mount_probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node_facts facts = {};
	char *text = malloc(size + 1); /* for ASan */

	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	mount_facts_add_fstab(&facts, text, size);
	mount_facts_add(&facts, text);
	require(facts.mount_count <= MAX_MOUNT_FACTS);
	for (size_t i = 0; i < facts.mount_count; i++) {
		const char *path = facts.mounts[i].path;
		size_t len;

		require(memchr(path, 0, LABEL_SIZE) != NULL);
		len = strlen(path);
		require(!strstr(path, "//") && (len < 2 || path[len - 1] != '/'));
		for (size_t k = 0; k < i; k++)
			require(strcmp(path, facts.mounts[k].path) != 0);
	}
	free(text);
	return 0;
}
