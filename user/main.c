// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program's entry: from the command line to the command. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/options.h"

/* A report that a full disk has cut must not look whole. The exit codes of `check` are the node's
 * health, and `run` reports on its own output. */
static int end_output(enum command command, int code)
{
	if (command == COMMAND_RUN || command == COMMAND_CHECK)
		return code;
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (errno == EPIPE)
		return code; /* the reader has what it wanted */
	trouble("cannot write standard output%s%s", errno ? ": " : "",
		errno ? strerror(errno) : "");
	return code ?: EXIT_TROUBLE;
}

/* Where the caller has closed one, a file that is opened later must not take its number: messages would end up in it. */
static void open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options options;
	enum command command;

	/* Large buffers are given back when they are freed: the allocator would keep them after the first. */
	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	open_standard();
	/* The kernel removes processes that have ended: see base/helper.h. */
	signal(SIGCHLD, SIG_IGN);
	command = options_parse(argc, argv, &options);
	return command ? end_output(command, command_rows[command].run(&options)) :
			 options.wrong_usage;
}
