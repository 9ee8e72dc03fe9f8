# The PTX machine: -O3 where the rest is at -O2, no contraction (a product and a sum round twice unless the kernel says fma), and its hot loops once
# for any processor and, on x86, once more for AVX2; which one runs is decided there.

PTX_HOT := ptx_warp ptx_mma ptx_wgmma
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
OBJ += $(PTX_HOT:%=$(BUILD)/kernels/ptx/%.avx2.o)
PTX_FLAGS := -DPTX_HAS_AVX2
endif
PTX_FLAGS += $(if $(findstring clang,$(CC)),-Wno-pass-failed) $(if $(SAN),,$(if $(filter -O2,$(CFLAGS)),-O3,$(HOT))) -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-trapping-math
$(BUILD)/kernels/ptx/%.o: COMPILE += $(PTX_FLAGS)
$(BUILD)/kernels/ptx/%.avx2.o: kernels/ptx/%.c $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC )$(COMPILE) -mavx2 -mfma -DPTX_AVX2 -c $< -o $@
# clang takes minutes over the loop of instructions where a fuzzer's marks are in it.
$(BUILD)/kernels/ptx/ptx_warp%o: COMPILE += $(if $(findstring fuzzer,$(CFLAGS)),-O0)
