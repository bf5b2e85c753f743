// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libFuzzer entry for /etc/fstab, and for paths as options name them: there are no more mounts than there is room
 * for, none twice, and each path is terminated and as mountinfo has it. The same bytes are mountinfo and mountstats:
 * a mount is asked only if it is there, and may be written if it should. */
#include "fuzz.h"
#include "health/node.h"

static void look(const char *text, size_t size, struct node_mount *fact)
{
	struct span rest = { text, text + size };
	struct mountinfo_line m;

	fact->state = MOUNT_ABSENT;
	while (span_left(rest))
		if (mountinfo_read_line(&m, span_take_line(&rest)))
			node_mount_look(fact, &m);
	require_string(fact->device);
	require(fact->state <= MOUNT_READ_ONLY);
	require(fact->state == MOUNT_FINE || !*fact->device);
	require(fact->state != MOUNT_READ_ONLY || !fact->read_only);
	mount_replies((struct span){ text, text + size }, fact->path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node_state facts = {};
	char *text = string_of(data, size);

	node_mounts_add_fstab(&facts, text, size);
	node_mounts_add(&facts, text);
	require(facts.mount_count <= NODE_MOUNTS_MAX);
	for (size_t i = 0; i < facts.mount_count; i++) {
		const char *path = facts.mounts[i].path;
		size_t len;

		require(memchr(path, 0, LABEL_SIZE) != NULL);
		len = strlen(path);
		require(!strstr(path, "//") && (len < 2 || path[len - 1] != '/'));
		for (size_t k = 0; k < i; k++)
			require(strcmp(path, facts.mounts[k].path) != 0);
		look(text, size, &facts.mounts[i]);
	}
	look(text, size, &(struct node_mount){ .path = "/mnt/nas" });
	free(text);
	return 0;
}
