# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A real GPU, where there is one.
.PHONY: check-gpu

check-gpu: $(B)/xidscope ## compare with the kernel log the Xids that a CUDA program provokes (an NVIDIA GPU, nvcc, root)
	$(Q)XIDSCOPE=$< tests/gpu/check.sh
