# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds, tests and installs xidscope; `make help` lists the targets.

# The version and its date are those of the first release in CHANGELOG.md.
release := $(shell sed -n 's/^## \([0-9.]*\), \([0-9-]*\)$$/\1 \2/p' CHANGELOG.md | sed -n 1p)
VERSION := $(or $(firstword $(release)),$(error CHANGELOG.md has no heading "VERSION, DATE"))
# Where install puts what.
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
DESTDIR ?=
# The machine to build for, by Debian's name (arm64) or that of `uname -m` (aarch64). For another than this one, with
# Debian's cross compiler, under a folder of its own.
debian_x86_64 := amd64
debian_aarch64 := arm64
debian_name = $(or $(debian_$(1)),$(1))
HOST := $(call debian_name,$(shell uname -m))
ARCH ?= $(HOST)
TARGET := $(call debian_name,$(ARCH))
CROSS := $(filter-out $(HOST),$(TARGET))
triplet_amd64 := x86_64-linux-gnu
triplet_arm64 := aarch64-linux-gnu
bpf_arch_amd64 := x86
bpf_arch_arm64 := arm64
$(if $(bpf_arch_$(TARGET)),,$(error xidscope is not made for ARCH=$(ARCH): amd64 and arm64 are there))

B := build$(if $(CROSS),/$(CROSS))
G := $(B)/gen

CC ?= gcc
ifneq ($(CROSS),)
CC := $(triplet_$(TARGET))-gcc
endif
SHELL := /bin/bash
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
CFLAGS ?= -O2 -g

# Quiet unless V=1.
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

WARN := -Wall -Wextra -Werror
INCLUDES := -I$(G) -Iinclude -Iuser
# Of user/sinks/page.c, which includes the file as bytes.
PAGE_DEFINE = -DPAGE_TEMPLATE='"$(G)/page.html"'
# -fno-strict-aliasing as the kernel does; _GNU_SOURCE for asprintf and flock.
# The same files in another folder give the same program.
HERE := -ffile-prefix-map=$(CURDIR)=.
USER_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(HERE) -fno-strict-aliasing -D_GNU_SOURCE \
	$(INCLUDES) $(PAGE_DEFINE) -MMD -MP
LIBS := -lbpf -lelf -lz -lm
# A static binary runs in any container; the sanitizers cannot have one.
STATIC := -static

BPF_CPU := v3
# This one must load before 5.12, which brought v3's atomics: using their value is an error here.
$(B)/bpf/rpc_events.bpf.o: BPF_CPU := v2
# The programs are relocated when they are loaded: any 64-bit target will do.
BPF_CFLAGS = $(HERE) -std=gnu11 -g -O2 -target bpf -mcpu=$(BPF_CPU) $(WARN) \
	-Wno-unused-parameter -D__TARGET_ARCH_$(bpf_arch_$(TARGET)) \
	-Ivmlinux -Iinclude -Ibpf -MMD -MP

BPF_OBJECTS := $(patsubst bpf/%.bpf.c,$(B)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))
SKELETONS := $(patsubst bpf/%.bpf.c,$(G)/%.skel.h,$(wildcard bpf/*.bpf.c))
GENERATED := $(SKELETONS) $(G)/version.h $(G)/page.html $(patsubst user/xid/%.tsv,$(G)/%.inc,$(wildcard user/xid/*.tsv))
USER_SOURCES := $(wildcard user/*.c user/*/*.c user/*/*/*.c)
USER_OBJECTS := $(USER_SOURCES:%.c=$(B)/%.o)

.PHONY: all completions deps-release deb manifests check-manifests release check-release previous check-packages help install uninstall image deps demo tests unit lint format check check-all page-test paradox check-transports check-slurm check-dkms faults soak fuzz fuzz-grow \
	bench growth series-cost fleet fleet-recordings fleet-live asan asan-unit coverage coverage-unit coverage-corpora tidy cppcheck clean distclean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/xidscope ## build the static binary build/xidscope (default)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo '  V=1 shows the commands; DESTDIR=, PREFIX=, SYSCONFDIR=, UNITDIR= and ZSHDIR= set the folders of install; ARCH=arm64 builds for arm64, in build/arm64.'

# ---- tools: what is missing is named with its package ----

need = $(if $(shell command -v $(1)),,$(error $(1) is missing: install the Debian package $(2), or run `$(make_deps)` as root))
make_deps = make deps$(if $(CROSS), ARCH=$(CROSS))

$(B)/.tools: Makefile
	$(call need,$(firstword $(CC)),gcc$(if $(CROSS),-$(triplet_$(TARGET))))
	$(call need,$(CLANG),clang)
	$(call need,$(BPFTOOL),bpftool)
	$(call need,llvm-strip,llvm)
	@printf '#include <bpf/libbpf.h>\n#include <libelf.h>\n#include <zlib.h>\nint main(void) { return 0; }\n' | \
		$(CC) $(STATIC) -o /dev/null -x c - $(LIBS) 2>/dev/null || \
		{ echo 'headers or libraries are missing: install the Debian packages $(addsuffix $(addprefix :,$(CROSS)),libbpf-dev libelf-dev zlib1g-dev), or run `$(make_deps)` as root' >&2; exit 1; }
	@[ -e $(DYGRAPHS)/dygraph.min.js ] || \
		{ echo '$(DYGRAPHS)/dygraph.min.js is missing: install the Debian package libjs-dygraphs, or run `$(make_deps)` as root' >&2; exit 1; }
	@mkdir -p $(B) $(G) && touch $@

# ---- generated ----

$(G)/version.h: Makefile CHANGELOG.md | $(B)/.tools
	$(Q)printf '#define XIDSCOPE_VERSION "%s"\n' '$(VERSION)' >$@

$(G)/%.inc: user/xid/%.tsv user/xid/catalog.awk | $(B)/.tools
	$(say) GEN $@
	$(Q)awk -f user/xid/catalog.awk $< >$@

# The page that `trace --html` writes, whole but for the session: its parts, and the charting library of Debian's libjs-dygraphs.
DYGRAPHS ?= /usr/share/javascript/dygraphs
PAGE := user/sinks/page
$(G)/page.html: $(wildcard $(PAGE)/*) | $(B)/.tools
	$(say) GEN $@
	$(Q)awk -v STYLE=$(PAGE)/page.css -v SCRIPT=$(PAGE)/page.js -v DYGRAPHS_CSS=$(DYGRAPHS)/dygraph.min.css \
		-v DYGRAPHS_JS=$(DYGRAPHS)/dygraph.min.js -f $(PAGE)/assemble.awk $(PAGE)/page.html >$@

define compile_bpf
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(Q)llvm-strip -g $@
endef

$(B)/bpf/%.bpf.o: bpf/%.bpf.c | $(B)/.tools
	$(compile_bpf)

# What bpftool 7.1 writes leaks when memory is short: a bug of bpftool, which the analyzer must not report here.
define make_skeleton
	$(say) SKEL $@
	$(Q){ echo '/* NOLINTBEGIN(clang-analyzer-unix.Malloc) */' && \
		$(BPFTOOL) gen skeleton $< name $(patsubst %.bpf,%_bpf,$(basename $(notdir $<))) && \
		echo '/* NOLINTEND(clang-analyzer-unix.Malloc) */'; } >$@
endef

$(G)/%.skel.h: $(B)/bpf/%.bpf.o
	$(make_skeleton)

# ---- the program ----

$(B)/user/%.o: user/%.c Makefile | $(GENERATED)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) -c $< -o $@

$(B)/user/sinks/page.o $(B)/fuzz/sinks/page.o: $(G)/page.html

$(B)/xidscope: $(USER_OBJECTS)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(STATIC) -Wl,-Map=$@.map -o $@ $^ $(LIBS)

install: all completions ## install the program, unit, man page, completions, documents, rules and scripts
	$(Q)deploy/install.sh $(B) '$(DESTDIR)' '$(PREFIX)' '$(SYSCONFDIR)' '$(UNITDIR)' '$(ZSHDIR)'

uninstall: ## stop the service and remove what install has put there; STATE=remove: fault counts, acknowledgements, settings, too
	$(Q)deploy/uninstall.sh $(if $(filter remove,$(STATE)),--state) '$(PREFIX)' '$(DESTDIR)' '$(SYSCONFDIR)'

# The program of another architecture is run by QEMU.
emulator = $(if $(CROSS),qemu-$(patsubst %-linux-gnu,%,$(triplet_$(CROSS)))-static)

completions: $(B)/completions/xidscope $(B)/completions/_xidscope
$(B)/completions/xidscope: $(B)/xidscope
	$(Q)mkdir -p $(@D)
	$(Q)$(emulator) $< completion bash >$@
$(B)/completions/_xidscope: $(B)/xidscope
	$(Q)mkdir -p $(@D)
	$(Q)$(emulator) $< completion zsh >$@

image: $(B)/xidscope ## build the container image build/xidscope-oci.tar
	$(Q)deploy/container/build.sh $(B)/xidscope-oci.tar $(B)/xidscope

# demo and check need it: as root it installs what is missing, otherwise it names it.
deps: ## install the packages that building, demo and tests need (as root)
	$(Q)tests/deps.sh $(addprefix --for ,$(CROSS))

demo: deps ## show in a guest: a checkpoint over NFS with few RPC slots, and a failing GPU (as root at first)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/demo.sh

# ---- tests ----

T := $(B)/tests
UNIT_TESTS := $(patsubst tests/unit/%.c,$(T)/%,$(wildcard tests/unit/test_*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,$(T)/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60

# All but main(): a test takes from it what it needs.
$(B)/libxidscope.a: $(filter-out %/main.o,$(USER_OBJECTS))
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

$(T)/test_%: tests/unit/test_%.c $(B)/libxidscope.a
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) -DTEST_DATA='"tests/data"' $< -o $@ $(B)/libxidscope.a -lcmocka $(LIBS)

# Of programs for the kernel, see tests/unit/bpf_natively.h.
$(T)/test_rpc_programs $(T)/test_rpc_events_program $(T)/test_printk_program: INCLUDES += -Ivmlinux -Ibpf

$(T)/write_sample $(T)/write_recording: $(T)/%: tests/readers/%.c $(B)/libxidscope.a
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) $< -o $@ $(B)/libxidscope.a $(LIBS)

# An empty array of a snapshot is NULL, and NULL + 0 is fine with all compilers that we know.
FUZZ_FLAGS := -fno-sanitize=pointer-overflow
FUZZ_CC = $(CLANG) -std=gnu11 -O1 -g -D_GNU_SOURCE $(INCLUDES) $(PAGE_DEFINE) -MMD -MP -fno-sanitize-recover=all
$(B)/fuzz/%.o: user/%.c Makefile | $(GENERATED)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined $(FUZZ_FLAGS) -c $< -o $@

# The same for a fuzzer, built with the sanitizers.
$(B)/fuzz/libxidscope.a: $(patsubst user/%.c,$(B)/fuzz/%.o,$(filter-out user/main.c,$(USER_SOURCES)))
	$(Q)rm -f $@ && ar rcs $@ $^

$(T)/fuzz_%: tests/fuzz/fuzz_%.c $(B)/fuzz/libxidscope.a
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined $(filter %.c %.a,$^) -o $@ $(LIBS)

# The same without libFuzzer, for coverage.
CORPUS_TESTS := $(patsubst tests/fuzz/fuzz_%.c,$(T)/corpus_%,$(wildcard tests/fuzz/fuzz_*.c))

$(T)/corpus_%: tests/fuzz/fuzz_%.c tests/fuzz/run_corpus.c $(B)/libxidscope.a
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) $(filter %.c %.a,$^) -o $@ $(LIBS)

$(T)/refuse.bpf.o: tests/vm/refuse.bpf.c | $(B)/.tools
	$(compile_bpf)

$(T)/refuse.skel.h: $(T)/refuse.bpf.o
	$(make_skeleton)

$(T)/refuse: tests/vm/refuse.c $(T)/refuse.skel.h
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) -I$(T) $< -o $@ -static $(LIBS)

tests: $(UNIT_TESTS) $(T)/write_sample $(T)/write_recording $(FUZZERS) $(T)/refuse

unit: $(B)/xidscope tests ## run the tests that need no guest
	$(Q)tests/check.sh --no-guests

lint: ## run shellcheck, flake8, clang-format and the include test
	$(Q)tests/lint.sh
	$(Q)tests/includes.py

format: ## format all C sources with clang-format
	$(Q)find bpf include tests user vmlinux -name '*.[ch]' | xargs clang-format -i

check: deps ## run all tests: unit tests, and guests with several kernels, one of arm64 (about 20 minutes, as root)
	$(Q)$(MAKE) --no-print-directory -j "$$(nproc)" $(B)/xidscope tests
	$(Q)if $(MAKE) --no-print-directory ARCH=arm64 deps; then $(MAKE) --no-print-directory -j "$$(nproc)" ARCH=arm64; fi
	$(Q)tests/check.sh

check-all: ## run check, then what it leaves out: more scenarios on more kernels, transports, soak, test drivers (two hours)
	$(Q)$(MAKE) --no-print-directory check
	$(Q)tests/vm/check.sh --all
	$(Q)$(MAKE) --no-print-directory check-transports
	$(Q)$(MAKE) --no-print-directory check-slurm
	$(Q)$(MAKE) --no-print-directory check-dkms
	$(Q)$(MAKE) --no-print-directory soak SOAK_SECONDS=600 SOAK_CALLS=1000000 SOAK_MOUNTS=1000
	$(Q)tests/vm/modules/check.sh
	$(Q)$(MAKE) --no-print-directory check-packages
	$(Q)$(MAKE) --no-print-directory check-release

page-test: $(B)/xidscope $(T)/write_recording ## check the page of trace --html in Chromium with axe (PICTURES= takes screenshots)
	$(call tools,chromium $(if $(shell command -v npm),,npm))
	$(Q)tests/page/check.sh $(PICTURES)

check-transports: deps ## test NFS over RDMA, over TLS, with Kerberos and pNFS (five minutes)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/vm/check.sh --transports

check-slurm: deps ## test the health check of deploy/slurm with Slurm's own daemons, in two guests (15 minutes)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)TIMEOUT=$${TIMEOUT:-3600} tests/vm/check.sh --only slurm 6.1

check-dkms: deps ## test with NFS modules built out of tree, whose structs differ from the kernel's (half an hour, as root at first)
	$(call tools,pahole)
	$(Q)tests/cli/types_script.sh
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/vm/check.sh --dkms

$(B)/inject/syscalls.inc: | $(B)/.tools
	$(Q)mkdir -p $(@D)
	$(Q)echo '#include <sys/syscall.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{ "\1", __NR_\1 },/p' >$@

$(B)/inject/inject: $(wildcard tests/inject/*.[ch]) $(B)/inject/syscalls.inc
	$(say) CC $@
	$(Q)$(CC) -std=gnu11 $(WARN) $(CFLAGS) -D_GNU_SOURCE -I$(@D) $(filter %.c,$^) -o $@ -static

faults: deps ## make each system call of the agent fail, kill it, fill its disk: here as root, then in a guest (an hour)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope $(B)/inject/inject
	$(Q)tests/inject/check.sh

$(B)/soak-load: tests/soak/nfs_load.c | $(B)/.tools
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) $< -o $@ -static -pthread

soak: $(B)/xidscope $(B)/inject/inject $(B)/soak-load ## run an hour at 0.1 s with ten million calls and 10,000 mounts, then kill calls; variables: tests/soak/soak.sh
	$(Q)tests/soak/soak.sh

fuzz-grow: $(FUZZERS) ## fuzz each parser until nothing new is reached for FUZZ_QUIET seconds (600), and keep what reaches something
	$(Q)tests/fuzz/grow.sh $(FUZZERS)

fuzz: $(FUZZERS) ## fuzz each parser for FUZZ_SECONDS (60)
	$(Q)for f in $(FUZZERS); do \
		mkdir -p $$f.corpus && \
		$$f -max_total_time=$(FUZZ_SECONDS) -max_len=1024 -artifact_prefix=$$f- $$f.corpus \
			tests/fuzz/corpus/$${f##*/fuzz_} || exit; \
	done

# FLEET_DIR: a folder with 20 GB for the while; else TMPDIR, or /tmp.
fleet: deps ## rehearse the rules on a made-up fleet (an hour): DAYS=55 NODES=63 SEED=1 INCIDENTS=FILE NOISE=FILE
	$(Q)tests/fleet/rehearsal.sh --days $(or $(DAYS),55) --nodes $(or $(NODES),63) --seed $(or $(SEED),1) \
		$(and $(INCIDENTS),--incidents '$(INCIDENTS)') $(and $(NOISE),--noise '$(NOISE)')

fleet-recordings: deps ## record anew, in a guest, what the nodes of `make fleet` are made of (half an hour)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/fleet/recording/record.sh nfs faults

fleet-live: deps ## record an agent's files in a guest, play 63 nodes' incidents with them, compare what Alertmanager tells (15 minutes)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/fleet/recording/record.sh live
	$(Q)tests/fleet/live.sh $(B)/fleet-recordings/live

# ---- bench ----

$(B)/bench/load: tests/bench/load.c | $(B)/.tools
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(USER_CFLAGS) $< -o $@ -static

$(B)/bench/contention.bpf.o: tests/bench/contention.bpf.c | $(B)/.tools
	$(compile_bpf)

$(B)/bench/contention.skel.h: $(B)/bench/contention.bpf.o
	$(make_skeleton)

$(B)/bench/contention: tests/bench/contention.c $(B)/bench/contention.skel.h
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) -I$(B)/bench $< -o $@ -static $(LIBS)

bench: deps ## measure the instructions per call, beside bpftrace and nfsdist, and under the unit's settings; compare percentiles with fio's (20 minutes)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope $(B)/bench/load $(T)/write_sample
	$(Q)tests/bench/bench.sh
	$(Q)tests/bench/unit.sh
	$(Q)tests/bench/percentiles.sh
	$(Q)tests/bench/check.sh

growth: deps ## measure cost as servers, transports and waiting tasks grow, and contention between CPUs
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope $(B)/bench/load $(B)/bench/contention
	$(Q)$(B)/bench/contention || [ $$? = 77 ]
	$(Q)tests/bench/growth.sh

paradox: deps ## measure in guests what 128 slots allow, and what more gain: docs/PARADOX.md (half an hour; variables: tests/paradox/paradox.sh)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/paradox/paradox.sh

# What `make growth` has left, unless FILES names two other files of one agent: of one moment, and of a later one.
series-cost: ## measure what a series costs in Prometheus, and with it what a fleet of nodes needs (10 minutes, after growth)
	$(Q)tests/fleet/series-cost.sh $(FILES)

# ---- packages and releases ----

# Files of a release have the time of its day.
release_time := $(shell date -u -d '$(lastword $(release))' +%s)

deps-release: deps ## install what packages, images and releases need beyond that (as root)
	$(Q)tests/deps.sh --only '$(release_packages)'
release_packages := debhelper lintian dpkg-dev buildah skopeo docker-registry gnupg file autopkgtest piuparts qemu-user-static \
	$(if $(shell command -v npm),,npm)

deb: deps-release ## build the Debian package for ARCH into build/deb, and check it with lintian
	$(Q)deploy/debian.sh $(TARGET) $(VERSION) $(release_time) $(CURDIR)/build/deb

kubectl = $(shell tests/vm/tool.sh kubernetes-client usr/bin/kubectl)
# Where nodes will get the image from, in the manifests.
REGISTRY ?= registry.example.org

manifests: ## render the Kubernetes manifests into build/manifests, with the image REGISTRY/xidscope:VERSION
	$(Q)deploy/kubernetes/render.sh '$(kubectl)' '$(REGISTRY)/xidscope:$(VERSION)' $(VERSION) build/manifests

check-manifests: manifests ## compare the manifests with the types of Kubernetes, from npm
	$(Q)tests/kubernetes/check.sh

build_of = build$(if $(filter-out $(HOST),$(1)),/$(1))
release: deps-release ## build all that a release has into build/release: packages, tarballs, images, manifests, rules, SBOMs
	$(Q)set -e; for arch in amd64 arm64; do \
		$(MAKE) --no-print-directory ARCH=$$arch deps; \
		$(MAKE) --no-print-directory ARCH=$$arch -j "$$(nproc)" all completions; \
		$(MAKE) --no-print-directory ARCH=$$arch deb; \
	done
	$(Q)deploy/release.sh $(VERSION) $(release_time) '$(kubectl)' '$(REGISTRY)' $(CURDIR)/build/release \
		$(foreach arch,amd64 arm64,$(arch)=$(call build_of,$(arch)))

check-release: ## build the release twice, in two folders, compare, and try image, packages and manifests (ten minutes)
	$(Q)tests/release/check.sh $(VERSION)

# The version before this one, from the commit that CHANGELOG.md names for it, installed into a folder.
previous_commit := $(shell sed -n 's/^Commit \([0-9a-f]*\)\.$$/\1/p' CHANGELOG.md | sed -n 1p)
previous: build/previous/version ## build the version before, to test upgrades from it
build/previous/version: CHANGELOG.md
	$(Q)git cat-file -e $(previous_commit) 2>/dev/null || { echo 'this clone lacks the commit $(previous_commit): git fetch --unshallow' >&2; exit 1; }
	$(Q)rm -rf build/previous && mkdir -p build/previous/source
	$(Q)git archive $(previous_commit) | tar -C build/previous/source -x
	$(say) BUILD build/previous
	$(Q)$(MAKE) -C build/previous/source install PREFIX=/usr DESTDIR=$(CURDIR)/build/previous/root >build/previous/log 2>&1 || { tail build/previous/log; exit 1; }
	$(Q)build/previous/root/usr/sbin/xidscope version | sed 's/.* //' >$@

check-packages: $(B)/xidscope deb previous ## upgrade, roll back and remove: the program alone, package, unit, DaemonSet and tarball in guests (half an hour, as root)
	$(Q)tests/release/rollback.sh
	$(Q)export TIMEOUT=$${TIMEOUT:-3600}; tests/vm/check.sh --only 'package unit container pod' 6.1 && \
		tests/vm/check.sh --only tarball 5.10

# ---- analysis: tools beyond those of `make deps` are installed by the target, if root runs it ----

tools = $(Q)tests/deps.sh --only '$(1)'

# The sanitizers' runtimes are linked in; libbpf, libelf and libz are in the guest.
asan: deps ## run unit tests and guest scenarios with ASan and UBSan
	$(Q)$(MAKE) --no-print-directory $(T)/refuse
	$(Q)$(MAKE) --no-print-directory B=$(B)/asan STATIC= \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -static-libasan -static-libubsan' \
		$(B)/asan/xidscope asan-unit
	$(Q)XIDSCOPE=$(B)/asan/xidscope tests/vm/check.sh --only \
		'late exact sources refused polled slot session delay stopped-server kills names faults output signals trace' 6.1

asan-unit coverage-unit: $(UNIT_TESTS)
	$(Q)for t in $^; do $$t >$$t.log 2>&1 || { cat $$t.log; exit 1; }; done
	@echo '$(words $^) test programs passed'

coverage-corpora: $(CORPUS_TESTS)
	$(Q)for t in $^; do $$t tests/fuzz/corpus/$${t##*/corpus_}/* >$$t.log 2>&1 || { cat $$t.log; exit 1; }; done
	@echo '$(words $^) corpora read'

coverage: deps ## show which lines of user/ unit tests, corpora and the guest's scenarios run (GUEST= leaves out the guest)
	$(Q)$(MAKE) --no-print-directory B=$(B)/coverage STATIC= CFLAGS='-O0 -g --coverage -fprofile-update=atomic' \
		$(B)/coverage/xidscope
	$(Q)tests/coverage.sh $(B)/coverage

tidy: $(GENERATED) ## run clang-tidy over user/
	$(call tools,clang-tidy)
	$(Q)printf '%s\n' $(USER_SOURCES) tests/bench/load.c | xargs -P "$$(nproc)" -I{} clang-tidy --quiet {} -- \
		-std=gnu11 $(WARN) -D_GNU_SOURCE $(INCLUDES) $(PAGE_DEFINE) 2> >(grep -v 'warnings\? generated\.$$' >&2)

cppcheck: $(GENERATED) ## run cppcheck over user/
	$(call tools,cppcheck)
	$(Q)cppcheck --std=c11 --enable=warning,performance,portability --quiet --error-exitcode=1 -D_GNU_SOURCE -DPAGE_TEMPLATE='"page.html"' \
		--library=tests/cppcheck.cfg --inline-suppr -Iinclude -Iuser $(USER_SOURCES) tests/bench/load.c

# ---- the rest ----

clean: ## remove what was built
	rm -rf $(B)

distclean: clean ## remove the cached guest images and kernels, too
	rm -rf .cache

-include $(wildcard $(B)/user/*.d $(B)/user/*/*.d $(B)/user/*/*/*.d $(B)/bpf/*.d $(B)/tests/*.d $(B)/fuzz/*/*.d $(B)/fuzz/*/*/*.d $(B)/bench/*.d)
