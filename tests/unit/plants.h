/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests of what writes files: what another user can put in a folder in their place; and a full disk. */
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "made_up_tree.h"

enum plant { SYMLINK, DANGLING, HARD_LINK, FIFO, READ_FIFO, SOCKET, FOLDER, PLANTS };

static const int plant_errors[PLANTS] = {
	-ELOOP, -ELOOP, -EMLINK, -ENXIO, -ENXIO, -ENXIO, -EISDIR
};

static int planted = -1; /* who reads the FIFO, or has the socket */

/* A test in which something waits for what was planted ends with SIGALRM. */
AFTER_EACH()
{
	alarm(0);
	close(planted);
	planted = -1;
}

/* What is planted is not a file of ours: a victim of ours may be behind it. */
static inline void plant(const char *name, int kind)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	alarm(120);
	close(planted);
	planted = -1;
	put("/victim", "precious");
	if (kind == SYMLINK || kind == DANGLING) {
		const char *to = formatted("%s/%s", root, kind == SYMLINK ? "victim" : "made");

		assert_int_equal(symlink(to, name), 0);
	} else if (kind == HARD_LINK) {
		assert_int_equal(link("victim", name), 0);
	} else if (kind == FIFO || kind == READ_FIFO) {
		assert_int_equal(mkfifo(name, 0666), 0);
		if (kind == READ_FIFO)
			planted = open(name, O_RDONLY | O_NONBLOCK);
	} else if (kind == SOCKET) {
		snprintf(address.sun_path, sizeof(address.sun_path), "%s", name);
		planted = socket(AF_UNIX, SOCK_STREAM, 0);
		assert_int_equal(bind(planted, (struct sockaddr *)&address, sizeof(address)), 0);
	} else {
		assert_int_equal(mkdir(name, 0755), 0);
	}
}

static inline void assert_victim(void)
{
	struct stat st;

	assert_content("victim", "precious");
	assert_int_equal(stat("victim", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(access("made", F_OK), -1);
}

/* A limit on the size of files stands for a full disk: a write is cut short, the next fails. */
static inline void limit_file_size(rlim_t size)
{
	signal(SIGXFSZ, size == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ size, RLIM_INFINITY }), 0);
}
