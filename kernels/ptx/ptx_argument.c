#include "kernels/ptx/ptx_argument.h"

#include "sim/base/ascii.h"
#include "sim/base/quote.h"
#include "sim/base/size.h"
#include "sim/base/splitmix.h"
#include "sim/numbers/precision.h"

static const struct {
  const char *name;
  int32_t bytes;
  bool is_float, is_signed;
  Precision precision; /* of floats */
} TYPES[SPEC_N_TYPES] = {
    [SPEC_I8] = {"i8", 1, false, true, 0},
    [SPEC_U8] = {"u8", 1, false, false, 0},
    [SPEC_I16] = {"i16", 2, false, true, 0},
    [SPEC_U16] = {"u16", 2, false, false, 0},
    [SPEC_I32] = {"i32", 4, false, true, 0},
    [SPEC_U32] = {"u32", 4, false, false, 0},
    [SPEC_I64] = {"i64", 8, false, true, 0},
    [SPEC_U64] = {"u64", 8, false, false, 0},
    [SPEC_F16] = {"f16", 2, true, true, PRECISION_FP16},
    [SPEC_BF16] = {"bf16", 2, true, true, PRECISION_BF16},
    [SPEC_F32] = {"f32", 4, true, true, PRECISION_FP32},
    [SPEC_F64] = {"f64", 8, true, true, PRECISION_FP64},
};

const char *spec_type_name(SpecType type) { return TYPES[type].name; }
int32_t spec_type_bytes(SpecType type) { return TYPES[type].bytes; }
bool spec_type_is_float(SpecType type) { return TYPES[type].is_float; }

/* --- elements --- */

static void spec_store(SpecType type, void *bytes, int64_t i, double value) {
  const int32_t width = TYPES[type].bytes;
  uint64_t bits;
  if (TYPES[type].is_float)
    bits = precision_to_bits(TYPES[type].precision, value);
  else if (TYPES[type].is_signed)
    bits = (uint64_t)(int64_t)value;
  else
    bits = (uint64_t)value;
  memcpy((char *)bytes + i * width, &bits, (size_t)width); /* little-endian, as the GPU is */
}

double spec_element(SpecType type, const void *bytes, int64_t i) {
  const int32_t width = TYPES[type].bytes;
  uint64_t bits = 0;
  memcpy(&bits, (const char *)bytes + i * width, (size_t)width);
  if (TYPES[type].is_float) return precision_from_bits(TYPES[type].precision, bits);
  if (!TYPES[type].is_signed) return (double)bits;
  return (double)((int64_t)(bits << (64 - 8 * width)) >> (64 - 8 * width));
}

/* u of the head of this file's header, times 2^24. */
static double drawn(uint64_t index, uint64_t seed) { return (double)(mix(index + seed * 1000003) >> 40); }

void spec_fill(const Spec *spec, void *bytes) {
  const int32_t width = TYPES[spec->type].bytes;
  if (spec->fill == SPEC_FILE) return;
  for (int64_t i = 0; i < spec->n; i++) {
    double value = spec->value;
    if (spec->fill == SPEC_NORMAL) value = drawn((uint64_t)i, spec->seed) / 16777216 * 4 - 2;
    if (spec->fill == SPEC_INT) value = floor(drawn((uint64_t)i, spec->seed) * 1000 / 16777216);
    if (spec->fill == SPEC_IOTA) value = (double)i;
    if (spec->fill == SPEC_NONE) value = 0;
    if (spec->fill == SPEC_VALUE && !TYPES[spec->type].is_float)
      memcpy((char *)bytes + i * width, &spec->whole, (size_t)width);
    else
      spec_store(spec->type, bytes, i, value);
  }
}

/* --- reading --- */

static const char RIGHT[] = "say i32:256, f32:0.125, f32[65536]:normal:1, f16[N]:zero, i32[N]:int:3 or FILE.bin";

static Status refuse(const char *text, Error *error, const char *why) {
  return error_refuse(error, "the argument '%s': %s", quote_text(text).text, why);
}

/* A type's name at the start of text; its length, 0: none. */
static size_t read_type(const char *text, SpecType *type) {
  const size_t n = strcspn(text, ":[");
  for (int t = 0; t < SPEC_N_TYPES; t++)
    if (strlen(TYPES[t].name) == n && memcmp(TYPES[t].name, text, n) == 0) {
      *type = (SpecType)t;
      return n;
    }
  return 0;
}

/* "64*128", "64K": a product of counts, up to `end`. */
static bool read_count(const char *text, const char *end, int64_t *count) {
  int64_t product = 1;
  while (text < end) {
    char word[32];
    const char *star = memchr(text, '*', (size_t)(end - text)), *stop = star ? star : end;
    int64_t factor;
    if ((size_t)(stop - text) >= sizeof word) return false;
    memcpy(word, text, (size_t)(stop - text));
    word[stop - text] = '\0';
    if (size_parse_count(word, &factor, NULL) || __builtin_mul_overflow(product, factor, &product)) return false;
    text = stop + 1;
    if (star && text == end) return false;
  }
  *count = product;
  return true;
}

static bool read_whole(const char *text, SpecType type, int64_t *whole) {
  const bool minus = *text == '-';
  uint64_t value = 0;
  const int32_t bits = 8 * TYPES[type].bytes;
  if (minus && !TYPES[type].is_signed) return false;
  text += minus;
  const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex) text += 2;
  if (!*text) return false;
  for (; *text; text++) {
    const int c = ascii_lower(*text);
    if (!(hex ? ascii_is_hex(c) : ascii_is_digit(c))) return false;
    const uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    if (__builtin_mul_overflow(value, (uint64_t)(hex ? 16 : 10), &value) ||
        __builtin_add_overflow(value, digit, &value))
      return false;
  }
  const uint64_t top = (uint64_t)1 << (bits - 1), limit = !TYPES[type].is_signed || hex ? top - 1 + top
                                                          : minus                       ? top
                                                                                        : top - 1;
  if (value > limit) return false;
  *whole = (int64_t)(minus ? 0 - value : value);
  return true;
}

static bool read_float(const char *text, double *value) {
  const bool minus = *text == '-';
  const char *digits = text + minus;
  Decimal decimal;
  if (strcmp(digits, "inf") == 0) {
    *value = minus ? -(double)INFINITY : (double)INFINITY;
    return true;
  }
  if (strcmp(digits, "nan") == 0) {
    *value = (double)NAN;
    return true;
  }
  const size_t n = strlen(digits);
  if (n == 0 || decimal_read(digits, n, &decimal) != n) return false;
  *value = decimal_value(decimal) * (minus ? -1 : 1);
  return true;
}

static bool read_seed(const char *text, uint64_t *seed) {
  int64_t value;
  if (!read_whole(text, SPEC_I64, &value) || value < 0) return false;
  *seed = (uint64_t)value;
  return true;
}

static bool is_file_name(const char *text) { return strchr(text, '/') || strstr(text, ".bin"); }

static Status read_file_name(const char *text, const char *name, Spec *spec, Error *error) {
  if (strlen(name) >= SPEC_FILE_BYTES) return refuse(text, error, "the file's name is longer than 255 bytes");
  strcpy(spec->file, name);
  spec->fill = SPEC_FILE;
  return STATUS_OK;
}

/* A number that fills, of the spec's type. */
static bool read_value(const char *word, Spec *spec) {
  spec->fill = SPEC_VALUE;
  return TYPES[spec->type].is_float ? read_float(word, &spec->value) : read_whole(word, spec->type, &spec->whole);
}

static Status read_fill(const char *text, const char *word, Spec *spec, Error *error) {
  const size_t n = strcspn(word, ":");
  const bool has_seed = word[n] == ':', is_normal = n == 6 && memcmp(word, "normal", 6) == 0,
             is_int = n == 3 && memcmp(word, "int", 3) == 0;
  if (is_file_name(word)) return read_file_name(text, word, spec, error);
  if (is_normal || is_int) {
    if (is_normal && !TYPES[spec->type].is_float)
      return refuse(text, error, "'normal' fills floats; whole numbers take 'int:SEED'");
    spec->fill = is_normal ? SPEC_NORMAL : SPEC_INT;
    if (has_seed && read_seed(word + n + 1, &spec->seed)) return STATUS_OK;
    return refuse(text, error, "a seed follows: normal:1, int:3");
  }
  char fill[32]; /* others need no seed; one is ignored if it is 0, as in recorded launches */
  if (n < sizeof fill && (!has_seed || strcmp(word + n, ":0") == 0)) {
    memcpy(fill, word, n);
    fill[n] = '\0';
    spec->fill = SPEC_VALUE;
    if (strcmp(fill, "zero") == 0) return STATUS_OK;
    if (strcmp(fill, "none") == 0) return spec->fill = SPEC_NONE, STATUS_OK;
    if (strcmp(fill, "iota") == 0) return spec->fill = SPEC_IOTA, STATUS_OK;
    if (read_value(fill, spec)) return STATUS_OK;
  }
  return refuse(text, error, "filled by normal:SEED, int:SEED, zero, none, iota, inf, -inf, nan, a number or FILE.bin");
}

static Status read_buffer(const char *text, const char *after_type, Spec *spec, Error *error) {
  const char *close = strchr(after_type, ']');
  if (!close || close[1] != ':') return refuse(text, error, "a buffer is TYPE[COUNT]:FILL, say f32[65536]:normal:1");
  spec->is_buffer = true;
  spec->n = 0;
  if (close > after_type + 1 && !read_count(after_type + 1, close, &spec->n))
    return refuse(text, error, "the count in [ ] is a whole number, say 65536, 64K or 256*64");
  if (read_fill(text, close + 2, spec, error)) return STATUS_BAD_REQUEST;
  if (spec->n == 0 && spec->fill != SPEC_FILE)
    return refuse(text, error, "a count belongs in [ ]; only a file has one of its own");
  if (spec->n > SPEC_MAX_BYTES / TYPES[spec->type].bytes) return refuse(text, error, "a buffer has at most 1 GiB");
  return STATUS_OK;
}

/* "1024x64", the last one first in dims; how many, 0: none. */
static int32_t read_dimensions(const char *text, const char *end, int64_t dims[5]) {
  int32_t n = 0;
  for (; text < end && n < 5; n++) {
    const char *x = memchr(text, 'x', (size_t)(end - text)), *stop = x ? x : end;
    for (int32_t k = n; k > 0; k--) dims[k] = dims[k - 1];
    if (stop == text || !read_count(text, stop, &dims[0]) || dims[0] < 1 || (x && stop + 1 == end)) return 0;
    text = stop + 1;
  }
  return text > end ? n : 0;
}

/* map:TYPE[SIZES]:BOX:SWIZZLE:FILL */
static Status read_map(const char *text, Spec *spec, Error *error) {
  static const char why[] = "a tensor map is map:TYPE[SIZES]:BOX:SWIZZLE:FILL, say map:f16[1024x64]:64x64:128:normal:1";
  const char *type = text + 4, *open = strchr(type, '['), *close = strchr(type, ']');
  const char *box = close ? close + 2 : NULL, *swizzle = box && close[1] == ':' ? strchr(box, ':') : NULL,
             *fill = swizzle ? strchr(swizzle + 1, ':') : NULL;
  int64_t boxes[5] = {0}, span;
  if (!fill || !read_type(type, &spec->type) || !open || open > close || !read_count(swizzle + 1, fill, &span))
    return refuse(text, error, why);
  PtxTensorMap *m = &spec->map;
  *m = (PtxTensorMap){.type = TYPES[spec->type].name, .swizzle_bytes = span > 128 ? 1 : (int32_t)span};
  m->rank = read_dimensions(open + 1, close, m->sizes);
  if (!m->rank || read_dimensions(box, swizzle, boxes) != m->rank) return refuse(text, error, why);
  if (spec->type == SPEC_I32) m->type = "s32";
  if (spec->type == SPEC_I64) m->type = "s64";
  spec->n = 1, spec->is_buffer = spec->is_map = true;
  for (int32_t k = 0; k < m->rank; k++) {
    m->box[k] = boxes[k] > 256 ? 257 : (int32_t)boxes[k];
    m->strides_bytes[k] = spec->n * TYPES[spec->type].bytes;
    if (__builtin_mul_overflow(spec->n, m->sizes[k], &spec->n) || spec->n > SPEC_MAX_BYTES / TYPES[spec->type].bytes)
      return refuse(text, error, "a tensor has at most 1 GiB");
  }
  unsigned char bytes[PTX_TENSOR_MAP_BYTES];
  Error wrong;
  if (ptx_tensor_map(m, bytes, &wrong)) return refuse(text, error, wrong.message);
  return read_fill(text, fill + 1, spec, error);
}

Status spec_parse(const char *text, Spec *spec, Error *error) {
  Spec s = {.type = SPEC_F32, .n = 1};
  const size_t n = read_type(text, &s.type);
  Status status = STATUS_OK;
  if (strncmp(text, "map:", 4) == 0)
    status = read_map(text, &s, error);
  else if (n == 0 && is_file_name(text) && !strchr(text, '[')) {
    s.is_buffer = true;
    s.n = 0;
    status = read_file_name(text, text, &s, error);
  } else if (n == 0)
    status = refuse(text, error, RIGHT);
  else if (text[n] == '[')
    status = read_buffer(text, text + n, &s, error);
  else if (text[n] != ':')
    status = refuse(text, error, RIGHT);
  else if (!read_value(text + n + 1, &s))
    status = refuse(text, error,
                    s.type == SPEC_U8 || s.type == SPEC_U16 || s.type == SPEC_U32 || s.type == SPEC_U64
                        ? "a whole number of that width, not negative, belongs behind the colon"
                    : TYPES[s.type].is_float ? "a number belongs behind the colon"
                                             : "a whole number of that width belongs behind the colon");
  if (!status) *spec = s;
  return status;
}

const char *spec_mismatch(const Spec *spec, const PtxParameter *parameter) {
  const int32_t width = spec->is_map ? PTX_TENSOR_MAP_BYTES : spec->is_buffer ? 8 : TYPES[spec->type].bytes;
  if (width == parameter->size_bytes) return NULL;
  switch (parameter->size_bytes) {
  case 1: return "it takes 1 byte: i8 or u8";
  case 2: return "it takes 2 bytes: i16, u16, f16 or bf16";
  case 4: return "it takes 4 bytes: i32, u32 or f32";
  case 8: return "it takes 8 bytes: a buffer, i64, u64 or f64";
  case PTX_TENSOR_MAP_BYTES: return "it takes 128 bytes: a tensor map, map:f16[1024x64]:64x64:128:normal:1";
  default: return "it is a structure, passed by value";
  }
}
