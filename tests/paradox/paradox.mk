# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The study of 128 slots.
.PHONY: paradox

paradox: deps ## measure in guests what 128 slots allow, and what more gain: docs/PARADOX.md (half an hour; variables: tests/paradox/paradox.sh)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/paradox/paradox.sh
