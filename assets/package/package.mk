# The version, what is installed and where, the source archive and the Debian package.

.PHONY: install uninstall dist deb wheel
# The version: of the tag, else of the archive that this was unpacked from, else of the changelog's newest heading.
VERSION := $(firstword $(if $(wildcard .git),$(shell git describe --tags --match 'v*' 2>/dev/null | sed 's/^v//')) $(shell cat .version 2>/dev/null) \
  $(shell sed -n 's/^## //p;T;q' .github/CHANGELOG.md))
ifeq ($(filter clean help setup,$(MAKECMDGOALS)),)
$(call stamp,version,$(VERSION))
endif
$(BUILD)/viz/cli/two_programs.o $(BUILD)/viz/library/library_ask.o: COMPILE += -DTILEWALK_VERSION='"$(VERSION)"'
$(BUILD)/viz/cli/two_programs.o $(BUILD)/viz/library/library_ask.o: $(BUILD)/version.stamp

ROOT = $(DESTDIR)$(PREFIX)
SONAME := libtilewalk.so.1
SHARE = $(ROOT)/share
# What the program prints for others: where it goes, and the words that ask for it, with ~ between.
SAID := bash-completion/completions/tilewalk:--completion~bash \
  zsh/site-functions/_tilewalk:--completion~zsh fish/vendor_completions.d/tilewalk.fish:--completion~fish
DESKTOP := $(SHARE)/applications/tilewalk.desktop
ICON := $(SHARE)/icons/hicolor/scalable/apps/tilewalk.svg
install: all $(BUILD)/libtilewalk.so
	install -Dm755 $(BUILD)/tilewalk "$(ROOT)/bin/tilewalk"
	install -Dm755 $(BUILD)/tilewalk-full "$(ROOT)/lib/tilewalk/tilewalk-full"
	install -Dm755 $(BUILD)/libtilewalk.so "$(ROOT)/lib/$(SONAME)" && ln -sf $(SONAME) "$(ROOT)/lib/libtilewalk.so"
	install -Dm644 viz/library/tilewalk.h "$(ROOT)/include/tilewalk.h"
	mkdir -p "$(ROOT)/lib/pkgconfig" && sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' viz/library/tilewalk.pc.in >"$(ROOT)/lib/pkgconfig/tilewalk.pc"
	find assets lessons kernels/cuda sim/algorithms/*.walk sim/algorithms/LANGUAGE.md sim/l2/MODEL.md -type f \( -path 'kernels/*' -o ! -name '*.[ch]' \) ! -path 'assets/pictures/*' ! -path 'assets/package/*' \
	  -exec sh -c 'for f; do install -Dm644 "$$f" "$$0/$$f" || exit 1; done' "$(SHARE)/tilewalk" {} +
	for said in $(SAID); do $(BUILD)/tilewalk $$(echo $${said#*:} | tr "~" " ") >$(BUILD)/said.$$$$ && install -Dm644 $(BUILD)/said.$$$$ "$(SHARE)/$${said%:*}" || exit 1; done; rm $(BUILD)/said.$$$$
	mkdir -p "$(SHARE)/man/man1" && assets/package/man.sh $(BUILD)/tilewalk "$(SHARE)/man/man1"
	for page in $(wildcard $(WEB)/*); do install -Dm644 $$page "$(SHARE)/tilewalk/web/$${page##*/}" || exit 1; done
	install -Dm644 assets/package/tilewalk.desktop "$(DESKTOP)"
	install -Dm644 viz/web/page/icon.svg "$(ICON)"
uninstall:
	rm -rf "$(ROOT)/lib/libtilewalk.so" "$(ROOT)/lib/$(SONAME)" "$(ROOT)/lib/pkgconfig/tilewalk.pc" "$(ROOT)/include/tilewalk.h"
	rm -rf "$(ROOT)/bin/tilewalk" "$(ROOT)/lib/tilewalk" "$(SHARE)/tilewalk" "$(DESKTOP)" "$(ICON)"
	for said in $(SAID); do rm -f "$(SHARE)/$${said%:*}"; done
	rm -f "$(SHARE)"/man/man1/tilewalk.1 "$(SHARE)"/man/man1/tilewalk-*.1

wheel: $(BUILD)/libtilewalk.so # the Python package
	@viz/python/wheel.py $< '$(VERSION)' $(BUILD)
dist: # the source as an archive
	@mkdir -p $(BUILD) && echo $(VERSION) >$(BUILD)/.version
	git archive --prefix=tilewalk-$(VERSION)/ --add-file=$(BUILD)/.version -o $(BUILD)/tilewalk-$(VERSION).tar.gz HEAD
DEB := $(BUILD)/deb/tilewalk-$(VERSION)
deb: dist # the Debian package, in $(BUILD)/deb; DEB_OBJECTS=build: of objects that are there
	rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	tar -C $(BUILD)/deb -xzf $(BUILD)/tilewalk-$(VERSION).tar.gz
	cp -r assets/package/debian $(DEB)/
	printf 'tilewalk (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- Tilewalk contributors <tilewalk@localhost>  %s\n' \
	  '$(VERSION)' "$$(date -R -u -d "@$$(git log -1 --format=%ct)")" >$(DEB)/debian/changelog
	$(if $(DEB_OBJECTS),mkdir $(DEB)/build && cd $(DEB_OBJECTS) && tar -cf - --exclude='*.plain.o' --exclude='*.counted.o' sim kernels lessons viz \
	  $$(ls -d web programs.* compile *.stamp *.a 2>/dev/null) | tar -C $(abspath $(DEB))/build -xf - && find $(abspath $(DEB))/build -exec touch -r $(abspath $(BUILD))/deb {} +)
	cd $(DEB) && env -u MAKEFLAGS -u MAKELEVEL -u BUILD dpkg-buildpackage -us -uc -b $(DEB_FLAGS)
