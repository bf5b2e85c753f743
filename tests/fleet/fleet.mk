# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A made-up fleet: rules and alerts.
.PHONY: fleet fleet-recordings fleet-live

# FLEET_DIR: a folder with 20 GB for the while; else TMPDIR, or /tmp.
fleet: deps ## rehearse the rules on a made-up fleet (half an hour): DAYS=55 NODES=63 SEED=1 INCIDENTS=FILE NOISE=FILE
	$(Q)tests/fleet/rehearsal.sh --days $(or $(DAYS),55) --nodes $(or $(NODES),63) --seed $(or $(SEED),1) \
		$(and $(INCIDENTS),--incidents '$(INCIDENTS)') $(and $(NOISE),--noise '$(NOISE)')

fleet-recordings: deps ## record anew, in a guest, what the nodes of `make fleet` are made of (half an hour)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/fleet/recording/record.sh nfs faults

fleet-live: deps ## record an agent's files in a guest, play 63 nodes' incidents with them, compare what Alertmanager tells (15 minutes)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/fleet/recording/record.sh live
	$(Q)tests/fleet/live.sh $(B)/fleet-recordings/live
