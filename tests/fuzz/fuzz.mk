# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzzers of the parsers.
.PHONY: fuzz fuzz-grow

FUZZERS := $(patsubst tests/fuzz/%.c,$(T)/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60

# The inputs of each, out of one file: see tests/fuzz/corpus.py.
$(if $(wildcard tests/fuzz/corpus/*/.),$(error an input goes into tests/fuzz/corpus/NAME.txt, a folder is not read: $(wildcard tests/fuzz/corpus/*/)))
INPUTS := $(patsubst $(T)/fuzz_%,$(T)/inputs/%/.made,$(FUZZERS))

tests: $(FUZZERS) $(INPUTS)

$(T)/inputs/%/.made: tests/fuzz/corpus/%.txt tests/fuzz/corpus.py
	$(Q)tests/fuzz/corpus.py unpack $< $(@D) && touch $@

# An empty array of a snapshot is NULL, and NULL + 0 is fine with all compilers that we know.
FUZZ_FLAGS := -fno-sanitize=pointer-overflow
FUZZ_SANITIZE := -fsanitize=address,undefined $(FUZZ_FLAGS)
FUZZ_CC = $(CLANG) -std=gnu11 -O1 -g -D_GNU_SOURCE $(INCLUDES) $(PAGE_DEFINE) -MMD -MP -fno-sanitize-recover=all
$(B)/fuzz/%.o: user/%.c Makefile | $(GENERATED)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined $(FUZZ_FLAGS) -c $< -o $@

$(B)/fuzz/sinks/page.o: $(G)/page.html

# All but main(), built with the sanitizers.
$(B)/fuzz/libxidscope.a: $(patsubst user/%.c,$(B)/fuzz/%.o,$(filter-out user/main.c,$(USER_SOURCES)))
	$(Q)rm -f $@ && ar rcs $@ $^

$(T)/fuzz_%: tests/fuzz/fuzz_%.c $(B)/fuzz/libxidscope.a
	$(say) FUZZ $@
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined $(filter %.c %.a,$^) -o $@ $(LIBS)

fuzz: $(FUZZERS) $(INPUTS) ## fuzz each parser for FUZZ_SECONDS (60)
	$(Q)for name in $(FUZZERS:$(T)/fuzz_%=%); do \
		fuzzer=$(T)/fuzz_$$name; \
		mkdir -p $$fuzzer.corpus && $$fuzzer -max_total_time=$(FUZZ_SECONDS) -max_len=1024 -artifact_prefix=$$fuzzer- \
			$$fuzzer.corpus $(T)/inputs/$$name || exit; \
	done

# Edges alone, not how often they are taken: that keeps the files small.
fuzz-grow: fuzz ## the same, then keep the inputs that reach something new in tests/fuzz/corpus/
	$(Q)for name in $(FUZZERS:$(T)/fuzz_%=%); do \
		fuzzer=$(T)/fuzz_$$name; \
		rm -rf $$fuzzer.merged && mkdir $$fuzzer.merged && rm $(T)/inputs/$$name/.made && \
		$$fuzzer -merge=1 -use_counters=0 $$fuzzer.merged $(T)/inputs/$$name $$fuzzer.corpus && \
		tests/fuzz/corpus.py keep tests/fuzz/corpus/$$name.txt $$fuzzer.merged || exit; \
	done
