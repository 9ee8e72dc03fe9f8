# Tilewalk. `make run` sets up, builds and takes the tour; `make test` sets up, builds and tests.
# `make help` lists every target and option. The kernels, the pages for a browser and the package have makefiles of their own.

BUILD ?= $(if $(SAN),$(if $(filter thread,$(SAN)),build/threads,build/san),build)
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
FUZZ_SECONDS ?= 60
WARN := -std=c11 -Wall -Wextra -Wshadow -Wconversion

comma := ,
has = $(shell pkg-config --exists $1 2>/dev/null && echo yes)
PKGS := cairo pangocairo jansson lua5.4 md4c zlib
READY := $(call has,$(PKGS))

# Optional parts: $(call part,PACKAGES,DEFINE,NOTICE): one define, its packages, and one line when they are missing.
part = $(if $(call has,$1),$(eval DEFINES += -D$2)$(eval PKGS += $1),$(eval NOTICE += "$3"))
$(call part,libwebp libwebpmux,TILEWALK_WEBP,No libwebp-dev: animated WebP export is left out.)
$(call part,sdl2,TILEWALK_WINDOW,No libsdl2-dev: the viewer window is left out.)
$(if $(wildcard /usr/include/gif_lib.h),$(eval DEFINES += -DTILEWALK_GIF)$(eval LIBS += -lgif),$(eval NOTICE += "No libgif-dev: animated GIF export is left out."))
OPENMP := $(shell printf '\043include <omp.h>\n' | $(CC) -fopenmp -fsyntax-only -x c - 2>/dev/null && echo -fopenmp)

ifdef SAN
SANITIZE := -O1 -g1 -fsanitize=$(if $(filter thread,$(SAN)),thread,address$(comma)undefined -fno-sanitize-recover=undefined) -fno-omit-frame-pointer
endif
HARDEN ?= 1
ifneq ($(HARDEN),0)
HARDENED := $(if $(SAN),,$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)) -fstack-protector-strong
LDFLAGS += -Wl,-z,relro,-z,now
endif
# Of i686, too, a double has 64 bits, not the 80 of x87, and so have sizes of files and limits.
SSE := $(if $(filter i%86,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))),-msse2 -mfpmath=sse -D_FILE_OFFSET_BITS=64)
PKG_CFLAGS := $(if $(READY),$(subst -I,-isystem ,$(shell pkg-config --cflags $(PKGS) cmocka 2>/dev/null || pkg-config --cflags $(PKGS))))
PKG_LIBS := $(if $(READY),$(shell pkg-config --libs $(PKGS)))
# One set of objects serves the programs and libtilewalk.so, which shows the names of tilewalk.h alone; it has no sanitizers.
SHARED := $(if $(SAN),,-fPIC -fvisibility=hidden -fno-semantic-interposition)
COMPILE = $(CC) $(WARN) $(CFLAGS) $(SSE) $(SHARED) $(HARDENED) $(SANITIZE) $(OPENMP) $(DEFINES) -I. $(PKG_CFLAGS) -MMD -MP
COMPILE_CXX = $(CXX) -std=c++17 -Wall -Wextra -Wno-unknown-pragmas $(if $(findstring clang,$(CXX)),-Wno-pass-failed -Wno-c++20-designator,-fno-ipa-icf) $(CFLAGS) $(SSE) $(SHARED) $(HARDENED) $(SANITIZE) -I. $(PKG_CFLAGS) -MMD -MP
LINK = $(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -Wl,--as-needed
# Of two hundred tests' binaries lld makes each in a third of the time.
QUICK := $(if $(shell command -v ld.lld),-fuse-ld=lld)
PIE := $(if $(SAN)$(filter 0,$(HARDEN)),,-pie)
LINK_LIBS = $(PKG_LIBS) $(LIBS) -lstdc++ -lm

# Every C file is part of the library, but for the mains, what runs while building, and the browser's own.
SRC := $(filter-out sim/algorithms/compile/% viz/web/% viz/cli/main%,$(wildcard $(foreach room,sim kernels lessons viz,$(room)/*.c $(room)/*/*.c $(room)/*/*/*.c)))
SRC := $(filter-out $(if $(findstring TILEWALK_WINDOW,$(DEFINES)),,viz/window/%),$(SRC))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(BUILD)/programs.o
include kernels/ptx/ptx.mk
# The host code of the rungs, with any C++ compiler; their kernels run as recorded PTX (kernels/lib/ladder_launch.h).
RUNGS := $(filter-out %_cublas.cu,$(wildcard kernels/ladder/*.cu))
ON_CPU := $(RUNGS:%.cu=$(BUILD)/%.cpu.o) $(patsubst %.cpp,$(BUILD)/%.o,$(filter-out %/harness_request.cpp,$(wildcard kernels/lib/*.cpp)))
LIB := $(OBJ) $(ON_CPU)
# The shipped algorithms, in the order in which they are listed: program text, compiled to tables of C at build time.
# Those before -- are what `all` and comparisons are over.
PROGRAMS := standard fa1 fa2 fa2-split -- flash-d two-pass fa3 lazy softcap bias alibi sink dropout sigmoid mla linear linear-chunks ring-attention
PROGRAMS := $(patsubst %,sim/algorithms/%.walk,$(PROGRAMS) standard-backward fa1-backward fa2-backward fa2-backward-twice)
# One command in two programs: viz/cli/two_programs.h. The small one is static where libraries and linker allow it: half
# of its start would be the loading of three, and a static PIE that relocates itself takes a tenth longer to start.
PROGRAM := $(BUILD)/tilewalk $(BUILD)/tilewalk-full
SMALL_LIBS = $(shell pkg-config --libs jansson lua5.4) -lm
PLAIN_STATIC := -static -Wl,--no-warnings
STATIC = $(if $(SAN),,$(shell echo 'int main(void) { return 0; }' | $(CC) $(OPENMP) $(PLAIN_STATIC) -x c - $(SMALL_LIBS) -o /dev/null 2>/dev/null && echo '$(PLAIN_STATIC)' || echo $(PIE)))

# The binaries of tests lie together, build/tests/NAME: no name is used twice. tests/recorded holds predictions against
# recorded counters, which take minutes: `make test-model` runs them, with sanitizers nobody.
vpath %.c $(wildcard tests/*)
vpath %.cpp $(wildcard tests/*)
binaries = $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(wildcard $1)))
TESTS := $(call binaries,$(filter-out tests/recorded/%,$(wildcard tests/*/test_*.c))) $(BUILD)/tests/test_kernels
FUZZ := $(patsubst %.c,$(BUILD)/tests/%.o,$(notdir $(wildcard tests/fuzz/fuzz*.c)))
SCRIPTS := $(filter-out tests/recorded/%,$(wildcard tests/*/test_*.sh))
SCRIPTS := $(if $(SAN),$(shell grep -L '^. Not with sanitizers' $(SCRIPTS)),$(SCRIPTS))
MODEL_TESTS := $(call binaries,tests/recorded/test_*.c) $(wildcard tests/recorded/test_*.sh)
# Two print every recorded scan beside its prediction, for minutes: they go with `make build/tests/bench_scan_fit` alone.
BENCHES := $(filter-out %/bench_hierarchy %/bench_scan_fit,$(call binaries,tests/*/bench_*.c))
SUPPORT := $(patsubst %.c,$(BUILD)/tests/%.o,$(notdir $(filter-out %/sim_alone.c,$(wildcard tests/support/*.c))))
# Allocations go through tests/support/alloc_fail.c; the calls of a save through the test that has them fail.
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,-u,__wrap_malloc
SYSTEM_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,$(shell sed -n 's|^ \* wrapped: \(.*\) \*/$$|\1|p' tests/unit/test_record.c))
$(BUILD)/tests/test_record: WRAP += $(SYSTEM_WRAP)

.PHONY: all run test test-model check check-model bench pictures accuracy ablations layers rooms coverage mutate fuzz setup clean help
.SECONDARY:
all: $(PROGRAM)

WITHOUT_PACKAGES := run test test-model setup clean help rooms web kernels dist %.so
ifneq ($(if $(READY),,$(filter-out $(WITHOUT_PACKAGES),$(or $(MAKECMDGOALS),all))),)
$(error Some needed packages are missing; `make setup` names and installs them)
endif

# run and test install what is missing first, so the real work happens in a second make that sees it.
# Several of them (`make -j2 run test`) follow each other: side by side each would compile the same files.
ifneq ($(filter run test test-model web test-web,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
again = @+$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
run:
	@.ci/setup run
	$(again) $(BUILD)/tilewalk
	@TILEWALK_ASSETS=assets $(BUILD)/tilewalk tour
	@printf '\nBuilding what draws: the viewer, pictures, lessons.\n'
	$(again) all
test test-model:
	@.ci/setup test
	$(again) $(@:test%=check%)
setup:
	@.ci/setup all
check: $(PROGRAM) $(TESTS) $(if $(SAN),,$(BUILD)/libtilewalk.so)
	@tests/support/run.sh $(BUILD) $(SCRIPTS) $(TESTS)
check-model: $(PROGRAM) $(filter $(BUILD)/%,$(MODEL_TESTS))
	@tests/support/run.sh $(BUILD) $(MODEL_TESTS)
bench: $(PROGRAM) $(BENCHES)
	@for b in $(BENCHES); do BUILD=$(BUILD) $$b || exit 1; done
pictures: $(PROGRAM) $(BUILD)/tests/picture_scenes $(BUILD)/tests/picture_lesson
	TILEWALK=$(BUILD)/tilewalk BUILD=$(BUILD) tests/support/gallery.sh
accuracy: $(PROGRAM)
	@BUILD=$(BUILD) tests/support/accuracy_table.sh write
ablations: $(PROGRAM)
	@BUILD=$(BUILD) tests/support/accuracy_table.sh ablations
rooms:
	@tests/support/rooms.py
layers: $(OBJ)
	@tests/support/layers.sh . $(BUILD)
fuzz: # needs clang; the same targets replay their corpus with any compiler in `make test`
	@tests/fuzz/fuzz.sh $(FUZZ_SECONDS)
coverage:
	@tests/support/coverage.sh
mutate: $(PROGRAM) $(call binaries,tests/*/test_*.c) # changes the program here and there, and asks its tests
	@COMPILE='$(COMPILE)' LINK='$(LINK) $(QUICK) $(WRAP)' WRAP='$(WRAP)' SYSTEM_WRAP='$(SYSTEM_WRAP)' LIBS='$(LINK_LIBS)' MUTATE_SECONDS=$(MUTATE_SECONDS) tests/support/mutate.py $(BUILD) $(MUTATE)
clean:
	rm -rf $(BUILD)

# Compiling. A stamp changes only when its text does: new flags rebuild all, a removed file the library. It is written as
# this file is read: a target that is always remade would have make rebuild all that depends on it.
stamp = $(shell mkdir -p $(BUILD); echo '$2' >$(BUILD)/$1.$$$$; cd $(BUILD); if cmp -s $1.$$$$ $1.stamp; then rm $1.$$$$; else mv $1.$$$$ $1.stamp; fi)
ifeq ($(filter clean help setup,$(MAKECMDGOALS)),)
$(call stamp,flags,$(COMPILE))
$(call stamp,members,$(LIB))
endif
say = $(if $(V),,@echo "  $1  $@";)

# $(call compiled,FOLDER,SUFFIX,WORD,COMMAND): objects of such sources, those of tests together.
define compiled
$$(BUILD)/$1%.o: %.$2 $$(BUILD)/flags.stamp
	@mkdir -p $$(@D)
	$$(call say,$3)$$($4) -c $$< -o $$@
endef
$(foreach to,. tests/,$(eval $(call compiled,$(to:.=),c,CC ,COMPILE))$(eval $(call compiled,$(to:.=),cpp,CXX,COMPILE_CXX)))
$(BUILD)/%.cpu.o: %.cu $(BUILD)/flags.stamp # at -O2 -g templates would be half of the build, and small shapes are run; at -O0 what is dead would be linked
	@mkdir -p $(@D)
	$(call say,CXX)$(COMPILE_CXX) $(if $(filter -O2 -O0,$(CFLAGS)),-O1 -g1) -DTW_COUNTING -x c++ -c $< -o $@
COMPILER_SRC := $(wildcard sim/algorithms/compile/*.c sim/algorithms/language/*.c) sim/algorithms/sram.c sim/algorithms/program.c sim/algorithms/walk/live.c sim/base/error.c sim/base/nearest.c
$(BUILD)/compile: $(COMPILER_SRC) $(wildcard sim/algorithms/*.h sim/algorithms/language/*.h)
	@mkdir -p $(@D)
	$(call say,CC )$(CC) $(WARN) -O1 -I. $(COMPILER_SRC) -lm -o $@
$(BUILD)/programs.c: $(BUILD)/compile $(filter-out %/--.walk,$(PROGRAMS)) Makefile
	@$(BUILD)/compile $(PROGRAMS:%/--.walk=--) >$@.new && mv $@.new $@
$(BUILD)/programs.o: $(BUILD)/programs.c $(BUILD)/flags.stamp
	$(call say,CC )$(COMPILE) -c $< -o $@
$(BUILD)/libtilewalk.a: $(LIB) $(BUILD)/members.stamp
	$(call say,AR )rm -f $@ && $(AR) rcs $@ $(LIB)
$(BUILD)/tests/support.a: $(SUPPORT)
	$(call say,AR )rm -f $@ && $(AR) rcs $@ $^

# Programs are put in place whole: what runs one meanwhile never meets half of it.
link = $(call say,LD )$(LINK) $(PIE) $^ $(LINK_LIBS) -o $@
$(BUILD)/tilewalk: $(BUILD)/viz/cli/main_small.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $(STATIC) $^ $(SMALL_LIBS) -o $@.new && mv -f $@.new $@
	$(if $(NOTICE),@printf '%s\n' $(NOTICE))
$(BUILD)/tilewalk-full: $(BUILD)/viz/cli/main.o $(BUILD)/libtilewalk.a
	$(link).new && mv -f $@.new $@
$(BUILD)/libtilewalk.so: $(BUILD)/viz/library/library_ask.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) -shared -Wl,--version-script,viz/library/tilewalk.map -Wl,-soname,$(SONAME) $^ $(LINK_LIBS) -o $@.new && mv -f $@.new $@
$(BUILD)/tests/test_fuzz: $(FUZZ)
$(BUILD)/tests/libfuzzer: $(FUZZ) $(BUILD)/libtilewalk.a
	$(link) -fsanitize=fuzzer -fsanitize-link-c++-runtime # commands run C++
$(BUILD)/tests/bench_scan_fit: $(BUILD)/tests/bench_scan_fit.o $(BUILD)/tests/support.a $(BUILD)/libtilewalk.a
	$(link) -lcmocka
$(foreach kind,bench picture,$(eval $(BUILD)/tests/$(kind)_%: $(BUILD)/tests/$(kind)_%.o $(BUILD)/libtilewalk.a; $$(link)))
$(BUILD)/tests/test_kernels: $(BUILD)/tests/test_kernels.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $(QUICK) $^ -lcmocka -lstdc++ -lz -lm -o $@
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libtilewalk.a $(BUILD)/tests/support.a
	$(call say,LD )$(LINK) $(QUICK) $(WRAP) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LINK_LIBS) -lcmocka -o $@

include kernels/kernels.mk viz/web/web.mk assets/package/package.mk
-include $(wildcard $(BUILD)/kernels/*/*.d $(BUILD)/tests/*.d $(BUILD)/viz/cli/main*.d $(OBJ:.o=.d))

help:
	@sed -n 's/^#: //p' Makefile
#: make run        install what is missing, build, take the tour
#: make test       install what is missing, build, run the tests
#: make test-model   predictions of L2 against recorded counters: minutes
#: make            build only; `make setup` installs what is missing
#: make bench      speed, as figures and ratios       make coverage  lines and branches that the tests run
#: make layers     no room uses what it must not      make fuzz      FUZZ_SECONDS=60 for each parser
#: make kernels    the CUDA kernels (needs nvcc)      make clean
#: make rooms      the size of each room, and the most that it may have (.ci/rooms)
#: make mutate     changes of the program that tests must notice (tests/support/mutate.py)
#: make pictures   scenes and the gallery            make accuracy  the tables of predicted and measured in sim/l2/MODEL.md
#: make ablations  what each part of the model of L2 buys
#: make build/libtilewalk.so   the library (viz/library/tilewalk.h)      make wheel   the Python package over it
#: make web        the viewer as a folder of web pages      make web-serve  shows it      make test-web  in Chromium      make bench-web  times it
#: make install    PREFIX=/usr/local DESTDIR=         make uninstall
#: make dist       the source as an archive            make deb       the Debian package
#: Options: SAN=1 (sanitizers, into build/san; SAN=thread: tests/support/threads.sh)  HARDEN=0 (no _FORTIFY_SOURCE, RELRO, PIE)  BUILD=dir  V=1 (show commands)  CC=  CFLAGS=
