# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Failing system calls.
.PHONY: faults

faults: deps ## make each system call of the agent fail, kill it, fill its disk, in a guest (two hours)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/inject/check.sh
