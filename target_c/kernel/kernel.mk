# SPDX-License-Identifier: Apache-2.0
# The demo target. The top Makefile includes this file; alone, from the top of the tree:
#
#   make -f target_c/kernel/kernel.mk [VXM=0]
#
# makes build/ppce500/kernel.elf (QEMU -kernel) with the partitions in it, and build/ppce500/<partition>.elf
# with symbols. VXM=0 leaves out the agent and all hooks: the kernel that everything is compared with;
# it goes to build/ppce500-bare.

BUILD ?= build
PY ?= .venv/bin/python
# Q= shows the commands.
Q ?= @
CROSS ?= powerpc-linux-gnu-

ifndef AGENT_SOURCES
include target_c/agent.mk
endif

KERNEL := target_c/kernel
PARTITIONS := target_c/partitions
PORT := target_c/ports/a653
PPC := $(BUILD)/ppce500
BARE := $(BUILD)/ppce500-bare

PPC_CC := $(CROSS)gcc
PPC_FLAGS := -mcpu=e500mc -msoft-float -O2 -g -std=gnu11 -ffreestanding -fno-pie -fno-builtin -fno-stack-protector \
    -fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -fno-strict-aliasing -G0 -mno-sdata \
    -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
PPC_LINK := -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,max-page-size=4096
KERNEL_INCLUDES := -I$(KERNEL)/include -I$(KERNEL)/arch/ppc -I$(KERNEL)/board/ppce500

KERNEL_COMMON := $(filter-out %/no_monitor.c,$(wildcard $(KERNEL)/core/*.c)) \
    $(wildcard $(KERNEL)/arch/ppc/*.c $(KERNEL)/arch/ppc/*.S $(KERNEL)/board/ppce500/*.c)
APPLICATIONS := $(patsubst $(PARTITIONS)/%/main.c,%,$(wildcard $(PARTITIONS)/*/main.c))
LIBRARY := $(wildcard $(PARTITIONS)/lib/*.c $(PARTITIONS)/lib/*.S)
CONFIGURE_SOURCES := $(wildcard $(PARTITIONS)/*.py)
CONFIGURE := $(CONFIGURE_SOURCES) $(PARTITIONS)/module.xml

# --- partitions: the same for both kernels ---

$(PPC)/obj/$(PARTITIONS)/%.o: $(PARTITIONS)/%.c
	@mkdir -p $(@D)
	$(Q)$(PPC_CC) $(PPC_FLAGS) -I$(KERNEL)/include -I$(PARTITIONS)/lib -MMD -MP -c $< -o $@

$(PPC)/obj/$(PARTITIONS)/%.o: $(PARTITIONS)/%.S
	@mkdir -p $(@D)
	$(Q)$(PPC_CC) $(PPC_FLAGS) -I$(KERNEL)/include -MMD -MP -c $< -o $@

LIBRARY_OBJECTS := $(patsubst %,$(PPC)/obj/%.o,$(basename $(LIBRARY)))

define partition_program
$(PPC)/$(1).elf: $(PPC)/obj/$(PARTITIONS)/$(1)/main.o $$(LIBRARY_OBJECTS) $(PARTITIONS)/partition.ld
	$$(Q)$$(PPC_CC) $$(PPC_FLAGS) $$(PPC_LINK) -Wl,-T,$(PARTITIONS)/partition.ld -o $$@ $$(filter %.o,$$^) -lgcc
$(PPC)/images/$(1).elf: $(PPC)/$(1).elf
	@mkdir -p $$(@D)
	$$(Q)$$(CROSS)strip -o $$@ $$<
-include $(PPC)/obj/$(PARTITIONS)/$(1)/main.d
endef
$(foreach application,$(APPLICATIONS),$(eval $(call partition_program,$(application))))
-include $(LIBRARY_OBJECTS:.o=.d)

$(PPC)/config.c $(PPC)/images.S &: $(CONFIGURE)
	@mkdir -p $(PPC)
	$(Q)$(PY) -m target_c.partitions.configure $(PARTITIONS)/module.xml -o $(PPC) --images $(PPC)/images

# --- the kernel: $(1) folder, $(2) 1 with monitor, 0 without, $(3) its sources ---

define kernel_program
$(1)_OBJECTS := $$(patsubst %,$(1)/obj/%.o,$$(basename $(3))) $(1)/obj/config.o $(1)/obj/images.o

$(1)/obj/$(THIRD_PARTY)/%.o: $(THIRD_PARTY)/%.c
	@mkdir -p $$(@D)
	$$(Q)$$(PPC_CC) $$(filter-out -W%,$$(PPC_FLAGS)) $$(FREESTANDING_CPPFLAGS) $$(THIRD_PARTY_CPPFLAGS) \
	    -I$(PORT) -MMD -MP -c $$< -o $$@

$(1)/obj/target_c/agent/%.o: target_c/agent/%.c | $(THIRD_PARTY_HEADERS)
	@mkdir -p $$(@D)
	$$(Q)$$(PPC_CC) $$(PPC_FLAGS) $$(FREESTANDING_CPPFLAGS) $$(AGENT_CPPFLAGS) -I$(PORT) -MMD -MP -c $$< -o $$@

$(1)/obj/%.o: %.c
	@mkdir -p $$(@D)
	$$(Q)$$(PPC_CC) $$(PPC_FLAGS) -DKERNEL_MONITORED=$(2) $$(KERNEL_INCLUDES) \
	    $(if $(filter 1,$(2)),-Itarget_c/include -I$(PORT) -I$(AGENT)) -MMD -MP -c $$< -o $$@

$(1)/obj/%.o: %.S
	@mkdir -p $$(@D)
	$$(Q)$$(PPC_CC) $$(PPC_FLAGS) $$(KERNEL_INCLUDES) -MMD -MP -c $$< -o $$@

$(1)/obj/config.o: $(PPC)/config.c
	@mkdir -p $$(@D)
	$$(Q)$$(PPC_CC) $$(PPC_FLAGS) $$(KERNEL_INCLUDES) -c $$< -o $$@

$(1)/obj/images.o: $(PPC)/images.S $(APPLICATIONS:%=$(PPC)/images/%.elf)
	@mkdir -p $$(@D)
	$$(Q)$$(PPC_CC) $$(PPC_FLAGS) -c $$< -o $$@

$(1)/kernel.elf: $$($(1)_OBJECTS) $(KERNEL)/board/ppce500/link.ld
	$$(Q)$$(PPC_CC) $$(PPC_FLAGS) $$(PPC_LINK) -Wl,-T,$(KERNEL)/board/ppce500/link.ld -o $$@ $$(filter %.o,$$^) -lgcc

-include $$(filter %.d,$$($(1)_OBJECTS:.o=.d))
endef

# --- the same kernel with the partitions that test it ---

CHECKS := tests/qemu/partitions
CHECK := $(BUILD)/ppce500-check
CHECK_APPLICATIONS := $(patsubst $(CHECKS)/%/main.c,%,$(wildcard $(CHECKS)/*/main.c))

$(PPC)/obj/$(CHECKS)/%.o: $(CHECKS)/%.c
	@mkdir -p $(@D)
	$(Q)$(PPC_CC) $(PPC_FLAGS) -I$(KERNEL)/include -I$(PARTITIONS)/lib -I$(CHECKS) -MMD -MP -c $< -o $@

$(CHECK)/images/%.elf: $(PPC)/obj/$(CHECKS)/%/main.o $(LIBRARY_OBJECTS) $(PARTITIONS)/partition.ld
	@mkdir -p $(@D)
	$(Q)$(PPC_CC) $(PPC_FLAGS) $(PPC_LINK) -Wl,-T,$(PARTITIONS)/partition.ld -s -o $@ $(filter %.o,$^) -lgcc

$(CHECK)/config.c $(CHECK)/images.S &: $(CONFIGURE_SOURCES) $(CHECKS)/module.xml
	@mkdir -p $(CHECK)
	$(Q)$(PY) -m target_c.partitions.configure $(CHECKS)/module.xml -o $(CHECK) --images $(CHECK)/images

$(CHECK)/config.o: $(CHECK)/config.c
	$(Q)$(PPC_CC) $(PPC_FLAGS) $(KERNEL_INCLUDES) -c $< -o $@

$(CHECK)/images.o: $(CHECK)/images.S $(CHECK_APPLICATIONS:%=$(CHECK)/images/%.elf)
	$(Q)$(PPC_CC) $(PPC_FLAGS) -c $< -o $@

.SECONDARY:

$(eval $(call kernel_program,$(PPC),1,$(KERNEL_COMMON) $(wildcard $(PORT)/*.c) $(AGENT_SOURCES)))
$(eval $(call kernel_program,$(BARE),0,$(KERNEL_COMMON) $(KERNEL)/core/no_monitor.c))

$(CHECK)/kernel.elf: $(filter-out $(BARE)/obj/config.o $(BARE)/obj/images.o,$($(BARE)_OBJECTS)) $(CHECK)/config.o $(CHECK)/images.o
	$(Q)$(PPC_CC) $(PPC_FLAGS) $(PPC_LINK) -Wl,-T,$(KERNEL)/board/ppce500/link.ld -o $@ $(filter %.o,$^) -lgcc

# ... and with the monitor, for what partitions record.
$(CHECK)/monitored.elf: $(filter-out $(PPC)/obj/config.o $(PPC)/obj/images.o,$($(PPC)_OBJECTS)) $(CHECK)/config.o $(CHECK)/images.o
	$(Q)$(PPC_CC) $(PPC_FLAGS) $(PPC_LINK) -Wl,-T,$(KERNEL)/board/ppce500/link.ld -o $@ $(filter %.o,$^) -lgcc

-include $(CHECK_APPLICATIONS:%=$(PPC)/obj/$(CHECKS)/%/main.d)

.PHONY: kernel kernel-check
kernel-check: $(CHECK)/kernel.elf $(CHECK)/monitored.elf
kernel: $(if $(filter 0,$(VXM)),$(BARE),$(PPC))/kernel.elf

BUILD_TARGETS += $(PPC)/kernel.elf $(BARE)/kernel.elf $(CHECK)/kernel.elf $(CHECK)/monitored.elf
