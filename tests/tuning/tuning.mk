# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The study of what is above the calls.
.PHONY: tuning

tuning: deps ## measure in guests what readahead, dirty limits and attribute options gain: docs/TUNING.md (half an hour)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/tuning/tuning.sh
