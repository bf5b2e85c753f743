# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Long runs.
.PHONY: soak

$(B)/soak-load: tests/soak/nfs_load.c | $(B)/.tools
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) $< -o $@ -static -pthread

soak: $(B)/xidscope $(B)/soak-load ## run an hour at 0.1 s with ten million calls and 10,000 mounts, then kill calls; variables: tests/soak/soak.sh
	$(Q)tests/soak/soak.sh
