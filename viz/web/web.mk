# The browser: `make web` -> $(BUILD)/web, one static folder. What it needs is optional: .ci/setup web installs it.
#
#   the same C --clang--> tilewalk.wasm      assets --bundle.sh--> assets.bundle      DejaVu --> *.woff2      page/*
#   and Lua, md4c, jansson --> lessons.wasm, which is the viewer with lessons and their judge

WEB := $(BUILD)/web
WEB_CLANG ?= $(firstword $(foreach v,-14 -15 -16 -17 -18 -19 $(empty),$(shell command -v clang$v)))
WEB_BASE := --target=wasm32-wasi -O2 -mbulk-memory -mmutable-globals -ftls-model=local-exec -fno-stack-protector \
  -ffunction-sections -fdata-sections -D_DEFAULT_SOURCE= -Iviz/web/libc
WEB_FLAGS := $(WEB_BASE) -std=c11 -Wall -Wextra -Wshadow -I. -isystem $(or $(shell pkg-config --variable=includedir cairo 2>/dev/null),/usr/include)/cairo
# Without -O: clang would have wasm-opt of any version rewrite the program.
WEB_LINK := --target=wasm32-wasi -mexec-model=reactor -fuse-ld=lld \
  -Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=1048576,--export-dynamic,--export=malloc,--export=free

# The viewer without SDL and pango. A new scene, algorithm or part of the viewer comes along by itself.
WEB_LESSON_ONLY := viz/web/lesson_html.c viz/web/web_lesson.c viz/web/web_record.c viz/web/web_story.c
WEB_SRC := $(filter-out sim/algorithms/compile/%,$(wildcard sim/*.c sim/*/*.c sim/*/*/*.c)) $(wildcard viz/chart/*.c viz/scene/*.c) \
  $(filter-out viz/request/assets.c viz/request/program_path.c $(wildcard viz/request/model_config*.c) viz/request/kernel_from_counters.c,$(wildcard viz/request/*.c)) \
  $(patsubst %,viz/text/%.c,glyphs lettering mask_text number store) \
  $(wildcard viz/player/*.c) $(filter-out viz/window/window% viz/window/lesson_% viz/window/settings.c viz/window/viewer_story.c viz/window/kernel_%,$(wildcard viz/window/*.c)) \
  $(filter-out $(WEB_LESSON_ONLY) viz/web/web_kernel.c viz/web/web_ask.c viz/web/native.c viz/web/learn.c,$(wildcard viz/web/*.c))
WEB_OBJ := $(WEB_SRC:%.c=$(BUILD)/wasm/%.o) $(BUILD)/wasm/programs.o
# Kernels in a page: the machine for PTX and what reports of it, without what draws. Small, but for its hot loops.
WEB_PTX := $(patsubst %.c,$(BUILD)/wasm/%.o,$(wildcard kernels/ptx/*.c))
WEB_PTX_HOT := $(PTX_HOT:%=$(BUILD)/wasm/kernels/ptx/%.o) $(BUILD)/wasm/kernels/ptx/ptx_site.o
WEB_PTX_FLAGS := -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-trapping-math -Wno-pass-failed
WEB_KERNEL_OBJ := $(WEB_PTX) $(patsubst %.c,$(BUILD)/wasm/%.o,$(filter-out viz/kernel/kernel_film.c,$(wildcard viz/kernel/*.c)) \
  viz/scene/kernel_scene_banks.c viz/web/web_kernel.c viz/web/web_assets.c viz/web/wasm.c viz/request/description.c sim/question/option.c \
  $(wildcard sim/base/*.c sim/machine/*.c sim/cache/*.c) $(patsubst %,sim/%.c,l2/launch l2/line_l2 l2/placement numbers/precision)) $(BUILD)/wasm/programs.o
# What judges kernels that answer tasks.
WEB_JUDGE_PTX := $(WEB_PTX) $(patsubst %,$(BUILD)/wasm/viz/kernel/%.o,kernel_request kernel_signature)
# Lessons: the libraries from source, for there are no packages of them for wasm. Without the sources the folder has no
# lessons, and its page says so.
WEB_SOURCES := $(BUILD)/sources
WEB_GET := viz/web/sources.sh $(WEB_SOURCES) || echo 'No sources of Lua, md4c and jansson: the lessons in a browser are left out.'
WEB_LESSON_OBJ := $(patsubst %.c,$(BUILD)/wasm/%.o,$(WEB_LESSON_ONLY) viz/window/viewer_story.c $(filter-out %/lesson_compiler.c,$(wildcard viz/lesson/*.c)) $(wildcard viz/story/*.c) \
  viz/text/warp_picture.c $(filter-out %/record.c %/lesson_file.c,$(wildcard lessons/engine/*.c)))
# Questions in a page: libtilewalk, with the commands that start no other program.
WEB_ASK_SRC := $(filter-out sim/algorithms/compile/%,$(wildcard sim/*.c sim/*/*.c sim/*/*/*.c)) \
  $(wildcard kernels/counters/*.c viz/chart/*.c viz/document/*.c viz/library/*.c viz/scene/*.c) \
  $(filter-out viz/text/paragraph.c viz/text/lettering_pango.c,$(wildcard viz/text/*.c)) $(filter-out viz/request/assets.c viz/request/description.c,$(wildcard viz/request/*.c)) \
  $(filter-out %/record.c %/lesson_file.c,$(wildcard lessons/engine/*.c)) $(patsubst %,viz/lesson/%.c,program_demand program_judge kernel_judge lesson_workshop) \
  $(filter-out %/crosscheck_live.c,$(wildcard $(patsubst %,viz/cli/%/*.c,check crosscheck kvcache serve sweep))) \
  $(filter-out $(patsubst %,viz/cli/command_%.c,doctor kernel lesson practice render replay story tour trace view) \
  $(patsubst %,viz/cli/%.c,chart_file commands commands_print completion counter_file main main_small man two_programs),$(wildcard viz/cli/*.c)) \
  viz/web/web_ask.c viz/web/web_assets.c viz/web/web_compiler.c viz/web/wasm.c viz/compile/source_cut.c
WEB_ASK_OBJ := $(WEB_ASK_SRC:%.c=$(BUILD)/wasm/%.o) $(BUILD)/wasm/ask/description.o $(BUILD)/wasm/programs.o
WEB_ASK_ONLY := $(filter-out $(WEB_OBJ) $(WEB_KERNEL_OBJ),$(WEB_ASK_OBJ)) # these want jansson and Lua
WEB_ASK_ASSETS := $(wildcard assets/gpus/* assets/kernels/* assets/links/* assets/models/* assets/schema.json assets/serving/* assets/backends/* sim/algorithms/*.walk lessons/course/claims.md lessons/course/questions.md)
WEB_LIBRARIES := $(patsubst %,$(BUILD)/wasm/lua/%.o,lapi lcode lctype ldebug ldo ldump lfunc lgc llex lmem lobject lopcodes \
  lparser lstate lstring ltable ltm lundump lvm lzio lauxlib lbaselib lstrlib ltablib lmathlib lutf8lib) \
  $(patsubst %,$(BUILD)/wasm/md4c/%.o,md4c md4c-html entity) $(patsubst %,$(BUILD)/wasm/jansson/%.o,dump error hashtable \
  hashtable_seed load memory pack_unpack strbuffer strconv utf value version)
WEB_INCLUDE := $(patsubst %,-isystem $(WEB_SOURCES)/%/src,lua md4c) -isystem $(BUILD)/wasm/include
WEB_COURSE := $(filter-out %/plan.md %/template.md %/claims.md %/questions.md,$(wildcard lessons/course/*.md)) $(wildcard lessons/stories/*.txt lessons/tasks/*.task lessons/tasks/*.ptx)
WEB_ASSETS := $(wildcard assets/gpus/* assets/kernels/* assets/models/* sim/algorithms/*.walk)
WEB_LATER := $(wildcard assets/counters/h100/pipeline/*) # for one scene: fetched after the first picture
WEB_PAGE := $(filter-out viz/web/page/worker.js viz/web/page/early.js,$(wildcard viz/web/page/*))
WEB_READ := $(patsubst lessons/course/%.md,learn-%,$(wildcard lessons/course/[0-9][0-9]-*.md)) glossary
WEB_LIST := $(if $(wildcard $(WEB_SOURCES)/done),$(BUILD)/learn/list.txt)
WEB_FONTS := $(patsubst %,$(WEB)/%.woff2,sans sans-bold mono mono-bold)
WEB_FILES := $(WEB)/tilewalk.wasm $(WEB)/assets.bundle $(WEB)/pipeline.bundle $(WEB)/kernel.wasm $(WEB)/kernel.bundle $(WEB)/kernels.json \
  $(if $(wildcard $(WEB_SOURCES)/done),$(WEB)/lessons.wasm $(WEB)/lessons.bundle $(WEB)/ask.wasm $(WEB)/ask.bundle $(WEB_READ:%=$(WEB)/%.html)) $(WEB_PAGE:viz/web/page/%=$(WEB)/%) $(WEB_FONTS) $(WEB)/moving.webp $(WEB)/moving-dark.webp

WEB_MAKERS := $(patsubst %,viz/web/%.py,pages poster) $(wildcard viz/web/page/*.css) viz/web/page/early.js viz/web/page/see.js

# The viewer in one file, which opens without a server.
WEB_PAGE_ALONE := $(BUILD)/tilewalk.html

.PHONY: web web-folder web-serve test-web bench-web
web:
	@.ci/setup web
	@$(WEB_GET)
	$(again) web-folder
web-folder: $(WEB_FILES) $(WEB)/worker.js $(WEB_PAGE_ALONE)
	@echo "$(WEB): $$(cat $(WEB)/* | gzip -9 | wc -c) bytes gzip; \`make web-serve\` shows it; $(WEB_PAGE_ALONE) opens without a server"
web-serve: web
	@viz/web/serve.py $(WEB) $(BUILD)/tilewalk $(PORT)
test-web:
	@.ci/setup ci
	@$(WEB_GET)
	$(again) web-folder $(PROGRAM)
	@tests/web/web.sh $(BUILD)
bench-web: web
	@tests/web/web.sh $(BUILD) --bench

$(WEB_LESSON_OBJ) $(WEB_LIBRARIES): $(WEB_SOURCES)/done
$(BUILD)/wasm/include/jansson.h: $(WEB_SOURCES)/done
	@mkdir -p $(@D)
	@cp $(WEB_SOURCES)/jansson/src/jansson.h $@
	@sed -e 's/@json_inline@/inline/' -e 's/@json_have_[a-z_]*@/1/' $(WEB_SOURCES)/jansson/src/jansson_config.h.in >$(@D)/jansson_config.h
$(WEB_LESSON_OBJ) $(WEB_ASK_ONLY) $(filter $(BUILD)/wasm/jansson/%,$(WEB_LIBRARIES)): $(BUILD)/wasm/include/jansson.h
$(WEB_LESSON_OBJ) $(WEB_ASK_ONLY): WEB_FLAGS += $(WEB_INCLUDE)
$(BUILD)/wasm/lua/%.o: viz/web/lua_in_a_page.h
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_BASE) -std=gnu99 -include $< -c $(WEB_SOURCES)/lua/src/$*.c -o $@
$(BUILD)/wasm/md4c/%.o: $(WEB_SOURCES)/done
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_BASE) -std=gnu99 -w -c $(WEB_SOURCES)/md4c/src/$*.c -o $@
$(BUILD)/wasm/jansson/%.o: $(WEB_SOURCES)/done
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_BASE) -std=gnu99 -w -DHAVE_CONFIG_H $(WEB_INCLUDE) -c $(WEB_SOURCES)/jansson/src/$*.c -o $@
$(WEB)/lessons.wasm: $(WEB_OBJ) $(WEB_LESSON_OBJ) $(WEB_LIBRARIES) $(WEB_JUDGE_PTX)
	@mkdir -p $(@D)
	$(call say,LD )$(WEB_CLANG) $(WEB_LINK),--export-table,--export=__stack_pointer $^ -o $@
$(WEB)/ask.wasm: $(WEB_ASK_OBJ) $(WEB_LIBRARIES) $(WEB_JUDGE_PTX)
	@mkdir -p $(@D)
	$(call say,LD )$(WEB_CLANG) $(WEB_LINK),--export-table,--export=__stack_pointer $^ -o $@
$(WEB)/ask.bundle: $(WEB_ASK_ASSETS) viz/web/bundle.sh
	@mkdir -p $(@D)
	@viz/web/bundle.sh $@ $(WEB_ASK_ASSETS)
$(WEB)/lessons.bundle: $(WEB_COURSE) viz/web/bundle.sh
	@mkdir -p $(@D)
	@viz/web/bundle.sh $@ $(WEB_COURSE)

ifneq ($(WEB_CLANG),)
$(call stamp,web,$(WEB_CLANG) $(WEB_FLAGS) $(WEB_OBJ) $(WEB_ASSETS))
endif
$(BUILD)/wasm/%.o: %.c $(BUILD)/web.stamp
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/wasm/ask/description.o: viz/request/description.c $(BUILD)/web.stamp
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_FLAGS) -DTILEWALK_READS_FILES -MMD -MP -c $< -o $@
$(BUILD)/wasm/programs.o: $(BUILD)/programs.c $(BUILD)/web.stamp
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_FLAGS) -c $< -o $@
$(WEB)/tilewalk.wasm: $(WEB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD )$(WEB_CLANG) $(WEB_LINK) $(WEB_OBJ) -o $@
# What draws and reads is small rather than fast; what counts is fast.
$(BUILD)/wasm/viz/%.o $(BUILD)/wasm/lessons/%.o: WEB_FLAGS += -Oz
$(filter-out $(WEB_PTX_HOT),$(WEB_PTX)): WEB_FLAGS += -Oz $(WEB_PTX_FLAGS)
$(WEB_PTX_HOT): WEB_FLAGS += -fno-unroll-loops -msimd128 $(WEB_PTX_FLAGS)
$(WEB)/kernel.wasm: $(WEB_KERNEL_OBJ)
	@mkdir -p $(@D)
	$(call say,LD )$(WEB_CLANG) $(WEB_LINK) $^ -o $@
$(WEB)/kernel.bundle: $(wildcard assets/gpus/*) viz/web/bundle.sh
	@mkdir -p $(@D)
	@viz/web/bundle.sh $@ $(wildcard assets/gpus/*)
$(WEB)/kernels.json: viz/web/kernels.py $(wildcard viz/web/kernels/*.cu kernels/cuda/*.h)
	@mkdir -p $(@D)
	$(call say,GEN)viz/web/kernels.py $(WEB_CLANG) $@ $(wildcard viz/web/kernels/*.cu)
$(WEB)/assets.bundle: $(WEB_ASSETS) $(BUILD)/web.stamp viz/web/bundle.sh
	@mkdir -p $(@D)
	@viz/web/bundle.sh $@ $(WEB_ASSETS)
$(WEB)/pipeline.bundle: $(WEB_LATER) viz/web/bundle.sh
	@mkdir -p $(@D)
	@viz/web/bundle.sh $@ $(WEB_LATER)
# The course as pages to read: the lessons' own pages, printed by the native program, and what they show as pictures.
$(BUILD)/web_learn: $(patsubst %,$(BUILD)/%.o,viz/web/learn viz/web/lesson_html md4c/md4c-html md4c/entity) $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ $(LINK_LIBS) -o $@
$(BUILD)/md4c/%.o: $(WEB_SOURCES)/done
	@mkdir -p $(@D)
	$(call say,CC )$(CC) -O2 -w -I$(WEB_SOURCES)/md4c/src -c $(WEB_SOURCES)/md4c/src/$*.c -o $@
$(BUILD)/learn/list.txt: $(BUILD)/web_learn viz/web/learn.py $(wildcard lessons/course/*.md lessons/tasks/*)
	@mkdir -p $(WEB)
	$(call say,GEN)TILEWALK_ASSETS=assets viz/web/learn.py $< lessons/course $(WEB) $(@D)
$(WEB_READ:%=$(WEB)/%.html): $(WEB)/%.html: $(BUILD)/learn/list.txt $(WEB_MAKERS)
	@viz/web/pages.py $(BUILD)/learn/$*.html $@ $(BUILD) $(WEB_ADDRESS)
$(WEB)/%.html: viz/web/page/%.html $(WEB_MAKERS) $(BUILD)/web_native $(WEB)/assets.bundle $(WEB_LIST)
	@mkdir -p $(@D)
	@viz/web/pages.py $< $@ $(BUILD) $(WEB_ADDRESS)
$(WEB)/%: viz/web/page/%
	@mkdir -p $(@D)
	@cp $< $@
$(WEB)/%.webp: assets/pictures/%.webp
	@cp $< $@
$(WEB)/%.woff2: viz/web/font.sh
	@mkdir -p $(@D)
	@viz/web/font.sh $* $@
$(WEB_PAGE_ALONE): viz/web/single.py $(WEB_FILES)
	@viz/web/single.py $(WEB) $@
# The version is of what is in the folder: a changed file is a new version.
$(WEB)/worker.js: viz/web/page/worker.js $(WEB_FILES)
	@sed "s/@VERSION@/tilewalk-$$(cat $(WEB_FILES) $< | cksum | cut -d' ' -f1)/" $< >$@

# The same C with gcc: pages have their first picture from it, and a test asks it the same things as the page.
WEB_NATIVE := $(patsubst %,$(BUILD)/viz/web/%.o,native web web_words drawing web_assets)
$(BUILD)/web_native: $(WEB_NATIVE) $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ $(filter-out -lcairo -lpango%,$(LINK_LIBS)) -o $@

-include $(WEB_OBJ:.o=.d) $(WEB_KERNEL_OBJ:.o=.d) $(WEB_LESSON_OBJ:.o=.d) $(WEB_ASK_OBJ:.o=.d) $(WEB_NATIVE:.o=.d) $(BUILD)/viz/web/learn.d $(BUILD)/viz/web/lesson_html.d
