# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds, tests and installs xidscope. `make help` lists the targets here, `make help-all` also those of the makefiles below.
MORE := $(wildcard tests/*/*.mk tests/*.mk deploy/*.mk)

# The version and its date are those of the first release in CHANGELOG.md.
release := $(shell sed -n 's/^## \[\([0-9.]*\)] - \([0-9-]*\)$$/\1 \2/p' CHANGELOG.md | sed -n 1p)
VERSION := $(or $(firstword $(release)),$(error CHANGELOG.md has no heading "[VERSION] - DATE"))
# Where install puts what.
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
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
# With _FORTIFY_SOURCE, as packages are: a bound above its buffer is an error in each build.
CFLAGS ?= -O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2

# Quiet unless V=1. $(say) begins a recipe: it says what is made and makes the folder for it.
Q := $(if $(filter 1,$(V)),,@)
say = @mkdir -p $(@D) && $(if $(Q),printf '  %-8s %s\n',:)

WARN := -Wall -Wextra -Werror
INCLUDES := -I$(G) -Iinclude -Iuser
# Of user/sinks/session_json.c, which includes the file as bytes.
PAGE_DEFINE = -DPAGE_TEMPLATE='"$(G)/page.html"'
# -fno-strict-aliasing as the kernel does; _GNU_SOURCE for asprintf and flock.
# The same files in another folder give the same program.
HERE := -ffile-prefix-map=$(CURDIR)=.
USER_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(HERE) -fno-strict-aliasing -D_GNU_SOURCE \
	$(INCLUDES) $(PAGE_DEFINE) -MMD -MP
LIBS := -lbpf -lelf -lz -lm
# A static binary runs in any container; the sanitizers cannot have one.
STATIC := -static

# All code of the agent stays in memory. What is not busy at each write is made small.
$(patsubst %,$(B)/user/%/%.o,commands limits nfs past session writer xid): CFLAGS += -Os

BPF_CPU := v3
# This one must load before 5.12, which brought v3's atomics: using their value is an error here.
$(B)/bpf/rpc_tracepoints.bpf.o: BPF_CPU := v2
# The programs are relocated when they are loaded: any 64-bit target will do.
BPF_CFLAGS = $(HERE) -std=gnu11 -g -O2 -target bpf -mcpu=$(BPF_CPU) $(WARN) \
	-Wno-unused-parameter -D__TARGET_ARCH_$(bpf_arch_$(TARGET)) \
	-Ivmlinux -Iinclude -Ibpf -MMD -MP

BPF_OBJECTS := $(patsubst bpf/%.bpf.c,$(B)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))
SKELETONS := $(patsubst bpf/%.bpf.c,$(G)/%.skel.h,$(wildcard bpf/*.bpf.c))
TABLES := $(wildcard user/*/*.tsv user/*/*/*.tsv)
vpath %.tsv $(dir $(TABLES))
GENERATED := $(SKELETONS) $(G)/version.h $(G)/page.html $(patsubst %.tsv,$(G)/%.inc,$(notdir $(TABLES)))
USER_SOURCES := $(wildcard user/*.c user/*/*.c user/*/*/*.c)
USER_OBJECTS := $(USER_SOURCES:%.c=$(B)/%.o)

.PHONY: all help help-all install uninstall image deps deps-build demo tests unit lint format check clean distclean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/xidscope ## build the static binary build/xidscope (default)

help: ## list these targets
help-all: ## list all targets: also bench, soak, faults, fleet, fuzz, analysis, packages and releases
help help-all:
	@awk -F ':.*## ' 'FNR == 2 { title = FILENAME == "Makefile" ? "" : $$0 } !/^[a-z0-9-]+:.*## / { next } \
		title { print title; title = "" } { printf "  make %-17s %s\n", $$1, $$2 }' Makefile $(if $(filter help-all,$@),$(MORE))
	@echo '  V=1 shows the commands; DESTDIR=, PREFIX=, SYSCONFDIR= and UNITDIR= set the folders of install; ARCH=arm64 builds for arm64, in build/arm64.'

# ---- tools: what is missing is named with its package ----

need = $(if $(wildcard $(1))$(shell command -v $(1)),,$(error $(1) is missing: install the Debian package $(2), or run `$(make_deps)` as root))
make_deps = make deps-build$(if $(CROSS), ARCH=$(CROSS))

$(B)/.tools: Makefile
	$(call need,$(firstword $(CC)),gcc$(if $(CROSS),-$(triplet_$(TARGET))))
	$(call need,$(CLANG),clang)
	$(call need,$(BPFTOOL),bpftool)
	$(call need,llvm-strip,llvm)
	$(call need,llvm-objcopy,llvm)
	@printf '#include <bpf/libbpf.h>\n#include <libelf.h>\n#include <zlib.h>\nint main(void) { return 0; }\n' | \
		$(CC) $(STATIC) -o /dev/null -x c - $(LIBS) 2>/dev/null || \
		{ echo 'headers or libraries are missing: install the Debian packages $(addsuffix $(addprefix :,$(CROSS)),libbpf-dev libelf-dev zlib1g-dev), or run `$(make_deps)` as root' >&2; exit 1; }
	$(call need,$(DYGRAPHS)/dygraph.min.js,libjs-dygraphs)
	@mkdir -p $(G) && touch $@

# ---- generated ----

$(G)/version.h: Makefile CHANGELOG.md | $(B)/.tools
	$(Q)printf '#define XIDSCOPE_VERSION "%s"\n' '$(VERSION)' >$@

$(G)/%.inc: %.tsv user/table.awk | $(B)/.tools
	$(say) GEN $@
	$(Q)awk -f user/table.awk $< >$@

# The page that `trace --html` writes, without the session: its parts and the charting library dygraphs.
DYGRAPHS ?= /usr/share/javascript/dygraphs
PAGE := user/sinks/page
$(G)/page.html: $(wildcard $(PAGE)/*) | $(B)/.tools
	$(say) GEN $@
	$(Q)awk -v STYLE=$(PAGE)/page.css -v SCRIPT=$(PAGE)/page.js -v DYGRAPHS_CSS=$(DYGRAPHS)/dygraph.min.css \
		-v DYGRAPHS_JS=$(DYGRAPHS)/dygraph.min.js -f $(PAGE)/assemble.awk $(PAGE)/page.html >$@

define compile_bpf
	$(say) BPF $@
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(Q)llvm-strip -g $@
	$(Q)bpf/without_lines.sh $@
endef

$(B)/bpf/%.bpf.o: bpf/%.bpf.c bpf/without_lines.sh | $(B)/.tools
	$(compile_bpf)

# What bpftool 7.1 writes leaks when memory is short: a bug of bpftool, which the analyzer must not report here. The largest
# objects get the section that memory_drop_program() does not keep.
define make_skeleton
	$(say) SKEL $@
	$(Q){ echo '/* NOLINTBEGIN(clang-analyzer-unix.Malloc) */' && \
		$(BPFTOOL) gen skeleton $< name $(patsubst %.bpf,%_bpf,$(basename $(notdir $<))) | awk -v large=$(filter rpc%,$(notdir $<)) \
			'large && sub(/return \(const void \*\)"/, "static const char data[] __attribute__((section(\"once\"), aligned(8))) = \"") { object = 1 } \
			object && /";$$/ { $$0 = $$0 " return data;"; object = 0 } 1' && \
		echo '/* NOLINTEND(clang-analyzer-unix.Malloc) */'; } >$@
endef

$(G)/%.skel.h: $(B)/bpf/%.bpf.o
	$(make_skeleton)

# ---- the program ----

$(B)/user/%.o: user/%.c Makefile | $(GENERATED)
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) -c $< -o $@

$(B)/user/sinks/session_json.o: $(G)/page.html

$(B)/xidscope: $(USER_OBJECTS)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(STATIC) -Wl,-Map=$@.map -o $@ $^ $(LIBS)

install: all ## install the program, unit, man page, completion, documents, rules and scripts
	$(Q)deploy/install.sh $(B) '$(DESTDIR)' '$(PREFIX)' '$(SYSCONFDIR)' '$(UNITDIR)'

uninstall: ## stop the service and remove what install has put there; STATE=remove: fault counts, acknowledgements, settings, too
	$(Q)deploy/uninstall.sh $(if $(filter remove,$(STATE)),--state) '$(PREFIX)' '$(DESTDIR)' '$(SYSCONFDIR)'

deps: ## install the packages that building, demo and tests need as root; list the missing ones otherwise
	$(Q)tests/deps.sh $(addprefix --for ,$(CROSS))

deps-build: ## install only the packages that building needs (as root)
	$(Q)tests/deps.sh --build '' $(addprefix --for ,$(CROSS))

demo: deps ## show in a guest: a checkpoint over NFS with few RPC slots, and a failing GPU (as root at first)
	$(Q)$(MAKE) --no-print-directory $(B)/xidscope
	$(Q)tests/demo.sh

# ---- tests ----

T := $(B)/tests
UNIT_TESTS := $(patsubst tests/unit/%.c,$(T)/%,$(wildcard tests/unit/test_*.c))

# All but main(): a test takes from it what it needs.
$(B)/libxidscope.a: $(filter-out %/main.o,$(USER_OBJECTS))
	$(say) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

# With the sanitizers, on what the fuzzers use. clang warns of what gcc accepts in tables, and does not define that it
# sanitizes. A test runs for less time than the compiler takes to optimize it.
$(T)/test_%: tests/unit/test_%.c $(B)/fuzz/libxidscope.a
	$(say) CC $@
	$(Q)$(FUZZ_CC) -O0 $(FUZZ_SANITIZE) $(WARN) -Wno-missing-field-initializers -fno-strict-aliasing -D__SANITIZE_ADDRESS__ \
		-DTEST_DATA='"$(CURDIR)/tests/data"' $< -o $@ $(B)/fuzz/libxidscope.a -lcmocka $(LIBS)

# By gcc, without the sanitizers: programs for the kernel, see tests/unit/bpf_natively.h, and memory that is given back.
BPF_TESTS := $(T)/test_rpc_programs $(T)/test_rpc_tracepoints_program $(T)/test_printk_program
$(BPF_TESTS): INCLUDES += -Ivmlinux -Ibpf
$(BPF_TESTS) $(T)/test_nfs_mounts: $(T)/%: tests/unit/%.c $(B)/libxidscope.a
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) $< -o $@ $(B)/libxidscope.a -lcmocka $(LIBS)

$(T)/write_sample $(T)/write_recording $(T)/write_health: $(T)/%: tests/readers/%.c $(B)/libxidscope.a
	$(say) CC $@
	$(Q)$(CC) $(USER_CFLAGS) $< -o $@ $(B)/libxidscope.a $(LIBS)

QUICK_TESTS := $(UNIT_TESTS) $(T)/write_sample $(T)/write_recording $(T)/write_health
tests: $(QUICK_TESTS)

unit: ## run linters and the tests that need no guest, no BPF and no kernel log, the slow ones excepted (a minute)
	$(Q)$(MAKE) --no-print-directory -j "$$(nproc)" $(B)/xidscope $(QUICK_TESTS)
	$(Q)tests/check.sh --short

lint: ## run shellcheck, flake8, clang-format and the include test
	$(Q)tests/lint.sh
	$(Q)tests/includes.py

format: ## format all C sources with clang-format
	$(Q)find bpf include tests user vmlinux -name '*.[ch]' | xargs clang-format -i

check: deps ## run the tests: unit tests, and guests with several kernels, one of arm64 (about 20 minutes, as root)
	$(Q)$(MAKE) --no-print-directory -j "$$(nproc)" $(B)/xidscope tests
	$(Q)if $(MAKE) --no-print-directory ARCH=arm64 deps; then $(MAKE) --no-print-directory -j "$$(nproc)" ARCH=arm64 all build/arm64/tests/dirty; fi
	$(Q)tests/check.sh

clean: ## remove what was built
	rm -rf $(B)

distclean: clean ## remove the cached guest images and kernels, too
	rm -rf .cache

include $(MORE)

-include $(wildcard $(patsubst %,$(B)/%*.d,user/ user/*/ user/*/*/ bpf/ tests/ fuzz/*/ fuzz/*/*/ bench/))
