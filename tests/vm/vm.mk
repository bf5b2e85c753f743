# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests in guests, beyond `make check`.
.PHONY: check-all check-transports check-slurm check-kubernetes check-dkms verdicts

$(T)/refuse.bpf.o: tests/vm/refuse.bpf.c | $(B)/.tools
	$(compile_bpf)

$(T)/refuse.skel.h: $(T)/refuse.bpf.o
	$(make_skeleton)

$(T)/refuse: tests/vm/refuse.c $(T)/refuse.skel.h
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) -I$(T) $< -o $@ -static $(LIBS)

# The same for all guests.
$(T)/dirty: tests/vm/dirty.c | $(B)/.tools
	$(say) CC $@
	$(Q)$(CC) $(CFLAGS) -static -o $@ $<

tests: $(T)/refuse $(T)/dirty

check-all: ## run check, then what it leaves out: more scenarios on more kernels, a rehearsal of the alerts, transports, soak (three hours)
	$(Q)$(MAKE) --no-print-directory check
	$(call tools,bc flex bison pahole)
	$(Q)TIMEOUT=$${TIMEOUT:-3600} tests/vm/check.sh --all
	$(Q)tests/fleet/rehearsal.sh --short
	$(Q)$(MAKE) --no-print-directory check-transports
	$(Q)$(MAKE) --no-print-directory check-slurm
	$(Q)$(MAKE) --no-print-directory check-kubernetes
	$(Q)$(MAKE) --no-print-directory check-dkms
	$(Q)$(MAKE) --no-print-directory soak SOAK_SECONDS=600 SOAK_CALLS=1000000 SOAK_MOUNTS=1000
	$(Q)$(MAKE) --no-print-directory check-packages
	$(Q)$(MAKE) --no-print-directory check-release

verdicts: deps ## run the set-ups with a known limit, and judge verdicts and gains (half an hour)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)TIMEOUT=$${TIMEOUT:-3600} tests/vm/check.sh --only "verdict begun-before silent-server" 6.12

check-transports: deps ## test NFS over RDMA, over TLS, with Kerberos and pNFS (five minutes)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/vm/check.sh --transports

check-slurm: deps ## test deploy/slurm with Slurm's own daemons, in four guests (20 minutes)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)TIMEOUT=$${TIMEOUT:-3600} tests/vm/check.sh --only slurm 6.1

check-kubernetes: deps ## try deploy/kubernetes on Kubernetes' own control plane and kubelet (a quarter of an hour, at first as much again)
	$(call tools,golang-1.19-go golang-github-modern-go-reflect2-dev dpkg-dev iproute2 openssl)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/docs/runbook_cluster.py
	$(Q)tests/kubernetes/cluster.sh

check-dkms: deps ## test with NFS modules built out of tree, whose structs differ from the kernel's (half an hour, as root at first)
	$(call tools,pahole)
	$(Q)tests/cli/types_script.sh
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/vm/check.sh --dkms
