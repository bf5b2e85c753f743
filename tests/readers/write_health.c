// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a health file as the agent would on a node with these facts, for tests of what reads it:
 *
 *	write_health [OPTION...] -- [FACT...]	options are those of `xidscope run`
 *
 * xid=CODE:SEVERITY:ACTION:COUNT:LAST[,FIRST], sxid=CODE:SEVERITY::COUNT:LAST[,FIRST]	on 0000:c1:00.0
 * error=KIND:COUNT:LAST	of the driver		gpu=UUID	of that GPU		recovered=TIME	all GPUs
 * waiter=SECONDS:SERVER	stuck=SECONDS:MOUNT	without a call */
#include "base/clock.h"
#include "base/time_text.h"
#include "commands/options.h"
#include "health/health_file.h"

#define GPU "0000:c1:00.0"

static struct snapshot s;

static double seconds_of(const char *text)
{
	double seconds = 0;

	time_from_text(text, &seconds);
	return seconds;
}

static void add_fault(bool nvswitch, char *fact)
{
	struct fault like = { .device = GPU, .nvswitch = nvswitch }, *f;
	const char *time;

	like.code = (unsigned int)strtoul(strsep(&fact, ":"), NULL, 10);
	snprintf(like.severity, sizeof(like.severity), "%s", strsep(&fact, ":"));
	snprintf(like.action, sizeof(like.action), "%s", strsep(&fact, ":"));
	f = snapshot_fault(&s.faults, &like);
	f->incidents = f->recent = 1;
	f->count = strtoull(strsep(&fact, ":"), NULL, 10);
	time = strsep(&fact, ",");
	f->last = seconds_of(time);
	f->first = fact ? seconds_of(fact) : 0;
}

static void add_fact(char *fact)
{
	const char *name = strsep(&fact, "=");

	if (!strcmp(name, "xid") || !strcmp(name, "sxid")) {
		add_fault(*name == 's', fact);
	} else if (!strcmp(name, "error")) {
		struct kernel_event *e =
			snapshot_kernel_event(&s.faults, true, strsep(&fact, ":"), GPU);

		e->count = strtoull(strsep(&fact, ":"), NULL, 10);
		e->last = seconds_of(fact);
	} else if (!strcmp(name, "gpu")) {
		struct gpu_info *gpu = snapshot_gpu(&s.faults, GPU);

		snprintf(gpu->uuid, sizeof(gpu->uuid), "%s", fact);
	} else if (!strcmp(name, "recovered")) {
		snapshot_recovery(&s.faults, "all", "driver_loaded")->time = seconds_of(fact);
	} else if (!strcmp(name, "waiter")) {
		double age = strtod(strsep(&fact, ":"), NULL);

		snapshot_server(&s.calls, fact)->oldest_ns[RPC_QUEUE_PENDING] =
			(uint64_t)(age * 1e9);
	} else if (!strcmp(name, "stuck")) {
		double age = strtod(strsep(&fact, ":"), NULL);
		struct stuck_state *stuck = snapshot_stuck(&s.calls, fact, false);

		stuck->tasks = 2;
		stuck->oldest_ns = (uint64_t)(age * 1e9);
	} else {
		fprintf(stderr, "write_health: what is %s?\n", name);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct health_report report;
	static struct node_state node;
	char *words[64] = { argv[0], "run" }, error[512] = "", trouble[600];
	struct ack_list acks = {};
	FILE_TEXT file = {};
	struct options o;
	int i, n = 2;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0 && n < 63; i++)
		words[n++] = argv[i];
	if (options_parse(n, words, &o) != COMMAND_RUN)
		return 2;
	for (i++; i < argc; i++)
		add_fact(argv[i]);
	ack_take(&acks, &file, file_text_read_own(&file, o.ack, 1 << 20), o.ack, error,
		 sizeof(error));
	snprintf(trouble, sizeof(trouble), "the acknowledgements: %s", error);
	for (size_t m = 0; m < o.mount_count; m++)
		node_mounts_add(&node, o.mounts[m]);
	node_mounts_look(&node, "/proc/self/mountinfo");
	node.gpus_wanted = (unsigned int)o.gpus;
	o.health.acks = &acks;
	o.health.node = &node;
	health_evaluate(&s, &o.health, wall_seconds(), &report);
	health_file_write(stdout, &(struct health_content){
					  &s, &o.health, &report,
					  report.count ? report.findings[0].reason : "All is well.",
					  o.output, *error ? trouble : NULL });
	snapshot_free(&s);
	ack_free(&acks);
	return 0;
}
