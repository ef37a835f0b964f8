# make                build ./pgdnstrace          make unit       unit tests (no root)
# make V=1            show the commands           make DEBUG=1    -O0 -g with sanitizers
# make static         ./pgdnstrace-static, which needs no library where it runs
# make install        DESTDIR= PREFIX=/usr/local  make clean
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

VERSION := 0.1.0
PREFIX  ?= /usr/local
CLANG   ?= clang
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PKGCONFIG ?= pkg-config
BUILD   := build
ARCH    := $(subst aarch64,arm64,$(subst x86_64,x86,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))))
Q       := $(if $(filter 1,$(V)),,@)
say      = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' $(1) $(2))

comma    := ,
# another machine's libraries and compiler (tests/lab/sysroot says how): its .pc files, its paths
ifdef SYSROOT
export PKG_CONFIG_SYSROOT_DIR := $(SYSROOT)
export PKG_CONFIG_LIBDIR := $(SYSROOT)/usr/lib/$(shell $(CC) -dumpmachine)/pkgconfig
CFLAGS   += --sysroot=$(SYSROOT)
endif
LIBS     := libbpf libelf zlib ncursesw jansson capstone libcares libmicrohttpd
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-sign-compare
OPTIMIZE := $(if $(filter 1,$(DEBUG)),-O0 -g3 -fsanitize=address$(comma)undefined,-O2 -g)
CPPFLAGS += -D_GNU_SOURCE -DPGDNSTRACE_VERSION='"$(VERSION)"' -I. -Iuser -I$(BUILD)
CFLAGS   += -std=gnu11 $(OPTIMIZE) $(WARN) $(shell $(PKGCONFIG) --cflags $(LIBS))
LDLIBS   += $(shell $(PKGCONFIG) --libs $(LIBS)) -lm
BPFFLAGS := -target bpf -D__TARGET_ARCH_$(ARCH) -g -O2 -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -I. -Ivmlinux \
	    -Wno-missing-declarations

SOURCES  := $(sort $(wildcard user/*.c user/*/*.c))
ASSETS   := $(BUILD)/user/export/assets.o
CHART_JS ?= /usr/share/javascript/chart.js/chart.min.js
OBJECTS  := $(SOURCES:%.c=$(BUILD)/%.o) $(ASSETS)
PURE     := $(filter-out $(BUILD)/user/main.o,$(OBJECTS))
BPF      := $(sort $(wildcard bpf/*.bpf.c))
BPF_OBJS := $(BPF:%.c=$(BUILD)/%.o)
SKELETON := $(BUILD)/pgdnstrace.skel.h
UNITS    := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(sort $(wildcard tests/unit/test_*.c)))

all: pgdnstrace

pgdnstrace: $(OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# One file to copy to any host. libmicrohttpd speaks TLS by GnuTLS, which cannot be linked statically
# on Debian (p11-kit has no archive) and which the metrics endpoint never asks for.
STATIC_LIBS = $(shell $(PKGCONFIG) --static --libs $(filter-out libmicrohttpd,$(LIBS))) -lmicrohttpd -lm

STATIC  ?= pgdnstrace-static

static: $(STATIC)

$(STATIC): $(OBJECTS) $(BUILD)/gnutls-unused.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ $(STATIC_LIBS)

$(BUILD)/gnutls-unused.c: Makefile
	$(Q)mkdir -p $(@D)
	$(Q)nm -u $(shell $(CC) $(CFLAGS) -print-file-name=libmicrohttpd.a) 2>/dev/null | sort -u | \
		sed -n 's/^ *U \(gnutls_[a-z0-9_]*\)$$/int \1(void);\nint \1(void) { return 0; }/p' >$@

$(BUILD)/gnutls-unused.o: $(BUILD)/gnutls-unused.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<

$(BUILD)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/user/capture/live.o $(BUILD)/user/capture/live_attach.o: $(SKELETON)

# files built into the program; make cannot see what .incbin reads
$(ASSETS): user/export/assets.S $(wildcard user/export/report.html user/export/report.css user/export/report.js) $(CHART_JS)
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -DCHART_JS='"$(CHART_JS)"' -c -o $@ $<

# one BPF object of all files in bpf/, stripped of DWARF (BTF stays)
$(BUILD)/%.bpf.o: %.bpf.c
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPFFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/pgdnstrace.bpf.o: $(BPF_OBJS)
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKELETON): $(BUILD)/pgdnstrace.bpf.o
	$(call say,SKELETON,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name pgdnstrace >$@

# unit tests: one program a module, against every object but main's
$(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libpgdnstrace.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

$(BUILD)/libpgdnstrace.a: $(PURE)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

unit: $(UNITS)
	$(Q)failed=0; for test in $^; do $$test || failed=1; done; exit $$failed

install: pgdnstrace
	install -D -m 755 pgdnstrace $(DESTDIR)$(PREFIX)/sbin/pgdnstrace
	install -D -m 644 user/pgdnstrace.8 $(DESTDIR)$(PREFIX)/share/man/man8/pgdnstrace.8

clean:
	rm -rf $(BUILD) pgdnstrace $(STATIC)

format:
	clang-format -i $(shell git ls-files '*.c' '*.h' ':!vmlinux')

-include $(SOURCES:%.c=$(BUILD)/%.d) $(BPF_OBJS:.o=.d) $(UNITS:$(BUILD)/unit/%=$(BUILD)/tests/unit/%.d)

.PHONY: all static unit install clean format
.SECONDARY:
