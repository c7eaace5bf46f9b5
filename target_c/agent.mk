# SPDX-License-Identifier: Apache-2.0
# The agent and its builds on Linux. The top Makefile includes this file; alone, from the top of the
# tree: make -f target_c/agent.mk
#
# For a port's own build: AGENT_SOURCES (agent, generated tables, third-party code), AGENT_CPPFLAGS, and for the
# third-party sources, which are all below THIRD_PARTY, THIRD_PARTY_CPPFLAGS; FREESTANDING_CPPFLAGS where there is no
# C library.

AGENT_GOAL := $(.DEFAULT_GOAL)
ifeq ($(firstword $(MAKEFILE_LIST)),$(lastword $(MAKEFILE_LIST)))
AGENT_GOAL := agent-all
endif

BUILD ?= build
THIRD_PARTY := $(BUILD)/third_party
NANOPB := $(THIRD_PARTY)/nanopb
BEARSSL := $(THIRD_PARTY)/bearssl
AGENT := target_c/agent
POSIX := target_c/ports/posix

# HMAC-SHA256 and nothing else of BearSSL.
THIRD_PARTY_SOURCES := $(addprefix $(NANOPB)/,pb_common.c pb_encode.c pb_decode.c) \
    $(addprefix $(BEARSSL)/src/,hash/sha2small.c mac/hmac.c codec/dec32be.c codec/enc32be.c)
AGENT_SOURCES := $(sort $(wildcard $(AGENT)/*.c) $(AGENT)/generated/event_table.c $(AGENT)/generated/vxmon.pb.c) \
    $(THIRD_PARTY_SOURCES)
AGENT_CPPFLAGS := -Itarget_c/include -I$(AGENT) -isystem $(NANOPB) -isystem $(BEARSSL)/inc \
    -DPB_SYSTEM_HEADER='"pb_system.h"'
# string.h and limits.h for compilers that come without a C library.
FREESTANDING_CPPFLAGS := -isystem $(AGENT)/freestanding
THIRD_PARTY_CPPFLAGS := $(AGENT_CPPFLAGS) -I$(BEARSSL)/src

# The sources come with the set-up; whoever builds without it gets them now.
THIRD_PARTY_HEADERS := $(NANOPB)/pb.h $(BEARSSL)/inc/bearssl.h
$(THIRD_PARTY_SOURCES) $(THIRD_PARTY_HEADERS) &: .ci/fetch-sources
	@.ci/fetch-sources
	@touch -c $(THIRD_PARTY_SOURCES) $(THIRD_PARTY_HEADERS)

# Q= shows the commands.
Q ?= @
HOST_CC ?= gcc
C_WARNINGS := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion \
    -Wno-sign-conversion -Werror
C_SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
POSIX_CPPFLAGS := $(AGENT_CPPFLAGS) -I$(POSIX) -D_POSIX_C_SOURCE=200809L

# $(1): name of the variant, $(2): compiler options of it. Objects go to build/posix/obj/<variant>.
define posix_variant
POSIX_OBJECTS_$(1) := $$(patsubst %.c,$(BUILD)/posix/obj/$(1)/%.o,$$(AGENT_SOURCES) $(POSIX)/port.c $(POSIX)/sources.c)

$(BUILD)/posix/obj/$(1)/$(THIRD_PARTY)/%.o: $(THIRD_PARTY)/%.c
	@mkdir -p $$(@D)
	$$(Q)$(HOST_CC) -std=c11 -O2 -g -ffreestanding $(2) $$(THIRD_PARTY_CPPFLAGS) -I$(POSIX) -MMD -MP -c $$< -o $$@

$(BUILD)/posix/obj/$(1)/$(AGENT)/%.o: $(AGENT)/%.c | $(THIRD_PARTY_HEADERS)
	@mkdir -p $$(@D)
	$$(Q)$(HOST_CC) $$(C_WARNINGS) -O2 -g -ffreestanding $(2) $$(POSIX_CPPFLAGS) -MMD -MP -c $$< -o $$@

$(BUILD)/posix/obj/$(1)/%.o: %.c | $(THIRD_PARTY_HEADERS)
	@mkdir -p $$(@D)
	$$(Q)$(HOST_CC) $$(C_WARNINGS) -O2 -g $(2) $$(POSIX_CPPFLAGS) -I$(AGENT) -I$(POSIX) -MMD -MP -c $$< -o $$@

-include $$(POSIX_OBJECTS_$(1):.o=.d)
endef

$(eval $(call posix_variant,plain,))
$(eval $(call posix_variant,san,$(C_SANITIZERS)))
$(eval $(call posix_variant,smp,$(C_SANITIZERS) -DVXM_PORT_STREAMS=2))

# $(1): program, $(2): variant, $(3): its own sources.
define posix_program
$(BUILD)/posix/$(1): $$(POSIX_OBJECTS_$(2)) $$(patsubst %.c,$(BUILD)/posix/obj/$(2)/%.o,$(3))
	@mkdir -p $$(@D)
	$$(Q)$(HOST_CC) $(if $(filter plain,$(2)),,$(C_SANITIZERS)) -o $$@ $$^
-include $$(patsubst %.c,$(BUILD)/posix/obj/$(2)/%.d,$(3))
AGENT_PROGRAMS += $(BUILD)/posix/$(1)
endef

AGENT_PROGRAMS :=
$(eval $(call posix_program,vxm-posix-target,plain,$(addprefix $(POSIX)/,target_main.c module.c activity.c socket.c)))

$(eval $(call posix_program,vxm-sim,san,$(POSIX)/sim_main.c $(POSIX)/sim_sources.c))
$(eval $(call posix_program,vxm-sim-smp,smp,$(POSIX)/sim_main.c $(POSIX)/sim_sources.c))

$(eval $(call posix_program,fuzz-agent,san,tests/fuzz/fuzz_agent.c))

# Only where clang is, with its libFuzzer. All in one, as it is seldom built.
FUZZ_CC ?= clang
HAS_FUZZER := $(shell echo 'int LLVMFuzzerTestOneInput(void){return 0;}' | \
    $(FUZZ_CC) -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null && echo yes)
AGENT_PROGRAMS += $(if $(HAS_FUZZER),$(BUILD)/posix/fuzz-datagram)
FUZZ_SOURCES := $(AGENT_SOURCES) $(POSIX)/port.c $(POSIX)/sources.c tests/fuzz/fuzz_datagram.c
$(BUILD)/posix/fuzz-datagram: $(FUZZ_SOURCES) $(wildcard $(AGENT)/*.h $(AGENT)/generated/*.h target_c/include/vxm/*.h)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -std=c11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $(POSIX_CPPFLAGS) \
	    -I$(BEARSSL)/src -I$(POSIX) -o $@ $(FUZZ_SOURCES)

# It includes cookie.c, so the object of that file is left out.
AGENT_TEST_OWN := $(patsubst %,$(BUILD)/posix/obj/san/tests/target/%.o,unit_tests unit_walk)
AGENT_TEST_OBJECTS := $(filter-out %/cookie.o,$(POSIX_OBJECTS_san)) $(AGENT_TEST_OWN)
$(BUILD)/posix/agent-tests: $(AGENT_TEST_OBJECTS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(C_SANITIZERS) -o $@ $^
-include $(AGENT_TEST_OWN:.o=.d)
AGENT_PROGRAMS += $(BUILD)/posix/agent-tests

.PHONY: agent-all
agent-all: $(AGENT_PROGRAMS)

BUILD_TARGETS += $(AGENT_PROGRAMS)

# The template compiles, and with the agent leaves open only what a C runtime brings.
TEMPLATE := target_c/ports/template
TEMPLATE_OPEN := memcmp|memcpy|memmove|memset|strlen|_GLOBAL_OFFSET_TABLE_
TEMPLATE_OBJECTS := $(patsubst %.c,$(BUILD)/template/%.o,$(AGENT_SOURCES) $(TEMPLATE)/port.c)

$(BUILD)/template/$(THIRD_PARTY)/%.o: $(THIRD_PARTY)/%.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=c11 -O2 -ffreestanding $(FREESTANDING_CPPFLAGS) $(THIRD_PARTY_CPPFLAGS) -I$(TEMPLATE) -MMD -MP -c $< -o $@

$(BUILD)/template/%.o: %.c | $(THIRD_PARTY_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(C_WARNINGS) -O2 -ffreestanding $(FREESTANDING_CPPFLAGS) $(AGENT_CPPFLAGS) -I$(TEMPLATE) -MMD -MP -c $< -o $@

$(BUILD)/template/port.o: $(TEMPLATE_OBJECTS)
	$(Q)ld -r -o $@ $^
	$(Q)open=$$(nm -u $@ | awk '{ print $$2 }' | grep -vxE '$(TEMPLATE_OPEN)'); \
	    if [ -n "$$open" ]; then echo "the template port leaves open: $$open" >&2; rm -f $@; exit 1; fi

-include $(TEMPLATE_OBJECTS:.o=.d)
BUILD_TARGETS += $(BUILD)/template/port.o
agent-all: $(BUILD)/template/port.o

# The including file's first rule stays its default.
.DEFAULT_GOAL := $(AGENT_GOAL)
