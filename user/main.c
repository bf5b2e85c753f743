// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program's entry: dispatches to the subcommands. */
#include <stdio.h>

#include "commands/check.h"
#include "commands/doctor.h"
#include "sinks/metrics.h"
#include "commands/options.h"
#include "commands/run.h"
#include "commands/trace.h"
#include "version.h"
#include "commands/xid_command.h"

/* A line per family, fields separated by tabs. */
static int list_metrics(void)
{
	for (int i = 0; i < METRICS; i++)
		printf("%s%s\t%s\t%s\t%s\t%s\n", METRIC_PREFIX, metrics[i].name,
		       metric_type_names[metrics[i].type], metrics[i].unit, metrics[i].labels,
		       metrics[i].help);
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	struct options options;

	switch (options_parse(argc, argv, &options)) {
	case COMMAND_RUN:
		return run(&options);
	case COMMAND_TRACE:
		return trace(&options);
	case COMMAND_CHECK:
		return check(&options);
	case COMMAND_DOCTOR:
		return doctor(&options);
	case COMMAND_XID:
		return xid_command(&options);
	case COMMAND_METRICS:
		return list_metrics();
	case COMMAND_HELP:
		return EXIT_OK;
	case COMMAND_VERSION:
		puts("xidscope " XIDSCOPE_VERSION);
		return EXIT_OK;
	}
	return options.wrong_usage;
}
