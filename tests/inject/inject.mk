# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Failing system calls.
.PHONY: faults

$(B)/inject/syscalls.inc: | $(B)/.tools
	$(say) GEN $@
	$(Q)echo '#include <sys/syscall.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{ "\1", __NR_\1 },/p' >$@

$(B)/inject/inject: $(wildcard tests/inject/*.[ch]) $(B)/inject/syscalls.inc
	$(say) CC $@
	$(Q)$(CC) -std=gnu11 $(WARN) $(CFLAGS) -D_GNU_SOURCE -I$(@D) $(filter %.c,$^) -o $@ -static

faults: deps ## make each system call of the agent fail, kill it, fill its disk: here as root, then in a guest (an hour)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope $(B)/inject/inject
	$(Q)tests/inject/check.sh
