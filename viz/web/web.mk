# The browser: `make web` -> $(BUILD)/web, one static folder. What it needs is optional: .ci/setup web installs it.
#
#   the same C --clang--> tilewalk.wasm, and with Lua, md4c, jansson whole.wasm
#   assets --bundle.sh--> assets.bundle      DejaVu --> *.woff2      page/*

WEB := $(BUILD)/web
WEB_CLANG ?= $(firstword $(foreach v,-14 -15 -16 -17 -18 -19 $(empty),$(shell command -v clang$v)))
WEB_AR = llvm-ar$(patsubst clang%,%,$(notdir $(WEB_CLANG)))
WEB_BASE := --target=wasm32-wasi -O2 -mbulk-memory -mmutable-globals -ftls-model=local-exec -fno-stack-protector \
  -ffunction-sections -fdata-sections -D_DEFAULT_SOURCE= -D_WASI_EMULATED_PROCESS_CLOCKS -D_Thread_local= -Iviz/web/libc
WEB_FLAGS := $(WEB_BASE) -std=c11 -Wall -Wextra -Wshadow -Wno-deprecated-declarations -I. -isystem $(or $(shell pkg-config --variable=includedir cairo 2>/dev/null),/usr/include)/cairo
# Without -O: clang would have wasm-opt of any version rewrite the program.
WEB_LINK := --target=wasm32-wasi -mexec-model=reactor -fuse-ld=lld \
  -Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=1048576,--export-dynamic,--export=malloc,--export=free

# All that compiles for a page is an archive, and two programs take of it what they call. tilewalk.wasm is the viewer without
# SDL and pango: See, Write, embeds. whole.wasm is all that a page can do: the viewer, lessons and their judge, the machine
# for PTX, and libtilewalk with the commands that start no other program.
WEB_LEFT_OUT := viz/export/a% viz/export/o% viz/export/s% viz/paper/% viz/compile/c% viz/window/window% viz/window/lesson_% viz/window/settings.c viz/window/kernel_% \
  viz/text/lettering_pango.c viz/text/paragraph.c viz/request/assets.c %/record.c %/lesson_compiler.c %/crosscheck_live.c viz/cli/lesson/% viz/cli/main% \
  $(patsubst %,viz/cli/%.c,command_doctor command_lesson command_practice command_render command_story command_tour command_view counter_file film two_programs)
WEB_LIB := $(patsubst %.c,$(BUILD)/wasm/%.o,$(filter-out $(WEB_LEFT_OUT),$(SRC) $(wildcard viz/window/*.c))) $(BUILD)/wasm/programs.o
WEB_BOTH := $(patsubst %,$(BUILD)/wasm/viz/web/%.o,drawing wasm web web_answer web_assets web_program web_words)
WEB_SMALL := $(BUILD)/wasm/viz/web/web_small.o
WEB_WHOLE := $(patsubst %,$(BUILD)/wasm/viz/web/%.o,lesson_html web_lesson web_record web_story web_kernel web_ask)
WEB_OWN := $(WEB_LIB) $(WEB_BOTH) $(WEB_SMALL) $(WEB_WHOLE)
# Kernels run small, but for the machine's hot loops.
WEB_PTX := $(patsubst %.c,$(BUILD)/wasm/%.o,$(wildcard kernels/ptx/*.c))
WEB_PTX_HOT := $(PTX_HOT:%=$(BUILD)/wasm/kernels/ptx/%.o) $(BUILD)/wasm/kernels/ptx/ptx_site.o
WEB_PTX_FLAGS := -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-trapping-math -Wno-pass-failed
# The libraries from source, for there are no packages of them for wasm.
WEB_SOURCES := $(BUILD)/sources
WEB_LIBRARIES := $(patsubst %,$(BUILD)/wasm/lua/%.o,lapi lcode lctype ldebug ldo ldump lfunc lgc llex lmem lobject lopcodes \
  lparser lstate lstring ltable ltm lundump lvm lzio lauxlib lbaselib lstrlib ltablib lmathlib lutf8lib) \
  $(patsubst %,$(BUILD)/wasm/md4c/%.o,md4c md4c-html entity) $(patsubst %,$(BUILD)/wasm/jansson/%.o,dump error hashtable \
  hashtable_seed load memory pack_unpack strbuffer strconv utf value version)
WEB_INCLUDE := $(patsubst %,-isystem $(WEB_SOURCES)/%/src,lua md4c) -isystem $(BUILD)/wasm/include
# What is fetched at once: files in a bundle. That of one scene comes after the first picture.
WEB_assets := $(wildcard assets/gpus/* assets/kernels/* assets/models/* sim/algorithms/*.walk)
WEB_pipeline := $(wildcard assets/counters/h100/pipeline/*)
WEB_reports := $(wildcard assets/links/* assets/schema.json assets/serving/* assets/backends/* lessons/course/claims.md lessons/course/questions.md)
WEB_lessons := $(filter-out %/plan.md %/template.md %/claims.md %/questions.md,$(wildcard lessons/course/*.md)) $(wildcard lessons/stories/*.md lessons/tasks/*.task lessons/tasks/*.ptx)
WEB_READ := $(patsubst lessons/course/%.md,learn-%,$(wildcard lessons/course/[0-9][0-9]-*.md)) glossary
WEB_FILES := $(patsubst %,$(WEB)/%,tilewalk.wasm whole.wasm kernels.json moving.webp moving-dark.webp $(WEB_READ:%=%.html) \
  $(addsuffix .bundle,assets pipeline reports lessons) $(addsuffix .woff2,DejaVuSans DejaVuSans-Bold DejaVuSansMono DejaVuSansMono-Bold) \
  $(notdir $(filter-out %.css %/worker.js %/early.js,$(wildcard viz/web/page/*))))

WEB_MAKERS := $(patsubst %,viz/web/%,pages.py poster.py blocks.html) viz/web/page/tilewalk.css viz/web/page/early.js viz/web/page/see.js

# The viewer in one file, which opens without a server.
WEB_PAGE_ALONE := $(BUILD)/tilewalk.html

.PHONY: web web-folder web-serve test-web bench-web
web:
	@.ci/setup web
	@mkdir -p $(WEB)
	$(again) web-folder
web-folder: $(WEB_FILES) $(WEB)/worker.js $(WEB_PAGE_ALONE)
	@echo "$(WEB): $$(cat $(WEB)/* | gzip -9 | wc -c) bytes gzip; \`make web-serve\` shows it; $(WEB_PAGE_ALONE) opens without a server"
web-serve: web
	@viz/web/serve.py $(WEB) $(BUILD)/tilewalk $(PORT)
test-web:
	@.ci/setup ci
	@mkdir -p $(WEB)
	$(again) web-folder $(PROGRAM)
	@tests/web/web.sh $(BUILD)
bench-web: web
	@tests/web/web.sh $(BUILD) --bench

$(WEB_SOURCES)/done:
	@viz/web/sources.sh $(WEB_SOURCES)
$(BUILD)/wasm/include/jansson.h: $(WEB_SOURCES)/done
	@mkdir -p $(@D)
	@cp $(WEB_SOURCES)/jansson/src/jansson.h $@
	@sed -e 's/@json_inline@/inline/' -e 's/@json_have_[a-z_]*@/1/' $(WEB_SOURCES)/jansson/src/jansson_config.h.in >$(@D)/jansson_config.h
$(WEB_OWN) $(WEB_LIBRARIES): $(BUILD)/wasm/include/jansson.h
$(WEB_OWN): WEB_FLAGS += $(WEB_INCLUDE)
$(WEB_LIBRARIES): $(BUILD)/wasm/%.o: viz/web/lua_in_a_page.h
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_BASE) -Oz -std=gnu99 -w $(if $(filter lua/%,$*),-include $<) -DHAVE_CONFIG_H $(WEB_INCLUDE) -c $(WEB_SOURCES)/$(subst /,/src/,$*).c -o $@
$(BUILD)/wasm/libpage.a: $(WEB_LIB) $(WEB_LIBRARIES)
	$(call say,AR )rm -f $@ && $(WEB_AR) rc $@ $^
$(WEB)/tilewalk.wasm: $(WEB_SMALL)
$(WEB)/whole.wasm: $(WEB_WHOLE)
$(WEB)/whole.wasm: WEB_LINK := $(WEB_LINK),--export-table,--export=__stack_pointer
$(WEB)/%.wasm: $(WEB_BOTH) $(BUILD)/wasm/libpage.a
	$(call say,LD )$(WEB_CLANG) $(WEB_LINK) $(filter-out %.a,$^) $(filter %.a,$^) -o $@
$(foreach b,assets pipeline reports lessons,$(eval $(WEB)/$b.bundle: $(WEB_$b)))
$(WEB)/%.bundle: viz/web/bundle.sh $(BUILD)/web.stamp
	@viz/web/bundle.sh $@ $(filter-out $< %.stamp,$^)

ifneq ($(WEB_CLANG),)
$(call stamp,web,$(WEB_CLANG) $(WEB_FLAGS) $(WEB_LIB) $(WEB_LIBRARIES) $(WEB_assets))
endif
$(BUILD)/wasm/%.o: %.c $(BUILD)/web.stamp
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/wasm/programs.o: $(BUILD)/programs.c $(BUILD)/web.stamp
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_FLAGS) -c $< -o $@
# What draws and reads is small rather than fast; what counts L2 and runs kernels is fast.
$(patsubst %,$(BUILD)/wasm/%.o,viz/% lessons/% sim/% kernels/counters/%): WEB_FLAGS += -Oz
$(patsubst %,$(BUILD)/wasm/sim/%.o,l2/% cache/%): WEB_FLAGS += -O2
$(filter-out $(WEB_PTX_HOT),$(WEB_PTX)): WEB_FLAGS += -Oz $(WEB_PTX_FLAGS)
$(WEB_PTX_HOT): WEB_FLAGS += -fno-unroll-loops -msimd128 $(WEB_PTX_FLAGS)
$(BUILD)/md4c/%.o: $(WEB_SOURCES)/done
	@mkdir -p $(@D)
	$(call say,CC )$(CC) -O2 -w -I$(WEB_SOURCES)/md4c/src -c $(WEB_SOURCES)/md4c/src/$*.c -o $@
$(BUILD)/web_pages: $(WEB_MAKERS) $(BUILD)/web_native $(BUILD)/tilewalk viz/web/EMBED.md sim/algorithms/LANGUAGE.md $(WEB_assets) \
  $(wildcard viz/web/page/*.html viz/web/kernels/*.cu kernels/cuda/*.h lessons/course/*.md lessons/tasks/*)
	$(call say,GEN)TILEWALK_ASSETS=$(CURDIR)/assets viz/web/pages.py $(BUILD) $(WEB_ADDRESS) && touch $@
$(WEB)/%.html: $(BUILD)/web_pages ;
$(WEB)/kernels.json: $(BUILD)/web_pages ;
$(WEB)/%: viz/web/page/%
	@cp $< $@
$(WEB)/%.webp: assets/pictures/%.webp
	@cp $< $@
$(WEB)/%.woff2: viz/web/font.sh
	@viz/web/font.sh $* $@
$(WEB_PAGE_ALONE): viz/web/single.py $(WEB_FILES)
	@viz/web/single.py $(WEB) $@
# The version is of what is in the folder: a changed file is a new version.
$(WEB)/worker.js: viz/web/page/worker.js $(WEB_FILES)
	@sed "s/@VERSION@/tilewalk-$$(cat $(WEB_FILES) $< | cksum | cut -d' ' -f1)/" $< >$@

# The same C with gcc: pages have their first picture and what is read from it, and a test asks it the same things as the
# page.
WEB_NATIVE := $(patsubst %,$(BUILD)/viz/web/%.o,native learn lesson_html web web_answer web_words drawing)
$(BUILD)/web_native: $(WEB_NATIVE) $(BUILD)/md4c/md4c-html.o $(BUILD)/md4c/entity.o $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ $(filter-out -lcairo -lpango%,$(LINK_LIBS)) -o $@

-include $(WEB_OWN:.o=.d) $(WEB_NATIVE:.o=.d)
