// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program's entry: from the command line to the command. */
#include "commands/commands.h"
#include "commands/options.h"

int main(int argc, char **argv)
{
	static int (*const commands[COMMANDS])(const struct options *options) = {
		[COMMAND_RUN] = cmd_run,
		[COMMAND_TRACE] = cmd_trace,
		[COMMAND_CHECK] = cmd_check,
		[COMMAND_ACK] = cmd_ack,
		[COMMAND_DOCTOR] = cmd_doctor,
		[COMMAND_XID] = cmd_xid,
		[COMMAND_WHY] = cmd_why,
		[COMMAND_FAULTS] = cmd_faults,
		[COMMAND_METRICS] = cmd_metrics,
		[COMMAND_HELP] = cmd_help,
		[COMMAND_COMPLETION] = cmd_completion,
		[COMMAND_VERSION] = cmd_version,
	};
	struct options options;
	enum command command = options_parse(argc, argv, &options);

	return command ? commands[command](&options) : options.wrong_usage;
}
