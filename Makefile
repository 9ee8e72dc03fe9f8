# Tilewalk. `make run` sets up, builds and takes the tour; `make test` sets up, builds and tests.
# `make help` lists every target and option. The kernels, the pages for a browser and the package have makefiles of their own.

BUILD ?= $(if $(SAN),$(if $(filter thread,$(SAN)),build/threads,build/san),build)
PREFIX ?= /usr/local
CFLAGS ?= -O1 -g1
FUZZ_SECONDS ?= 60
WARN := -std=c11 -Wall -Wextra -Wshadow -Wconversion

comma := ,
has = $(shell pkg-config --exists $1 2>/dev/null && echo yes)
PKGS := cairo pangocairo jansson lua5.4 md4c zlib
READY := $(call has,$(PKGS))

# Optional parts: $(call part,PACKAGES,DEFINE,NOTICE): one define, its packages, and one line when they are missing.
part = $(if $(call has,$1),$(eval DEFINES += -D$2)$(eval PKGS += $1),$(eval NOTICE += "$3"))
$(call part,libwebp libwebpmux,TILEWALK_WEBP,No libwebp-dev: animated WebP export is left out.)
# SDL.h would have every file of the window read all that the processor can do: 0.3 s each.
$(call part,sdl2,TILEWALK_WINDOW $(patsubst %,-DSDL_DISABLE_%INTRIN_H,IMM MM XMM EMM PMM),No libsdl2-dev: the viewer window is left out.)
$(if $(wildcard /usr/include/gif_lib.h),$(eval DEFINES += -DTILEWALK_GIF)$(eval LIBS += -lgif),$(eval NOTICE += "No libgif-dev: animated GIF export is left out."))
OPENMP := $(shell printf '\043include <omp.h>\n' | $(CC) -fopenmp -fsyntax-only -x c - 2>/dev/null && echo -fopenmp)

SANITIZE := $(if $(SAN),-O1 -g1 -fsanitize=$(if $(filter thread,$(SAN)),thread,address$(comma)undefined -fno-sanitize-recover=undefined) -fno-omit-frame-pointer)
FORTIFY := $(if $(SAN),,$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
HARDENED := $(if $(filter 0,$(HARDEN)),,$(FORTIFY) -fstack-protector-strong)
LDFLAGS += $(if $(filter 0,$(HARDEN)),,-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)
# Of i686, too, a double has 64 bits, not the 80 of x87, and so have sizes of files and limits.
SSE := $(if $(filter i%86,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))),-msse2 -mfpmath=sse -D_FILE_OFFSET_BITS=64)
PKG_CFLAGS := $(if $(READY),$(subst -I,-isystem ,$(shell pkg-config --cflags $(PKGS) cmocka 2>/dev/null || pkg-config --cflags $(PKGS))))
PKG_LIBS := $(if $(READY),$(shell pkg-config --libs $(PKGS)))
# One set of objects serves the programs and libtilewalk.so, which shows tilewalk.h alone, and has no sanitizers.
SHARED := $(if $(SAN),,-fPIC -fvisibility=hidden -fno-semantic-interposition)
# What runs for long (walks, caches, the machine for PTX) is compiled for speed where the rest is compiled quickly.
HOT := $(if $(SAN),,$(if $(filter -O1,$(CFLAGS)),-O2))
$(patsubst %,$(BUILD)/%.o,sim/algorithms/% sim/cache/% sim/l2/%): COMPILE += $(HOT)
$(BUILD)/tests/test_%.o: COMPILE += $(if $(SAN),,-O0 -U_FORTIFY_SOURCE)
# But for those whose own slow answer is what takes long.
$(patsubst %,$(BUILD)/tests/test_%.o,cache_random hierarchy_slow scan_lists): COMPILE += $(HOT)
COMPILE = $(CC) $(WARN) $(CFLAGS) $(SSE) $(SHARED) $(HARDENED) $(SANITIZE) $(OPENMP) $(DEFINES) -I. $(PKG_CFLAGS) -MMD -MP
COMPILE_CXX = $(CXX) -std=c++17 -Wall -Wextra -Wno-unknown-pragmas $(if $(findstring clang,$(CXX)),-Wno-pass-failed -Wno-c++20-designator,-fno-ipa-icf) $(CFLAGS) $(SSE) $(SHARED) $(HARDENED) $(SANITIZE) -I. $(PKG_CFLAGS) -MMD -MP
LINK = $(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -Wl,--as-needed
# Of two hundred tests' binaries lld makes each in a third of the time.
QUICK := $(if $(shell command -v ld.lld),-fuse-ld=lld)
PIE := $(if $(SAN)$(filter 0,$(HARDEN)),,-pie)
LINK_LIBS = $(PKG_LIBS) $(LIBS) -lstdc++ -lm

# Every C file is part of the library, but for the mains, what runs while building, and the browser's own.
SRC := $(filter-out sim/algorithms/compile/% viz/web/% viz/cli/main% $(if $(filter -DTILEWALK_WINDOW,$(DEFINES)),,viz/window/%),\
  $(wildcard $(foreach room,sim kernels lessons viz,$(room)/*.c $(room)/*/*.c $(room)/*/*/*.c)))
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(BUILD)/programs.o
include kernels/ptx/ptx.mk
# The host code of the rungs, with any C++ compiler; their kernels run as recorded PTX (kernels/lib/ladder_launch.h).
RUNGS := $(filter-out %_cublas.cu,$(wildcard kernels/ladder/*.cu))
ON_CPU := $(RUNGS:%.cu=$(BUILD)/%.cpu.o) $(patsubst %.cpp,$(BUILD)/%.o,$(filter-out %/harness_request.cpp,$(wildcard kernels/lib/*.cpp)))
LIB := $(OBJ) $(ON_CPU)
# The shipped algorithms as listed: text, compiled to tables of C. Those before -- are what `all` and comparisons are over.
PROGRAMS := standard fa1 fa2 fa2-split -- flash-d two-pass fa3 lazy softcap bias alibi sink dropout sigmoid mla linear linear-chunks ring-attention
PROGRAMS := $(patsubst %,sim/algorithms/%.walk,$(PROGRAMS) standard-backward fa1-backward fa2-backward fa2-backward-twice)
# One command in two programs: viz/cli/two_programs.h. The small one waits for none of what draws, or runs a lesson; it
# is static where libraries and linker allow it: half of its start would be the loading of three, and a static PIE that
# relocates itself takes a tenth longer to start.
DRAWS := $(filter-out %/scene_setup.c %/output.c,$(wildcard $(patsubst %,viz/%*.c,window/ player/ paper/ story/ export/ \
  cli/lesson/ cli/crosscheck/ $(patsubst %,scene/%_,scene byte chart grid hierarchy softmax)) \
  $(patsubst %,lessons/engine/%*.c,lesson answer practice record story)))
SMALL := $(filter-out $(DRAWS:%.c=$(BUILD)/%.o),$(OBJ))
PROGRAM := $(BUILD)/tilewalk $(BUILD)/tilewalk-full
SMALL_LIBS = $(shell pkg-config --libs jansson lua5.4) -lm
STATIC = $(if $(SAN),,$(shell echo 'int main(void) { return 0; }' | $(CC) $(OPENMP) -static -x c - $(SMALL_LIBS) -o /dev/null 2>/dev/null && echo -static || echo $(PIE)))

# Tests lie together, build/tests/NAME. tests/recorded has predictions against counters: `make test-model` runs it, minutes.
vpath %.c $(wildcard tests/*)
vpath %.cpp $(wildcard tests/*)
binaries = $(patsubst %,$(BUILD)/tests/%,$(basename $(notdir $(wildcard $1))))
TESTS := $(call binaries,$(filter-out tests/recorded/%,$(wildcard tests/*/test_*.c tests/*/test_*.cpp)))
FUZZ := $(patsubst %.c,$(BUILD)/tests/%.o,$(notdir $(wildcard tests/fuzz/fuzz*.c)))
SCRIPTS := $(filter-out tests/recorded/%,$(wildcard tests/*/test_*.sh))
SCRIPTS := $(if $(SAN),$(shell grep -L '^. Not with sanitizers' $(SCRIPTS)),$(SCRIPTS))
MODEL_TESTS := $(call binaries,tests/recorded/test_*.c) $(wildcard tests/recorded/test_*.sh)
BENCHES := $(call binaries,tests/bench/bench_*.c)
SUPPORT := $(patsubst %.c,$(BUILD)/tests/%.o,$(notdir $(filter-out %/sim_alone.c,$(wildcard tests/support/*.c))))
# Allocations go through tests/support/alloc_fail.c; the calls of a save through the test that has them fail.
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,-u,__wrap_malloc
SYSTEM_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,$(shell sed -n 's|^ \* wrapped: \(.*\) \*/$$|\1|p' tests/unit/test_record.c))
$(BUILD)/tests/test_record: WRAP += $(SYSTEM_WRAP)

.PHONY: all run test test-model check check-model bench pictures accuracy ablations layers rooms prove-red fuzz setup clean help
.SECONDARY:
all: $(PROGRAM)

WITHOUT_PACKAGES := run test test-model setup clean help rooms web kernels dist %.so
ifneq ($(if $(READY),,$(filter-out $(WITHOUT_PACKAGES),$(or $(MAKECMDGOALS),all))),)
$(error Some needed packages are missing; `make setup` names and installs them)
endif

# run and test install what is missing; a second make sees it. Several follow each other, or each would compile the same.
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
setup: ; @.ci/setup all
check: $(TESTS) $(if $(SAN),,$(BUILD)/libtilewalk.so)
check-model: $(filter $(BUILD)/%,$(MODEL_TESTS))
check check-model: $(PROGRAM)
	@tests/support/run.sh $(BUILD) $(if $(filter check,$@),$(SCRIPTS) $(TESTS),$(MODEL_TESTS))
bench: $(PROGRAM) $(BENCHES) ; @for b in $(BENCHES); do BUILD=$(BUILD) $$b || exit 1; done
pictures: $(PROGRAM) ; TILEWALK=$(BUILD)/tilewalk tests/support/gallery.sh
accuracy ablations: $(PROGRAM) ; @BUILD=$(BUILD) tests/support/accuracy_table.sh $(@:accuracy=write)
rooms: ; @tests/support/rooms.py
layers: $(OBJ) ; @tests/support/layers.sh . $(BUILD)
# Needs clang; the same targets replay their corpus with any compiler in `make test`.
fuzz: ; @tests/fuzz/fuzz.sh $(FUZZ_SECONDS)
prove-red: ; @tests/support/prove_red.py $(BUILD) $(RED)
clean: ; rm -rf $(BUILD)

# Compiling. A stamp changes only when its text does: new flags rebuild all, a removed file the library. It is written as
# this file is read: a target that is always remade would have make rebuild all that depends on it.
stamp = $(shell mkdir -p $(BUILD); echo '$2' >$(BUILD)/$1.$$$$; cd $(BUILD); if cmp -s $1.$$$$ $1.stamp; then rm $1.$$$$; else mv $1.$$$$ $1.stamp; fi)
ifeq ($(filter clean help setup,$(MAKECMDGOALS)),)
$(call stamp,flags,$(COMPILE) $(HOT))
$(call stamp,members,$(LIB) $(SMALL))
endif
say = $(if $(V),,@echo "  $1  $@";)

# $(call compiled,OBJECT,SOURCE,WORD,COMMAND): objects of such sources, those of tests together. The rungs' host code is
# for small shapes: at -O2 -g templates would be half of the build; at -O0 what is dead would be linked.
define compiled
$$(BUILD)/$1: $2 $$(BUILD)/flags.stamp
	@mkdir -p $$(@D)
	$$(call say,$3)$4 -c $$< -o $$@
endef
$(foreach o,%.o tests/%.o,$(eval $(call compiled,$o,%.c,CC ,$$(COMPILE)))$(eval $(call compiled,$o,%.cpp,CXX,$$(COMPILE_CXX))))
$(eval $(call compiled,%.cpu.o,%.cu,CXX,$$(COMPILE_CXX) $(if $(filter -O2 -O0,$(CFLAGS)),-O1 -g1) -DTW_COUNTING -x c++))
COMPILER := $(wildcard sim/algorithms/compile/*.c sim/algorithms/language/*.c) $(patsubst %,sim/%.c,$(patsubst %,algorithms/%,sram program walk/live) base/error base/nearest)
$(BUILD)/compile: $(COMPILER:%.c=$(BUILD)/%.o)
	$(call say,LD )$(LINK) $^ -lm -o $@
$(BUILD)/programs.c: $(BUILD)/compile $(filter-out %/--.walk,$(PROGRAMS)) assets/gpus/paper Makefile
	@{ $(BUILD)/compile $(PROGRAMS:%/--.walk=--) && echo 'const char gpu_paper_text[] =' && sed 's/["\\]/\\&/g; s/.*/"&\\n"/' assets/gpus/paper && echo ';'; } >$@.new && mv $@.new $@
$(BUILD)/programs.o: $(BUILD)/programs.c $(BUILD)/flags.stamp
	$(call say,CC )$(COMPILE) -c $< -o $@
$(BUILD)/libtilewalk.a: $(LIB)
$(BUILD)/libsmall.a: $(SMALL)
$(BUILD)/tests/support.a: $(SUPPORT)
$(BUILD)/libtilewalk.a $(BUILD)/libsmall.a $(BUILD)/tests/support.a: $(BUILD)/members.stamp
	$(call say,AR )rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# Programs are put in place whole: what runs one meanwhile never meets half of it. A static link that succeeds warns of
# dlopen, which nobody calls: it is heard where it fails. (With --no-warnings GNU ld 2.40 passes over undefined symbols.)
link = $(call say,LD )$(LINK) $(PIE) $^ $(LINK_LIBS) -o $@
$(BUILD)/tilewalk: $(BUILD)/viz/cli/main_small.o $(BUILD)/libsmall.a
	$(call say,LD )$(LINK) $(STATIC) $^ $(SMALL_LIBS) -o $@.new 2>$@.said || { cat $@.said >&2; exit 1; }
	@rm $@.said && mv -f $@.new $@
$(BUILD)/tilewalk-full: $(BUILD)/viz/cli/main.o $(BUILD)/libtilewalk.a
	$(link).new && mv -f $@.new $@
	$(if $(NOTICE),@printf '%s\n' $(NOTICE))
$(BUILD)/libtilewalk.so: $(BUILD)/viz/library/library_ask.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) -shared -Wl,--version-script,viz/library/tilewalk.map -Wl,-soname,$(SONAME) $^ $(LINK_LIBS) -o $@.new && mv -f $@.new $@
$(BUILD)/tests/test_fuzz: $(FUZZ)
$(BUILD)/tests/libfuzzer: $(FUZZ) $(BUILD)/libtilewalk.a
	$(link) -fsanitize=fuzzer -fsanitize-link-c++-runtime # commands run C++
$(BUILD)/tests/bench_%: $(BUILD)/tests/bench_%.o $(BUILD)/tests/support.a $(BUILD)/libtilewalk.a ; $(link) -lcmocka
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libtilewalk.a $(BUILD)/tests/support.a
	$(call say,LD )$(LINK) $(QUICK) $(WRAP) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LINK_LIBS) -lcmocka -o $@
include kernels/kernels.mk viz/web/web.mk assets/package/package.mk
-include $(wildcard $(BUILD)/kernels/*/*.d $(BUILD)/tests/*.d $(BUILD)/viz/cli/main*.d $(BUILD)/sim/algorithms/compile/*.d $(OBJ:.o=.d))
help: ; @sed -n 's/^#: //p' Makefile
#: make run     install what is missing, build, take the tour     make test  ... run the tests     make setup  install alone
#: make         build     make clean     make install  PREFIX=/usr/local DESTDIR=     make uninstall     make bench  speed
#: make kernels the CUDA kernels (needs nvcc)     make test-model  predictions of L2 against recorded counters: minutes
#: make layers  no room uses what it must not     make rooms  how large each room is and may be (.ci/rooms)
#: make fuzz    FUZZ_SECONDS=60 for each parser   make prove-red  formulas made wrong, which tests must notice
#: make pictures  the gallery   make accuracy, make ablations  the tables of sim/l2/MODEL.md
#: make web     the viewer as web pages   make web-serve  shows it   make test-web  in Chromium   make bench-web  times it
#: make dist    the source as an archive   make deb  the Debian package   make wheel  for Python   make build/libtilewalk.so
#: Options: SAN=1 (sanitizers, into build/san)  HARDEN=0 (no _FORTIFY_SOURCE, RELRO, PIE)  BUILD=dir  V=1 (show commands)  CC=  CFLAGS=
