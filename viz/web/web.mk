# The browser: `make web` -> $(BUILD)/web, one static folder. What it needs is optional: .ci/setup web installs it.
#
#   the same C --clang--> tilewalk.wasm      assets --bundle.sh--> assets.bundle      DejaVu --> *.woff2      page/*

WEB := $(BUILD)/web
WEB_CLANG ?= $(firstword $(foreach v,-14 -15 -16 -17 -18 -19 $(empty),$(shell command -v clang$v)))
WEB_FLAGS := --target=wasm32-wasi -Os -mbulk-memory -ftls-model=local-exec -fno-stack-protector -ffunction-sections \
  -fdata-sections -std=c11 -Wall -Wextra -Wshadow -I. -isystem $(or $(shell pkg-config --variable=includedir cairo 2>/dev/null),/usr/include)/cairo
# Without -O: clang would have wasm-opt of any version rewrite the program.
WEB_LINK := --target=wasm32-wasi -mexec-model=reactor -fuse-ld=lld \
  -Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=1048576,--export-dynamic,--export=malloc,--export=free

# The viewer without SDL and pango. A new scene, algorithm or part of the viewer comes along by itself.
WEB_SRC := $(wildcard sim/*.c sim/*/*.c viz/chart/*.c viz/scene/*.c) \
  $(filter-out viz/request/assets.c,$(wildcard viz/request/*.c)) $(patsubst %,viz/text/%.c,glyphs lettering number store) \
  $(filter-out viz/window/window% viz/window/lesson_% viz/window/settings.c,$(wildcard viz/window/*.c)) $(wildcard viz/web/*.c)
WEB_OBJ := $(WEB_SRC:%.c=$(BUILD)/wasm/%.o)
WEB_ASSETS := $(wildcard assets/gpus/* assets/kernels/* assets/models/* sim/algorithms/*.walk)
WEB_PAGE := $(filter-out viz/web/page/worker.js,$(wildcard viz/web/page/*))
WEB_FONTS := $(patsubst %,$(WEB)/%.woff2,sans sans-bold mono mono-bold)
WEB_FILES := $(WEB)/tilewalk.wasm $(WEB)/assets.bundle $(WEB_PAGE:viz/web/page/%=$(WEB)/%) $(WEB_FONTS)

.PHONY: web web-folder web-serve test-web
web:
	@.ci/setup web
	$(again) web-folder
web-folder: $(WEB_FILES) $(WEB)/worker.js
	@echo "$(WEB): $$(cat $(WEB)/* | gzip -9 | wc -c) bytes gzip; \`make web-serve\` shows it"
web-serve: web
	@python3 -m http.server --bind 127.0.0.1 --directory $(WEB) $(or $(PORT),8000)
test-web: web-folder $(BUILD)/tests/web_native
	@tests/web/web.sh $(BUILD)

STAMP_web = $(WEB_CLANG) $(WEB_FLAGS) $(WEB_OBJ) $(WEB_ASSETS)
$(BUILD)/wasm/%.o: %.c $(BUILD)/web.stamp
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CLANG) $(WEB_FLAGS) -MMD -MP -c $< -o $@
$(WEB)/tilewalk.wasm: $(WEB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD )$(WEB_CLANG) $(WEB_LINK) $(WEB_OBJ) -o $@
$(WEB)/assets.bundle: $(WEB_ASSETS) $(BUILD)/web.stamp viz/web/bundle.sh
	@mkdir -p $(@D)
	@viz/web/bundle.sh $@ $(WEB_ASSETS)
$(WEB)/%: viz/web/page/%
	@mkdir -p $(@D)
	@cp $< $@
$(WEB)/%.woff2: viz/web/font.sh
	@mkdir -p $(@D)
	@viz/web/font.sh $* $@
# The version is of what is in the folder: a changed file is a new version.
$(WEB)/worker.js: viz/web/page/worker.js $(WEB_FILES)
	@sed -e "s/@VERSION@/tilewalk-$$(cat $(WEB_FILES) $< | cksum | cut -d' ' -f1)/" \
	  -e "s/@FILES@/$$(cd $(WEB) && ls | grep -v '^worker.js$$' | sed "s/.*/'&'/" | paste -sd, | sed 's/,/, /g')/" $< >$@

# The same C with gcc, in a program that a test asks the same things as the page.
WEB_NATIVE := $(patsubst %,$(BUILD)/viz/web/%.o,web drawing web_assets)
$(BUILD)/tests/web_native: $(BUILD)/tests/web_native.o $(WEB_NATIVE) $(BUILD)/libtilewalk.a
	$(call say,LD )$(LINK) $^ -lm -o $@

-include $(WEB_OBJ:.o=.d) $(WEB_NATIVE:.o=.d)
