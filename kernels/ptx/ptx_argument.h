/* Arguments of a launch as people write them.
 *
 *     i32:256   f32:0.125   u64:0                      a number of that type
 *     f32[65536]:normal:1   f16[64*128]:normal:2       a buffer of that many elements, and what fills it
 *     f32[N]:zero  :none  :inf  :-inf  :nan  :iota  :0.5   i32[N]:int:3
 *     f16[N]:DATA.bin   f16[]:DATA.bin   DATA.bin      bytes of a file (alone: of fp32); [] as many as it has
 *     map:f16[1024x64]:64x64:128:normal:1              a tensor map, of a tensor of its own: rows x columns,
 *                                                      a box's rows x columns, the swizzle in bytes (0: none), and
 *                                                      what fills the tensor
 *
 *     types   i8 u8 i16 u16 i32 u32 i64 u64  f16 bf16 f32 f64
 *
 * normal:SEED and int:SEED are numbers that other languages make in a line, so that a GPU can be given the same ones:
 *
 *     u = (splitmix64(index + SEED x 1000003) >> 40) / 2^24        0 <= u < 1, exact in fp32
 *     normal: 4 u - 2, rounded to the type        int: floor(1000 u)
 *
 * `none` holds zeros that count as never written (a read of them is a fault). */
#ifndef TILEWALK_KERNELS_PTX_PTX_ARGUMENT_H
#define TILEWALK_KERNELS_PTX_PTX_ARGUMENT_H

#include "kernels/ptx/ptx.h"

enum { SPEC_FILE_BYTES = 256 };
#define SPEC_MAX_BYTES ((int64_t)1 << 30) /* of one buffer */

typedef enum {
  SPEC_I8,
  SPEC_U8,
  SPEC_I16,
  SPEC_U16,
  SPEC_I32,
  SPEC_U32,
  SPEC_I64,
  SPEC_U64,
  SPEC_F16,
  SPEC_BF16,
  SPEC_F32,
  SPEC_F64,
  SPEC_N_TYPES
} SpecType;

typedef enum { SPEC_VALUE, SPEC_NONE, SPEC_NORMAL, SPEC_INT, SPEC_IOTA, SPEC_FILE } SpecFill;

typedef struct {
  SpecType type;
  bool is_buffer;
  bool is_map; /* a buffer, and the map of it that is passed */
  PtxTensorMap map;
  int64_t n; /* elements; 1 for a number; 0: as many as the file has */
  SpecFill fill;
  double value;  /* SPEC_VALUE of a float */
  int64_t whole; /* SPEC_VALUE of an integer; two's complement for u64 */
  uint64_t seed; /* SPEC_NORMAL, SPEC_INT */
  char file[SPEC_FILE_BYTES];
} Spec;

/* STATUS_BAD_REQUEST with what would be right; *spec is unchanged then. */
Status spec_parse(const char *text, Spec *spec, Error *error);

const char *spec_type_name(SpecType type);
int32_t spec_type_bytes(SpecType type);
bool spec_type_is_float(SpecType type);

/* Writes all n elements; nothing of SPEC_FILE, which the caller reads. */
void spec_fill(const Spec *spec, void *bytes);

/* Element i of a buffer as a double (integers above 2^53 are rounded), and the other way round. */
double spec_element(SpecType type, const void *bytes, int64_t i);

/* Whether a number of this type may be given to that parameter: the width decides, as no kernel can tell more. NULL, or
 * what would be right ("it takes 4 bytes: i32, u32 or f32"). */
const char *spec_mismatch(const Spec *spec, const PtxParameter *parameter);

#endif
