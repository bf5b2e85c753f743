# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The cost of observing.
.PHONY: bench growth

$(B)/bench/load: tests/bench/load.c | $(B)/.tools
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) $< -o $@ -static

bench: deps ## measure the instructions per call, beside bpftrace and nfsdist, and under the unit's settings (20 minutes)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope $(B)/bench/load $(T)/write_sample
	$(Q)tests/bench/bench.sh
	$(Q)tests/bench/unit.sh
	$(Q)tests/bench/check.sh

growth: deps ## measure cost as servers, transports, tasks, groups, namespaces and mounts grow (half an hour)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope $(B)/bench/load
	$(Q)tests/bench/growth.sh
