# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The same faults, seen by each tool.
.PHONY: versus

versus: deps ## make faults in a guest with all tools that Debian has, and compare what they show with docs/COMPARISON.md (half an hour)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/versus/versus.sh
