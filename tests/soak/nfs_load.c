// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The load of `make soak`: as many calls, or mounts and unmounts, as the machine makes, until SIGTERM. It counts them
 * itself, so that the kernel's count and the agent's can be held against a third one.
 *
 *   nfs_load calls DIR...
 *       a thread for each DIR, on NFS: one GETATTR after another, of a file of its own
 *   nfs_load mounts DIR PORT SERVER...
 *       mounts SERVER's export at DIR, makes a folder there and removes it, and unmounts,
 *       by another version each time, from one server after the other. PORT: mountd's
 *
 * Prints what it has made every ten seconds and at the end: "calls N", or "mounts N v3 N v4 N failed N". */
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPORT_SECONDS 10
#define VERSIONS (sizeof(versions) / sizeof(versions[0]))

/* In turn: every second mount is NFSv3. */
static const char *const versions[] = { "3", "4.1", "3", "4.2", "3", "4.0" };

static atomic_bool ended;
static atomic_ulong calls, mounts_v3, mounts_v4, failed;

static void end(int signal)
{
	(void)signal;
	ended = true;
}

static void report(bool of_mounts)
{
	if (of_mounts)
		printf("mounts %lu v3 %lu v4 %lu failed %lu\n", mounts_v3 + mounts_v4, mounts_v3,
		       mounts_v4, failed);
	else
		printf("calls %lu\n", calls);
	fflush(stdout);
}

/* What is asked of the server each time, and has no more to do there. */
static void *make_calls(void *dir)
{
	struct statx s;
	char *path;
	int fd;

	if (asprintf(&path, "%s/%lx", (const char *)dir, (unsigned long)pthread_self()) < 0)
		error(1, errno, "no memory");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		error(1, errno, "%s", path);
	while (!ended) {
		if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &s))
			error(1, errno, "statx %s", path);
		calls++;
	}
	close(fd);
	free(path);
	return NULL;
}

/* One mount; what fails is said. */
static bool mount_once(const char *dir, const char *port, const char *server, const char *version)
{
	const bool v3 = *version == '3';
	char source[128], options[512], made[256];
	const char *failing = NULL;

	snprintf(source, sizeof(source), "%s:%s", server, v3 ? "/export" : "/");
	if (v3)
		snprintf(options, sizeof(options),
			 "vers=3,proto=tcp,nolock,nosharecache,addr=%s,"
			 "mountproto=tcp,mountvers=3,mountaddr=%s,mountport=%s",
			 server, server, port);
	else
		snprintf(options, sizeof(options),
			 "vers=%s,proto=tcp,nosharecache,addr=%s,clientaddr=%s", version, server,
			 server);
	snprintf(made, sizeof(made), "%s/made-%d", dir, getpid());
	if (mount(source, dir, "nfs", 0, options)) {
		printf("cannot mount %s with %s: %s\n", source, options, strerror(errno));
		return false;
	}
	if (mkdir(made, 0700))
		failing = "make a folder";
	else if (rmdir(made))
		failing = "remove a folder";
	if (failing)
		printf("%s: cannot %s: %s\n", source, failing, strerror(errno));
	if (umount2(dir, 0)) {
		printf("cannot unmount %s: %s\n", source, strerror(errno));
		umount2(dir, MNT_DETACH);
		return false;
	}
	return !failing;
}

struct mounting {
	const char *dir, *port;
	char **servers;
	size_t count;
};

static void *make_mounts(void *job)
{
	const struct mounting *m = job;

	for (size_t i = 0; !ended; i++) {
		const char *version = versions[i % VERSIONS];

		if (!mount_once(m->dir, m->port, m->servers[i / VERSIONS % m->count], version))
			failed++;
		else if (*version == '3')
			mounts_v3++;
		else
			mounts_v4++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const bool of_mounts = argc > 4 && !strcmp(argv[1], "mounts");
	struct sigaction action = { .sa_handler = end };
	size_t threads = 0;
	pthread_t *thread = calloc((size_t)argc, sizeof(*thread));
	struct mounting m;

	if (!thread || argc < 3 || (!of_mounts && strcmp(argv[1], "calls") != 0)) {
		fputs("usage: nfs_load calls DIR... | mounts DIR PORT SERVER...\n", stderr);
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	if (of_mounts) {
		m = (struct mounting){ argv[2], argv[3], argv + 4, (size_t)argc - 4 };
		pthread_create(&thread[threads++], NULL, make_mounts, &m);
	} else {
		for (char **dir = argv + 2; *dir; dir++)
			pthread_create(&thread[threads++], NULL, make_calls, *dir);
	}
	for (int seconds = 0; !ended; seconds++) {
		if (seconds % REPORT_SECONDS == 0)
			report(of_mounts);
		sleep(1);
	}
	while (threads)
		pthread_join(thread[--threads], NULL);
	report(of_mounts);
	free(thread);
	return 0;
}
