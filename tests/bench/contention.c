// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves on this machine's own kernel and CPUs that CPUs that finish calls of one server at the same time do not wait
 * for each other's cache lines: what a call writes is written on one CPU, then on all at once, into a copy per CPU
 * (as the agent does) and, for comparison, all into one copy.
 *
 * Time is the thread's own CPU time; rounds are short and the three measurements take turns, so that other work on
 * the machine affects few rounds, and all three measurements equally: the lower quartile of each counts. Exit status
 * 77: it cannot be run here. Fails if the calls of several CPUs take 1.5 times as long as those of one. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rpc.h"
#include "contention.skel.h"

#define CALLS 50000
#define ROUNDS 100
#define MAX_CPUS 8

struct worker {
	pthread_t thread;
	pthread_barrier_t *start;
	int cpu, program;
	unsigned int own_copy;
	double ns; /* per call; negative: it failed */
};

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *work(void *argument)
{
	struct worker *w = argument;
	__u64 args[2] = { CALLS, w->own_copy };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));
	cpu_set_t cpus;
	double begin;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)w->cpu, &cpus);
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	pthread_barrier_wait(w->start);
	begin = cpu_ns();
	w->ns = bpf_prog_test_run_opts(w->program, &opts) ? -1 : (cpu_ns() - begin) / CALLS;
	return NULL;
}

/* Nanoseconds per call of the slowest of @cpus CPUs at once; negative: failed. */
static double measure(int program, int cpus, unsigned int own_copy)
{
	struct worker workers[MAX_CPUS];
	pthread_barrier_t start;
	double slowest = 0;

	pthread_barrier_init(&start, NULL, (unsigned int)cpus);
	for (int i = 0; i < cpus; i++) {
		workers[i] = (struct worker){
			.start = &start, .cpu = i, .program = program, .own_copy = own_copy
		};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return -1;
	}
	for (int i = 0; i < cpus; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].ns < 0)
			slowest = -1;
		else if (slowest >= 0 && slowest < workers[i].ns)
			slowest = workers[i].ns;
	}
	pthread_barrier_destroy(&start);
	return slowest;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(void)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), program;
	double rounds[3][ROUNDS], result[3];
	struct contention_bpf *bpf;

	if (cpus < 2) {
		puts("this machine has one CPU: nothing to contend for");
		return 77;
	}
	if (cpus > MAX_CPUS)
		cpus = MAX_CPUS;
	bpf = contention_bpf__open();
	if (!bpf)
		return 1;
	bpf->rodata->rpc_shard_mask = RPC_MAX_SHARDS - 1;
	if (contention_bpf__load(bpf)) {
		printf("this machine's kernel does not load the program: %s\n", strerror(errno));
		contention_bpf__destroy(bpf);
		return 77;
	}
	program = bpf_program__fd(bpf->progs.calls);
	for (int i = 0; i < ROUNDS; i++) {
		rounds[0][i] = measure(program, 1, 1);
		rounds[1][i] = measure(program, cpus, 1);
		rounds[2][i] = measure(program, cpus, 0);
	}
	contention_bpf__destroy(bpf);
	for (int i = 0; i < 3; i++) {
		qsort(rounds[i], ROUNDS, sizeof(double), by_value);
		result[i] = rounds[i][ROUNDS / 4];
		if (rounds[i][0] < 0) {
			puts("the kernel does not run the program");
			return 77;
		}
	}
	printf("| what a call writes | ns per call |\n| --- | --- |\n"
	       "| on 1 CPU | %.0f |\n"
	       "| on %d CPUs at once, each into a copy of its own | %.0f |\n"
	       "| on %d CPUs at once, all into one copy (not what the agent does) | %.0f |\n",
	       result[0], cpus, result[1], cpus, result[2]);
	/* A busy machine may stretch either, but not hide what sharing costs. */
	return result[1] > result[2] / 2;
}
