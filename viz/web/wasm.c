/* What clang's code and wasi-libc want of a program without a main. */
#include <stdint.h>
#include <stdlib.h>

uintptr_t __stack_chk_guard = 0x2f1d3c5b; /* wasm has no stack to smash: locals that matter are out of memory's reach */
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void) { abort(); }
