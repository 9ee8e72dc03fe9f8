/* Huffman codes are read bit by bit, shortest first: slow (some 30 MB/s) and short. */
#include "sim/base/gunzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 32, HEAD_BYTES = 10, TAIL_BYTES = 8 };

typedef struct {
  const unsigned char *in;
  size_t at, n_in;
  uint32_t bits;
  int n_bits;
  unsigned char *out;
  size_t n_out, capacity, most;
  bool damaged, no_memory;
} Reader;

typedef struct {
  uint16_t count[MOST_BITS + 1], symbols[LITERALS];
} Code; /* how many codes there are of each length; symbols in the order of their codes */

static uint32_t take(Reader *r, int n) {
  while (r->n_bits < n) {
    if (r->at == r->n_in) r->damaged = true;
    r->bits |= (uint32_t)(r->at < r->n_in ? r->in[r->at++] : 0) << r->n_bits;
    r->n_bits += 8;
  }
  const uint32_t v = r->bits & ((1u << n) - 1);
  r->bits >>= n, r->n_bits -= n;
  return v;
}

static void code_make(Code *c, const uint8_t *lengths, int n) {
  uint16_t first[MOST_BITS + 2] = {0};
  memset(c, 0, sizeof *c);
  for (int s = 0; s < n; s++) c->count[lengths[s]]++;
  c->count[0] = 0;
  for (int l = 1; l <= MOST_BITS; l++) first[l + 1] = (uint16_t)(first[l] + c->count[l]);
  for (int s = 0; s < n; s++)
    if (lengths[s]) c->symbols[first[lengths[s]]++] = (uint16_t)s;
}

static int symbol(Reader *r, const Code *c) {
  int code = 0, first = 0, index = 0;
  for (int l = 1; l <= MOST_BITS && !r->damaged; l++) {
    code |= (int)take(r, 1);
    if (code - first < c->count[l]) return c->symbols[index + code - first];
    index += c->count[l];
    first = (first + c->count[l]) << 1;
    code <<= 1;
  }
  r->damaged = true;
  return 0;
}

static bool put(Reader *r, unsigned char byte) {
  if (r->n_out == r->capacity) {
    const size_t capacity = r->capacity ? 2 * r->capacity : 65536;
    unsigned char *more = r->n_out >= r->most ? NULL : realloc(r->out, capacity + 1);
    if (!more) {
      r->damaged = true;
      r->no_memory = r->n_out < r->most;
      return false;
    }
    r->out = more, r->capacity = capacity;
  }
  if (r->n_out == r->most) r->damaged = true;
  r->out[r->n_out++] = byte;
  return !r->damaged;
}

static void blocks_of_codes(Reader *r, const Code *literals, const Code *distances) {
  static const uint16_t lengths[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                     31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                        2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  while (!r->damaged) {
    const int s = symbol(r, literals);
    if (s < 256) {
      if (!put(r, (unsigned char)s)) return;
      continue;
    }
    if (s == 256) return;
    if (s - 257 >= (int)(sizeof lengths / sizeof *lengths)) break;
    size_t n = lengths[s - 257] + take(r, length_bits[s - 257]);
    const int d = symbol(r, distances);
    if (d >= 30) break;
    const int extra = d < 2 ? 0 : d / 2 - 1;
    const size_t back = (d < 2 ? (size_t)d + 1 : ((size_t)(2 + d % 2) << extra) + 1) + take(r, extra);
    if (back > r->n_out) break;
    for (; n > 0; n--)
      if (!put(r, r->out[r->n_out - back])) return;
  }
  r->damaged = true;
}

static void block_fixed(Reader *r) {
  uint8_t lengths[LITERALS];
  Code literals, distances;
  for (int s = 0; s < LITERALS; s++) lengths[s] = s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8;
  code_make(&literals, lengths, LITERALS);
  memset(lengths, 5, 30);
  code_make(&distances, lengths, 30);
  blocks_of_codes(r, &literals, &distances);
}

static void block_dynamic(Reader *r) {
  static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  const int n_literals = (int)take(r, 5) + 257, n_distances = (int)take(r, 5) + 1, n_codes = (int)take(r, 4) + 4;
  uint8_t lengths[LITERALS + DISTANCES + 140] = {0};
  Code code, distances;
  for (int k = 0; k < n_codes; k++) lengths[order[k]] = (uint8_t)take(r, 3);
  code_make(&code, lengths, 19);
  memset(lengths, 0, 19);
  for (int k = 0; k < n_literals + n_distances && !r->damaged;) {
    const int s = symbol(r, &code);
    if (s < 16) {
      lengths[k++] = (uint8_t)s;
      continue;
    }
    const uint8_t again = s == 16 && k > 0 ? lengths[k - 1] : 0;
    int n = s == 16 ? 3 + (int)take(r, 2) : s == 17 ? 3 + (int)take(r, 3) : 11 + (int)take(r, 7);
    for (; n > 0 && k < LITERALS + DISTANCES; n--) lengths[k++] = again;
  }
  if (n_literals > 286) r->damaged = true;
  code_make(&code, lengths, n_literals < LITERALS ? n_literals : LITERALS);
  code_make(&distances, lengths + n_literals, n_distances);
  blocks_of_codes(r, &code, &distances);
}

static void block_stored(Reader *r) {
  r->bits = 0, r->n_bits = 0;
  size_t n = take(r, 16);
  if ((n ^ take(r, 16)) != 0xffff) r->damaged = true;
  for (; n > 0 && !r->damaged; n--) put(r, (unsigned char)take(r, 8));
}

static uint32_t crc(const unsigned char *p, size_t n) {
  uint32_t table[256], c = ~0u;
  for (uint32_t k = 0; k < 256; k++) {
    table[k] = k;
    for (int b = 0; b < 8; b++) table[k] = table[k] & 1 ? table[k] >> 1 ^ 0xedb88320u : table[k] >> 1;
  }
  for (size_t k = 0; k < n; k++) c = table[(c ^ p[k]) & 255] ^ c >> 8;
  return ~c;
}

static uint32_t word(const unsigned char *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

Status gunzip(const unsigned char *bytes, size_t n_bytes, size_t max_bytes, const char *name, char **text,
              size_t *n_text, Error *error) {
  Reader r = {.in = bytes, .at = HEAD_BYTES, .n_in = n_bytes, .most = max_bytes};
  *text = NULL, *n_text = 0;
  if (n_bytes < HEAD_BYTES + TAIL_BYTES || bytes[0] != 0x1f || bytes[1] != 0x8b || bytes[2] != 8 || bytes[3])
    return error_set(error, STATUS_BAD_FILE, "%s: not packed by gzip without a name", name);
  bool last = false;
  put(&r, 0); /* so that there is memory */
  r.n_out = 0;
  while (!last && !r.damaged) {
    last = take(&r, 1);
    switch (take(&r, 2)) {
    case 0: block_stored(&r); break;
    case 1: block_fixed(&r); break;
    case 2: block_dynamic(&r); break;
    default: r.damaged = true;
    }
  }
  const unsigned char *tail = bytes + r.at;
  if (!r.damaged && (n_bytes - r.at < TAIL_BYTES || word(tail) != crc(r.out, r.n_out) || word(tail + 4) != r.n_out))
    r.damaged = true;
  if (r.damaged) {
    free(r.out);
    if (r.no_memory) return error_set(error, STATUS_NO_MEMORY, "%s: no memory to unpack it", name);
    return error_set(error, STATUS_BAD_FILE, "%s: damaged, or more than %zu bytes", name, max_bytes);
  }
  r.out[r.n_out] = 0;
  *text = (char *)r.out, *n_text = r.n_out;
  return STATUS_OK;
}
