# CUDA kernels for a GPU: nvcc and a C++ compiler, no other package. Each rung twice, once counting its bytes, two rungs
# three times more, marking when each CTA runs, timing its reads, or noting its end, and four with clock stamps.

.PHONY: kernels kernels-once
NVCC := $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
# Code for Turing, Ampere and Hopper; KERNEL_ARCHS="90" is quicker. What needs more says "Compiled for ..." itself.
KERNEL_ARCHS ?= 75 80 90
archs_of = $(if $(shell grep -l '^// Compiled for sm_90a' $1),90a,$(if $(shell grep -l '^// Compiled for sm_80' $1),$(filter-out 75,$(KERNEL_ARCHS)),$(KERNEL_ARCHS)))
gencode = $(foreach a,$1,-gencode=arch=compute_$a,code=sm_$a)
COMPILE_CU = $(NVCC) -std=c++17 -O3 -lineinfo -Xcompiler -Wall,-Wextra,-fPIC -Wno-deprecated-gpu-targets $(call gencode,$(call archs_of,$<)) -I. -MMD -MP
LINK_CU = $(NVCC) $(call gencode,$(KERNEL_ARCHS)) -Wno-deprecated-gpu-targets

# $(BUILD)/%.BUILD.o: one of the builds of a kernel.
define kernel_build
$$(BUILD)/%.$1.o: %.cu
	@mkdir -p $$(@D)
	$$(call say,NVCC)$$(COMPILE_CU) $2 -c $$< -o $$@
endef
$(eval $(call kernel_build,plain,))
$(foreach b,counted marked timed ended stamped,$(eval $(call kernel_build,$b,-DTW_$(shell echo $b | sed 's/counted/COUNTING/' | tr a-z A-Z))))

# The model and what checks a result, of the same objects as in the library: no drawing, no JSON, no Lua.
MODEL_OBJ := $(filter $(BUILD)/sim/% $(BUILD)/kernels/counters/% $(BUILD)/kernels/probes/% $(BUILD)/programs.o,$(OBJ)) $(filter %/problem.o %/verify.o %/verify_backward.o,$(ON_CPU))
$(BUILD)/libmodel.a: $(MODEL_OBJ) $(BUILD)/members.stamp
	$(call say,AR )rm -f $@ && $(AR) rcs $@ $(MODEL_OBJ)
GPU_ONLY := kernels/lib/harness.cu kernels/lib/fill.cu $(wildcard kernels/ladder/*_cublas.cu) $(filter-out %/probe_watch.cu,$(wildcard kernels/probes/*.cu))
GPU_RUNGS := $(foreach b,marked timed ended,$(patsubst %,$(BUILD)/kernels/ladder/%.$b.o,fa2_tensor fa2_async)) $(patsubst %,$(BUILD)/kernels/ladder/%.stamped.o,fa2_async fa2_wgmma fa3_overlap fa3_backward) $(foreach b,plain counted,$(RUNGS:%.cu=$(BUILD)/%.$b.o))
$(BUILD)/tilewalk-kernels: $(GPU_RUNGS) $(GPU_ONLY:%.cu=$(BUILD)/%.plain.o) $(BUILD)/kernels/lib/harness_request.o $(BUILD)/libmodel.a
	$(call say,LD )$(LINK_CU) $(addprefix -Xcompiler ,$(SANITIZE)) $^ -ldl $(if $(OPENMP),-lgomp) -o $@
# The rungs for programs in other languages (kernels/collect/times.py).
$(BUILD)/libladder.so: $(patsubst %.cu,$(BUILD)/%.plain.o,$(RUNGS) kernels/lib/ladder.cu)
	$(call say,LD )$(LINK_CU) -shared $^ -o $@
$(BUILD)/libwatch.so: kernels/probes/probe_watch.cu kernels/lib/cuda_calls.h
	@mkdir -p $(@D)
	$(call say,NVCC)$(COMPILE_CU) -MF $@.d -shared -Xcompiler -fPIC $< -o $@
kernels: $(if $(NVCC),$(BUILD)/tilewalk-kernels $(BUILD)/libladder.so $(BUILD)/libwatch.so)
	$(if $(NVCC),,@echo "No nvcc: the CUDA kernels are left out.")
# Each kernel compiled once, not the builds that count, mark, time and stamp: what a push waits for.
kernels-once: $(BUILD)/libladder.so $(BUILD)/libwatch.so $(GPU_ONLY:%.cu=$(BUILD)/%.plain.o)
