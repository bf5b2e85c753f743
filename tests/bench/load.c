// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A fixed amount of I/O, the same each time: what the bench measures with and without an observer. It does as little
 * as possible itself, so that what is added to a call is not hidden behind a load generator's own work.
 *
 *   load FILE read DEPTH COUNT SEED    COUNT random 4 KiB reads, DEPTH at a time
 *   load FILE write 1 COUNT SEED       COUNT sequential writes of 1 MiB, then fsync
 *   load tasks COUNT                   COUNT threads that sleep, until it is killed
 *
 * The seed determines the order of the blocks.
 *
 * Prints the nanoseconds that it took. The file must hold 16 MiB. */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096
#define BLOCKS (16 * 1024 * 1024 / BLOCK)
#define CHUNK ((ssize_t)1024 * 1024)
#define MAX_DEPTH 1024

static void fail(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* xorshift64: the same seed, the same blocks in the same order. */
static uint64_t next_block(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % BLOCKS;
}

static void submit(aio_context_t context, struct iocb *one, uint64_t *state)
{
	one->aio_offset = (int64_t)(next_block(state) * BLOCK);
	if (syscall(SYS_io_submit, context, 1L, &one) != 1)
		fail("io_submit");
}

/* Returns how long it took. */
static uint64_t read_blocks(int fd, unsigned int depth, unsigned int count, uint64_t state)
{
	static struct iocb requests[MAX_DEPTH];
	static struct io_event events[MAX_DEPTH];
	static char *buffers;
	unsigned int begun = 0, ended = 0;
	aio_context_t context = 0;
	uint64_t begin;

	if (!buffers && posix_memalign((void **)&buffers, BLOCK, (size_t)BLOCK * depth))
		fail("memory");
	if (syscall(SYS_io_setup, depth, &context))
		fail("io_setup");
	for (unsigned int i = 0; i < depth; i++) {
		requests[i].aio_lio_opcode = IOCB_CMD_PREAD;
		requests[i].aio_fildes = (uint32_t)fd;
		requests[i].aio_buf = (uintptr_t)(buffers + (size_t)i * BLOCK);
		requests[i].aio_nbytes = BLOCK;
		requests[i].aio_data = i;
	}
	begin = now();
	for (unsigned int i = 0; i < depth && begun < count; i++, begun++)
		submit(context, &requests[i], &state);
	while (ended < count) {
		long got = syscall(SYS_io_getevents, context, 1L, (long)depth, events, NULL);

		if (got < 1)
			fail("io_getevents");
		for (long i = 0; i < got; i++, ended++) {
			if (events[i].res != BLOCK)
				fail("short read");
			if (begun == count)
				continue;
			begun++;
			submit(context, &requests[events[i].data], &state);
		}
	}
	begin = now() - begin;
	syscall(SYS_io_destroy, context); /* waits for RCU: not timed */
	return begin;
}

static uint64_t write_chunks(int fd, unsigned int count)
{
	static char chunk[CHUNK];
	uint64_t begin = now();

	for (unsigned int i = 0; i < count; i++)
		if (pwrite(fd, chunk, CHUNK, (off_t)i % 16 * CHUNK) != CHUNK)
			fail("write");
	if (fsync(fd))
		fail("fsync");
	return now() - begin;
}

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

static int sleep_in(unsigned int count)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, (size_t)PTHREAD_STACK_MIN);
	for (unsigned int i = 0; i < count; i++) {
		errno = pthread_create(&thread, &small, sleep_on, NULL);
		if (errno)
			fail("threads");
	}
	printf("%u threads\n", count);
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int depth, count;
	uint64_t took, seed;
	bool writes;
	int fd;

	if (argc == 3 && !strcmp(argv[1], "tasks"))
		return sleep_in((unsigned int)strtoul(argv[2], NULL, 10));
	if (argc != 6) {
		fputs("usage: load FILE read|write DEPTH COUNT SEED, or load tasks COUNT\n",
		      stderr);
		return 2;
	}
	writes = !strcmp(argv[2], "write");
	depth = (unsigned int)strtoul(argv[3], NULL, 10);
	count = (unsigned int)strtoul(argv[4], NULL, 10);
	seed = 0x9e3779b97f4a7c15 + strtoull(argv[5], NULL, 10);
	if (!depth || depth > MAX_DEPTH || !count) {
		fputs("load: DEPTH is from 1 to 1024, COUNT at least 1\n", stderr);
		return 2;
	}
	fd = open(argv[1], writes ? O_WRONLY : O_RDONLY | O_DIRECT);
	if (fd < 0)
		fail(argv[1]);
	/* Connections, caches and slabs are warm when the clock is read. */
	if (!writes)
		read_blocks(fd, depth, count < 500 ? count : 500, seed);
	else
		write_chunks(fd, 1);
	took = writes ? write_chunks(fd, count) : read_blocks(fd, depth, count, seed);
	printf("%llu\n", (unsigned long long)took);
	return 0;
}
