// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Makes one of the errors that a program can make on a GPU, named by the argument, and prints CUDA's word for it. The
// driver ends the program and reports Xids 13, 31 and 43; GPU and other programs go on.
#include <cstdio>
#include <cstring>

__global__ void write_to(int *p)
{
	p[threadIdx.x] = 1;
}

__global__ void trap()
{
	__trap();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char *memory;

	if (cudaMalloc(&memory, 4096))
		return 1;
	if (!strcmp(what, "unmapped"))
		write_to<<<1, 32>>>((int *)0x7f0000001000);
	if (!strcmp(what, "misaligned"))
		write_to<<<1, 32>>>((int *)(memory + 1));
	if (!strcmp(what, "trap"))
		trap<<<1, 1>>>();
	printf("%s: %s\n", what, cudaGetErrorString(cudaDeviceSynchronize()));
	return 0;
}
