// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dirty FILE MB: fills a file through a mapping and ends. It has closed the file before, so that NFS writes nothing at its end:
 * the pages stay dirty until somebody else writes them back. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t size = argc == 3 ? strtoul(argv[2], NULL, 10) << 20 : 0;
	int fd = size ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	char *bytes;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		return 1;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED || close(fd))
		return 1;
	memset(bytes, 7, size);
	return 0;
}
