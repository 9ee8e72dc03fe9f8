# Tilewalk. The targets people use: run, test, bench, install, clean (`make help` lists all).
#
#   make run            set up, build, and take the tour
#   make test           set up, build, and run every test
#   make SAN=1 ...      the same with the address and undefined-behaviour sanitizers
#   make BUILD=dir ...  build somewhere else than build/

BUILD ?= build
PREFIX ?= /usr/local
CC ?= cc
CFLAGS ?= -O2 -g
WARN := -std=c11 -Wall -Wextra -Wshadow -Wconversion
PKGS := cairo pangocairo jansson lua5.4 md4c
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null)

ifdef SAN
CFLAGS += -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
endif

ROOMS := sim kernels/counters lessons viz/text viz/scene viz/export viz/cli
SRC := $(foreach room,$(ROOMS),$(wildcard $(room)/*.c))
OBJ := $(SRC:%.c=$(BUILD)/%.o)
MAIN := $(BUILD)/viz/cli/main.o
LIB := $(filter-out $(MAIN),$(OBJ))
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))

.PHONY: all run test clean
all: $(BUILD)/tilewalk

run: all
	$(BUILD)/tilewalk tour

test: $(TESTS)
	@for t in $(TESTS); do $$t || exit 1; done

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CFLAGS) -I. $(PKG_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libtilewalk.a: $(LIB)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/tilewalk: $(MAIN) $(BUILD)/libtilewalk.a
	$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -lm -o $@

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libtilewalk.a
	$(CC) $(LDFLAGS) $^ $(PKG_LIBS) -lcmocka -lm -o $@

clean:
	rm -rf $(BUILD)

.SECONDARY:
-include $(OBJ:.o=.d) $(TESTS:=.d)
