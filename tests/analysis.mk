# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Analysis of the code and of the page. As root, a target installs its tools.
.PHONY: page-test asan tidy cppcheck

page-test: $(B)/xidscope $(T)/write_recording ## check the page of trace --html in Chromium with axe (PICTURES= takes screenshots)
	$(call tools,chromium $(if $(shell command -v npm),,npm))
	$(Q)tests/page/check.sh $(PICTURES)

tools = $(Q)tests/deps.sh --only '$(1)'

# The sanitizers' runtimes are linked in; libbpf, libelf and libz are in the guest.
asan: deps ## run guest scenarios with ASan and UBSan, as `make unit` runs the unit tests
	$(Q)$(MAKE) --no-print-directory $(T)/refuse
	$(Q)$(MAKE) --no-print-directory B=$(B)/asan STATIC= \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -static-libasan -static-libubsan' \
		$(B)/asan/xidscope
	$(Q)XIDSCOPE=$(B)/asan/xidscope tests/vm/check.sh --only \
		'late exact sources refused polled slot session delay stopped-server kills names signals paths trace' 6.1

tidy: $(GENERATED) ## run clang-tidy over user/
	$(call tools,clang-tidy)
	$(Q)printf '%s\n' $(USER_SOURCES) tests/bench/load.c | xargs -P "$$(nproc)" -I{} clang-tidy --quiet {} -- \
		-std=gnu11 $(WARN) -D_GNU_SOURCE $(INCLUDES) $(PAGE_DEFINE) 2> >(grep -v 'warnings\? generated\.$$' >&2)

cppcheck: $(GENERATED) ## run cppcheck over user/
	$(call tools,cppcheck)
	$(Q)cppcheck --std=c11 --enable=warning,performance,portability --quiet --error-exitcode=1 -D_GNU_SOURCE -DPAGE_TEMPLATE='"page.html"' \
		--library=tests/cppcheck.cfg --inline-suppr -Iinclude -Iuser $(USER_SOURCES) tests/bench/load.c
