# Tilewalk. `make run` sets up, builds and takes the tour; `make test` sets up, builds and tests.
# `make help` lists every target and option.

BUILD ?= $(if $(SAN),$(if $(filter thread,$(SAN)),build/threads,build/san),build)
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
FUZZ_SECONDS ?= 60
WARN := -std=c11 -Wall -Wextra -Wshadow -Wconversion
NVCC := $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)

comma := ,
has = $(shell pkg-config --exists $1 2>/dev/null && echo yes)
PKGS := cairo pangocairo jansson lua5.4 md4c
READY := $(call has,$(PKGS))
ROOMS := sim $(patsubst %/,%,$(wildcard sim/*/)) sim/algorithms/language sim/algorithms/walk kernels/counters kernels/ptx lessons/engine viz/request viz/text viz/chart viz/scene viz/export viz/cli

# Optional parts: each is one define, its packages, and one line when it is missing.
ifeq ($(call has,libwebp libwebpmux),yes)
DEFINES += -DTILEWALK_WEBP
PKGS += libwebp libwebpmux
else
NOTICE += "No libwebp-dev: animated WebP export is left out."
endif
ifneq ($(wildcard /usr/include/gif_lib.h),)
DEFINES += -DTILEWALK_GIF
LIBS += -lgif
else
NOTICE += "No libgif-dev: animated GIF export is left out."
endif
ifneq ($(wildcard viz/window/*.c),)
ifeq ($(call has,sdl2),yes)
DEFINES += -DTILEWALK_WINDOW
PKGS += sdl2
ROOMS += viz/window
else
NOTICE += "No libsdl2-dev: the viewer window is left out."
endif
endif
OPENMP := $(shell printf '\043include <omp.h>\n' | $(CC) -fopenmp -fsyntax-only -x c - 2>/dev/null && echo -fopenmp)

ifdef SAN
SANITIZE := -O1 -g1 -fsanitize=$(if $(filter thread,$(SAN)),thread,address$(comma)undefined -fno-sanitize-recover=undefined) -fno-omit-frame-pointer
endif
ifdef HARDEN
HARDENED := $(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3) -fstack-protector-strong -fPIE
LDFLAGS += -pie -Wl,-z,relro,-z,now
endif
PKG_CFLAGS := $(if $(READY),$(subst -I,-isystem ,$(shell pkg-config --cflags $(PKGS) cmocka 2>/dev/null || pkg-config --cflags $(PKGS))))
PKG_LIBS := $(if $(READY),$(shell pkg-config --libs $(PKGS)))
COMPILE = $(CC) $(WARN) $(CFLAGS) $(HARDENED) $(SANITIZE) $(OPENMP) $(DEFINES) -I. $(PKG_CFLAGS)
LINK = $(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -Wl,--as-needed
LINK_LIBS = $(PKG_LIBS) $(LIBS) -lstdc++ -lm

SRC := $(foreach room,$(ROOMS),$(wildcard $(room)/*.c))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(BUILD)/programs.o
# The shipped algorithms, in the order in which they are listed: program text, compiled to tables of C at build time.
PROGRAMS := $(patsubst %,sim/algorithms/%.walk,standard fa1 fa2 fa2-split)
MAINS := $(BUILD)/viz/cli/main.o $(BUILD)/viz/cli/main_small.o
GPU_ONLY := kernels/lib/harness.cu kernels/ladder/eager_cublas.cu $(filter-out %/probe_watch.cu,$(wildcard kernels/probes/*.cu))
RUNGS := $(filter-out $(GPU_ONLY),$(wildcard kernels/ladder/*.cu))
CPU_RUNGS := $(RUNGS:%.cu=$(BUILD)/%.cpu.o) $(patsubst %,$(BUILD)/kernels/lib/%.o,verify verify_backward run_on_cpu cpu_check)
LIB := $(filter-out $(MAINS),$(OBJ)) $(CPU_RUNGS)
# One command in two programs: viz/cli/two_programs.h. The small one is static where libraries and linker allow it: half of
# its start would be the loading of three.
PROGRAM := $(BUILD)/tilewalk $(BUILD)/tilewalk-full
SMALL_LIBS = $(shell pkg-config --libs jansson lua5.4) -lm
PLAIN_STATIC := -static -Wl,--no-warnings
STATIC = $(if $(SAN)$(HARDEN),,$(shell echo 'int main(void) { return 0; }' | $(CC) $(OPENMP) $(PLAIN_STATIC) -x c - $(SMALL_LIBS) -o /dev/null 2>/dev/null && echo '$(PLAIN_STATIC)'))

# The binaries of tests lie together, build/tests/NAME: no name is used twice.
vpath %.c $(wildcard tests/*)
vpath %.cpp $(wildcard tests/*)
binaries = $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(wildcard tests/*/$1_*.c)))
REPLAYS := $(patsubst $(BUILD)/tests/fuzz_%,$(BUILD)/tests/replay_%,$(filter-out %/fuzz_driver,$(call binaries,fuzz)))
TESTS := $(call binaries,test) $(BUILD)/tests/test_kernels $(REPLAYS)
SCRIPTS := $(wildcard tests/*/test_*.sh)
# Predictions held against recorded counters take minutes: `make test-model` runs them, with sanitizers nobody.
MODEL := %/test_accuracy_table.sh %/test_scans %/test_scan_places %/test_places %/test_spills %/test_short_launches %/test_l2_counters %/test_longer
MODEL_TESTS := $(filter $(MODEL),$(SCRIPTS) $(TESTS))
TESTS := $(filter-out $(MODEL),$(TESTS))
SCRIPTS := $(filter-out $(MODEL),$(SCRIPTS))
# What runs little or nothing of ours has nothing for the sanitizers.
ifdef SAN
SCRIPTS := $(filter-out %/test_layers.sh %/test_install.sh %/test_package.sh %/test_counters_index.sh %/test_words.sh,$(SCRIPTS))
endif
# The longest begin first.
LONG := $(foreach long,%/test_kernels %/test_scene %/test_commands_memory %/test_l2_run %/test_lesson_walk %/test_view_window.sh,$(filter $(long),$(SCRIPTS) $(TESTS)))
SUPPORT := $(patsubst %.c,$(BUILD)/tests/%.o,$(notdir $(wildcard tests/support/*.c)))
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,-u,__wrap_malloc
# The system calls of a save, which one test has fail (the names with _chk are those of _FORTIFY_SOURCE).
SYSTEM_WRAP := $(foreach call,open read write fsync close rename unlink mkdir flock fchmod stat fstat lstat __read_chk,-Wl$(comma)--wrap=$(call))
$(BUILD)/tests/test_record: WRAP += $(SYSTEM_WRAP)

.PHONY: all run test test-model check check-model bench pictures accuracy ablations layers kernels coverage mutate fuzz setup install uninstall dist deb clean help
.SECONDARY:
all: $(PROGRAM)

ifeq ($(READY),)
ifneq ($(filter-out run test test-model setup clean help web,$(or $(MAKECMDGOALS),all)),)
$(error Some needed packages are missing; `make setup` names and installs them)
endif
endif

# run and test install what is missing first, so the real work happens in a second make that sees it.
again = @+$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
run:
	@.ci/setup run
	$(again) $(BUILD)/tilewalk
	@TILEWALK_ASSETS=assets $(BUILD)/tilewalk tour
	@printf '\nBuilding what draws: the viewer, pictures, lessons.\n'
	$(again) all
test:
	@.ci/setup test
	$(again) check
test-model:
	@.ci/setup test
	$(again) check-model
setup:
	@.ci/setup all

check: $(PROGRAM) $(TESTS)
	@tests/support/run.sh $(BUILD) $(LONG) $(filter-out $(LONG),$(SCRIPTS) $(TESTS))
check-model: $(PROGRAM) $(filter $(BUILD)/%,$(MODEL_TESTS))
	@tests/support/run.sh $(BUILD) $(MODEL_TESTS)
# Two print every recorded scan beside its prediction, for minutes: they go with `make build/tests/bench_scan_fit` alone.
BENCHES := $(filter-out %/bench_hierarchy %/bench_scan_fit,$(call binaries,bench))
bench: $(PROGRAM) $(BENCHES)
	@for b in $(BENCHES); do BUILD=$(BUILD) $$b || exit 1; done
pictures: $(PROGRAM) $(BUILD)/tests/picture_scenes $(BUILD)/tests/picture_lesson
	$(BUILD)/tests/picture_scenes assets/pictures/scenes.png
	$(BUILD)/tests/picture_lesson assets/pictures/lesson.png
	TILEWALK_ASSETS=assets $(BUILD)/tilewalk render --scene main --frames 98:138 --sub-frames 5 --frame-ms 70 --size 1120x630 \
	  -o assets/pictures/moving.webp
	TILEWALK=$(BUILD)/tilewalk tests/support/gallery.sh
accuracy: $(PROGRAM) # the tables of predicted and measured in sim/l2/MODEL.md, and the README's
	@BUILD=$(BUILD) tests/support/accuracy_table.sh write
ablations: $(PROGRAM) # the table of the parts of the model of L2 there, and what each buys
	@BUILD=$(BUILD) tests/support/accuracy_table.sh ablations
layers: $(OBJ)
	@tests/support/layers.sh . $(BUILD)

# Compiling. A stamp changes only when its text does: new flags rebuild all, a removed file the library. It is written as
# this file is read: a target that is always remade would have make rebuild what hangs on it.
stamp = $(shell mkdir -p $(BUILD); echo '$2' >$(BUILD)/$1.$$$$; cd $(BUILD); if cmp -s $1.$$$$ $1.stamp; then rm $1.$$$$; else mv $1.$$$$ $1.stamp; fi)
ifneq ($(READY),)
$(call stamp,flags,$(COMPILE))
$(call stamp,members,$(LIB))
endif
say = $(if $(V),,@echo "  $1  $@";)

$(BUILD)/%.o: %.c $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC )$(COMPILE) -MMD -MP -c $< -o $@
COMPILER_SRC := $(wildcard sim/algorithms/compile/*.c sim/algorithms/language/*.c) sim/base/error.c
$(BUILD)/compile: $(COMPILER_SRC) $(wildcard sim/algorithms/*.h sim/algorithms/language/*.h)
	@mkdir -p $(@D)
	$(call say,CC )$(CC) $(WARN) -O1 -I. $(COMPILER_SRC) -lm -o $@
$(BUILD)/programs.c: $(BUILD)/compile $(PROGRAMS) Makefile
	@$(BUILD)/compile $(PROGRAMS) >$@.new && mv $@.new $@
$(BUILD)/programs.o: $(BUILD)/programs.c $(BUILD)/flags.stamp
	$(call say,CC )$(COMPILE) -MMD -MP -c $< -o $@
$(BUILD)/tests/%.o: %.c $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC )$(COMPILE) -MMD -MP -c $< -o $@
$(BUILD)/libtilewalk.a: $(LIB) $(BUILD)/members.stamp
	$(call say,AR )rm -f $@ && $(AR) rcs $@ $(LIB)
$(BUILD)/tilewalk: $(BUILD)/viz/cli/main_small.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $(STATIC) $^ $(SMALL_LIBS) -o $@
	$(if $(NOTICE),@printf '%s\n' $(NOTICE))
$(BUILD)/tilewalk-full: $(BUILD)/viz/cli/main.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ $(LINK_LIBS) -o $@
$(BUILD)/tests/support.a: $(SUPPORT)
	$(call say,AR )rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/tests/replay_%: $(BUILD)/tests/fuzz_%.o $(BUILD)/tests/fuzz_driver.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ $(LINK_LIBS) -o $@
$(BUILD)/tests/bench_scan_fit: $(BUILD)/tests/bench_scan_fit.o $(BUILD)/tests/support.a $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ $(LINK_LIBS) -lcmocka -o $@
$(BUILD)/tests/bench_%: $(BUILD)/tests/bench_%.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ $(LINK_LIBS) -o $@
$(BUILD)/tests/picture_%: $(BUILD)/tests/picture_%.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ $(LINK_LIBS) -o $@
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libtilewalk.a $(BUILD)/tests/support.a
	$(call say,LD )$(LINK) $(WRAP) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LINK_LIBS) -lcmocka -o $@

# CUDA kernels. On the CPU (kernels/lib/simt.h), with any C++ compiler, they are part of `make test`; for a GPU they
# need nvcc: each rung twice, once counting its bytes, and two rungs three times more, marking when each CTA runs, timing its reads, or noting its end.
COMPILE_CXX = $(CXX) -std=c++17 -Wall -Wextra -Wno-unknown-pragmas $(if $(findstring clang,$(CXX)),-Wno-pass-failed -Wno-c++20-designator,-fno-ipa-icf) $(CFLAGS) $(HARDENED) $(SANITIZE) -I. $(PKG_CFLAGS) -MMD -MP
# Half of the build at -O2 -g: their templates take long, and small shapes are run.
CPU_FLAGS = $(if $(filter -O2,$(CFLAGS)),-O1 -g1)
$(BUILD)/%.cpu.o: %.cu $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CXX)$(COMPILE_CXX) $(CPU_FLAGS) -DTW_COUNTING -x c++ -c $< -o $@
$(BUILD)/%.o: %.cpp $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CXX)$(COMPILE_CXX) -c $< -o $@
$(BUILD)/tests/%.o: %.cpp $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CXX)$(COMPILE_CXX) -c $< -o $@
$(BUILD)/tests/test_kernels: $(BUILD)/tests/test_kernels.o $(BUILD)/tests/broken_kernel.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ -lcmocka -lstdc++ -lm -o $@

# GPU code for Turing, Ampere and Hopper; KERNEL_ARCHS="90" is quicker.
KERNEL_ARCHS ?= 75 80 90
GENCODE = $(foreach a,$(KERNEL_ARCHS),-gencode=arch=compute_$a,code=sm_$a)
# These need Ampere: no code for Turing.
AMPERE := $(addprefix kernels/ladder/,fa2_tensor fa2_async fa2_decode fa2_backward fa2_backward_twice) $(addprefix kernels/probes/,probe_coalescer probe_ends probe_pace probe_scan probe_sets probe_spills probe_steps probe_waves)
$(foreach f,$(AMPERE),$(BUILD)/$f.%.o): GENCODE = $(foreach a,$(filter-out 75,$(KERNEL_ARCHS)),-gencode=arch=compute_$a,code=sm_$a)
# wgmma and setmaxnreg are of Hopper alone.
HOPPER_RUNGS := fa2_wgmma fa3_overlap fa3_backward
$(foreach r,$(HOPPER_RUNGS),$(BUILD)/kernels/ladder/$r.%.o): GENCODE = -gencode=arch=compute_90a,code=sm_90a
COMPILE_CU = $(NVCC) -std=c++17 -O3 -lineinfo -Xcompiler -Wall,-Wextra,-fPIC -Wno-deprecated-gpu-targets $(GENCODE) -I. -MMD -MP
$(BUILD)/%.plain.o: %.cu
	@mkdir -p $(@D)
	$(call say,NVCC)$(COMPILE_CU) -c $< -o $@
$(BUILD)/%.counted.o: %.cu
	@mkdir -p $(@D)
	$(call say,NVCC)$(COMPILE_CU) -DTW_COUNTING -c $< -o $@
$(BUILD)/%.marked.o: %.cu
	@mkdir -p $(@D)
	$(call say,NVCC)$(COMPILE_CU) -DTW_MARKED -c $< -o $@
$(BUILD)/%.ended.o: %.cu
	@mkdir -p $(@D)
	$(call say,NVCC)$(COMPILE_CU) -DTW_ENDED -c $< -o $@
$(BUILD)/%.timed.o: %.cu
	@mkdir -p $(@D)
	$(call say,NVCC)$(COMPILE_CU) -DTW_TIMED -c $< -o $@
GPU_RUNGS := $(foreach b,marked timed ended,$(patsubst %,$(BUILD)/kernels/ladder/%.$b.o,fa2_tensor fa2_async)) $(foreach b,plain counted,$(RUNGS:%.cu=$(BUILD)/%.$b.o))
$(BUILD)/tilewalk-kernels: $(GPU_RUNGS) $(GPU_ONLY:%.cu=$(BUILD)/%.plain.o) $(BUILD)/kernels/lib/harness_request.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(NVCC) $(GENCODE) -Wno-deprecated-gpu-targets $(addprefix -Xcompiler ,$(SANITIZE)) $^ -ldl -lgomp -o $@
# The rungs for programs in other languages (kernels/collect/collect_beside.py, collect_more.py).
$(BUILD)/libladder.so: $(patsubst %.cu,$(BUILD)/%.plain.o,$(RUNGS) kernels/lib/ladder.cu kernels/lib/ladder_more.cu)
	$(call say,LD )$(NVCC) $(GENCODE) -Wno-deprecated-gpu-targets -shared $^ -o $@
$(BUILD)/libwatch.so: kernels/probes/probe_watch.cu kernels/lib/cuda_calls.h kernels/lib/ptx_inline.cuh
	@mkdir -p $(@D)
	$(call say,NVCC)$(COMPILE_CU) -MF $@.d -shared -Xcompiler -fPIC $< -o $@
kernels:
ifneq ($(NVCC),)
	@+$(MAKE) --no-print-directory $(BUILD)/tilewalk-kernels $(BUILD)/libladder.so $(BUILD)/libwatch.so
else
	@echo "No nvcc: the CUDA kernels are left out."
endif

# Fuzzing needs clang; the same targets replay their corpus with any compiler in `make test`.
fuzz:
	@tests/fuzz/fuzz.sh $(FUZZ_SECONDS)
$(BUILD)/tests/libfuzzer_%: $(BUILD)/tests/fuzz_%.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) -fsanitize=fuzzer $^ $(LINK_LIBS) -o $@
coverage:
	@tests/support/coverage.sh
mutate: $(PROGRAM) $(call binaries,test) # changes the program here and there, and asks its tests
	@COMPILE='$(COMPILE)' LINK='$(LINK) $(WRAP)' WRAP='$(WRAP)' SYSTEM_WRAP='$(SYSTEM_WRAP)' LIBS='$(LINK_LIBS)' MUTATE_SECONDS=$(MUTATE_SECONDS) tests/support/mutate.py $(BUILD) $(MUTATE)

# The version: of the tag, else of the archive that this was unpacked from, else of the changelog's newest heading.
CHANGELOG := assets/package/CHANGELOG.md
VERSION := $(firstword $(if $(wildcard .git),$(shell git describe --tags --match 'v*' 2>/dev/null | sed 's/^v//')) $(shell cat .version 2>/dev/null) \
  $(shell sed -n 's/^## //p;T;q' $(CHANGELOG)))
ifneq ($(READY),)
$(call stamp,version,$(VERSION))
endif
$(BUILD)/viz/cli/two_programs.o $(BUILD)/viz/cli/man.o: COMPILE += -DTILEWALK_VERSION='"$(VERSION)"'
$(BUILD)/viz/cli/two_programs.o $(BUILD)/viz/cli/man.o: $(BUILD)/version.stamp
dist: # the source as an archive
	@mkdir -p $(BUILD) && echo $(VERSION) >$(BUILD)/.version
	git archive --prefix=tilewalk-$(VERSION)/ --add-file=$(BUILD)/.version -o $(BUILD)/tilewalk-$(VERSION).tar.gz HEAD
deb: dist # the Debian package, in $(BUILD)/deb; DEB_OBJECTS=build: of objects that are there, for its test
	rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	tar -C $(BUILD)/deb -xzf $(BUILD)/tilewalk-$(VERSION).tar.gz
	cp -r assets/package/debian $(BUILD)/deb/tilewalk-$(VERSION)/
	printf 'tilewalk (%s) unstable; urgency=medium\n\n  * See assets/package/CHANGELOG.md.\n\n -- Tilewalk contributors <tilewalk@localhost>  %s\n' \
	  '$(VERSION)' "$$(date -R -u -d "@$$(git log -1 --format=%ct)")" >$(BUILD)/deb/tilewalk-$(VERSION)/debian/changelog
	$(if $(DEB_OBJECTS),mkdir $(BUILD)/deb/tilewalk-$(VERSION)/build && tar -C $(DEB_OBJECTS) --exclude=./tests --exclude=./web --exclude=./wasm \
	  --exclude=./san --exclude=./ci --exclude=./sources --exclude=./clang -cf - . | tar -C $(BUILD)/deb/tilewalk-$(VERSION)/build -xf - && \
	  find $(BUILD)/deb/tilewalk-$(VERSION)/build -exec touch -r $(BUILD)/deb {} +)
	cd $(BUILD)/deb/tilewalk-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL -u BUILD dpkg-buildpackage -us -uc -b $(DEB_FLAGS)

ROOT = $(DESTDIR)$(PREFIX)
SAYS_tilewalk.1 := _man
SAYS_tilewalk.bash := _complete-bash
SAYS__tilewalk := _complete-zsh
SAYS_tilewalk.fish := _complete-fish
GENERATED := $(patsubst %,$(BUILD)/%,tilewalk.1 tilewalk.bash _tilewalk tilewalk.fish)
$(GENERATED): $(PROGRAM)
	@$(BUILD)/tilewalk $(SAYS_$(@F)) >$@.$$$$ && mv $@.$$$$ $@
install: all $(GENERATED)
	install -Dm755 $(BUILD)/tilewalk "$(ROOT)/bin/tilewalk"
	for p in $(notdir $(filter %-full,$(PROGRAM))); do install -Dm755 $(BUILD)/$$p "$(ROOT)/lib/tilewalk/$$p" || exit 1; done
	find assets lessons kernels/cuda -type f \( -path 'kernels/*' -o ! -name '*.[ch]' \) ! -path 'assets/pictures/*' ! -path 'assets/package/*' -exec sh -c 'for f; do install -Dm644 "$$f" "$$0/$$f" || exit 1; done' "$(ROOT)/share/tilewalk" {} +
	install -Dm644 $(BUILD)/tilewalk.1 "$(ROOT)/share/man/man1/tilewalk.1"
	install -Dm644 $(BUILD)/tilewalk.bash "$(ROOT)/share/bash-completion/completions/tilewalk"
	install -Dm644 $(BUILD)/_tilewalk "$(ROOT)/share/zsh/site-functions/_tilewalk"
	install -Dm644 $(BUILD)/tilewalk.fish "$(ROOT)/share/fish/vendor_completions.d/tilewalk.fish"
uninstall:
	rm -f "$(ROOT)/bin/tilewalk" "$(ROOT)/share/man/man1/tilewalk.1"
	rm -f "$(ROOT)/share/bash-completion/completions/tilewalk" "$(ROOT)/share/zsh/site-functions/_tilewalk" "$(ROOT)/share/fish/vendor_completions.d/tilewalk.fish"
	rm -rf "$(ROOT)/share/tilewalk" "$(ROOT)/lib/tilewalk"
clean:
	rm -rf $(BUILD)

help:
	@sed -n 's/^#: //p' Makefile
#: make run        install what is missing, build, take the tour
#: make test       install what is missing, build, run the tests
#: make test-model   predictions of L2 against recorded counters: minutes
#: make            build only; `make setup` installs what is missing
#: make bench      speed, as figures and ratios       make coverage  lines and branches that the tests run
#: make layers     no room uses what it must not      make fuzz      FUZZ_SECONDS=60 for each parser
#: make kernels    the CUDA kernels (needs nvcc)      make clean
#: make mutate     changes that no test notices   (MUTATE_SECONDS=60; tests/support/mutate.py)
#: make pictures   scenes and the gallery            make accuracy  the tables of predicted and measured
#: make ablations  what each part of the model of L2 buys
#: make web        the viewer as a folder of web pages      make web-serve  shows it      make test-web  in Chromium      make bench-web  times it
#: make install    PREFIX=/usr/local DESTDIR=         make uninstall
#: make dist       the source as an archive            make deb       the Debian package
#: Options: SAN=1 (sanitizers, into build/san; SAN=thread: tests/support/threads.sh)  HARDEN=1 (_FORTIFY_SOURCE, RELRO, PIE)  BUILD=dir  V=1 (show commands)  CC=  CFLAGS=

include viz/web/web.mk
-include $(wildcard $(BUILD)/kernels/*/*.d $(BUILD)/tests/*.d $(OBJ:.o=.d))
