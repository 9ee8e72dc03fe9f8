/* Decoding the body of an entry: scopes, operands, instructions. Every operand's class and width is checked here, so
 * that what runs needs no check. Inside kernels/ptx only. */
#ifndef TILEWALK_KERNELS_PTX_PTX_DECODE_H
#define TILEWALK_KERNELS_PTX_PTX_DECODE_H

#include "kernels/ptx/ptx_lower.h"
#include "kernels/ptx/ptx_ops.h"
#include "kernels/ptx/ptx_reader.h"

enum { MAX_PARTS = 20, MAX_LIST = 160, MAX_CALL_DEPTH = 32, SLOT_TABLE_START = 256 };

typedef struct {
  int32_t pc, scope;
  Word name;
  int32_t line;
} Fix; /* a branch whose label is looked up when its function has been read */

typedef struct {
  Reader r;
  PtxKernel *k;
  Symbols names, ops;                             /* ops: by the names of their rows */
  int32_t *parents;                               /* of scopes */
  int32_t n_scopes, scopes_capacity, scope, root; /* root: of the function that is read */
  int32_t *places;                                /* registers of ranges: offset in the file, or -1 */
  int32_t n_places, places_capacity;
  int32_t *slot_table;
  int32_t slot_mask;
  Fix *fixes;
  int32_t n_fixes, fixes_capacity;
  int32_t *returns; /* branches to the end of the function that is read */
  int32_t n_returns, returns_capacity;
  int32_t depth, loc;
  /* The instruction that is read. */
  Word opcode;
  Word parts[MAX_PARTS];
  int32_t n_parts, guard, first_of;
  bool guard_not;
  Operands operands; /* that were read until now */
} Decoder;

#define ATOM_NAMES "add min max and or xor exch cas inc dec" /* ATOM_ADD, ... */

/* What an operand of type 'h' 16, 'w' 32, 'l' 64 bits or 'p' is. */
typedef char Kind;
Kind kind_of(Type type);
int32_t kind_bits(Kind kind);

bool decode_refuse(Decoder *d, const char *why); /* the opcode */
static inline bool is(const Decoder *d, const char *mnemonic) { return word_is(d->parts[0], mnemonic); }
bool has_part(const Decoder *d, const char *name);
int32_t which_part(const Decoder *d, const char *names); /* of these, apart by blanks, a part is; -1: none */
Type part_type(const Decoder *d);                        /* of the last part */

Ins decode_ins(const Decoder *d, int32_t op);
bool decode_push(Decoder *d, Ins i);
bool decode_unary(Decoder *d, int32_t op, int32_t to, int32_t from, int64_t imm); /* pushed */
bool decode_list(Decoder *d, int32_t n, const int32_t *values, int32_t *first);
bool decode_temporary(Decoder *d, Kind kind, int32_t *place);
bool decode_constant(Decoder *d, SlotKind slot, Kind kind, uint64_t value, uint8_t bytes, bool is_signed,
                     int32_t *place);

/* Operands. `wider`: a register may have more bits than the kind (ld, st, cvt): *kind is then what it has. */
bool decode_source(Decoder *d, Kind kind, int32_t *place);
bool decode_source_wider(Decoder *d, Kind *kind, int32_t *place);
bool decode_destination(Decoder *d, Kind kind, int32_t *place);
bool decode_destination_wider(Decoder *d, Kind *kind, int32_t *place);
bool decode_predicate(Decoder *d, int32_t *place, bool *negated); /* a source; negated NULL: '!' is refused */
bool decode_comma(Decoder *d);
int32_t decode_commas_ahead(Decoder *d, char end); /* before this, or ';' */
/* All of `form`, and pushes the instruction. "dw/,aw,!b": members of Ins (d, a, b, c), each with its kind; d is
 * written. | is "|p", a predicate that is written too (ext), / one that may be left out; !a a predicate that may be
 * negated (is_signed); # a number (imm); ~b or ~t (target) the mask of lanes of .sync, else all. */
bool decode_operands(Decoder *d, Ins i, const char *form);
bool decode_number(Decoder *d, int64_t *value); /* an immediate */
bool decode_braces(Decoder *d, Kind kind, bool is_source, int32_t n_min, int32_t n_max, int32_t *places, int32_t *n);

typedef struct {
  int32_t place; /* of the base */
  bool wide, is_constant;
  int64_t offset;
  const Symbol *symbol; /* NULL: none. Valid until the next symbol is added */
} Address;
bool decode_address(Decoder *d, Address *a);        /* [base + offset] */
bool decode_address_inside(Decoder *d, Address *a); /* without the brackets */

Symbol *decode_find(Decoder *d, Word name);
/* An array of shared memory has its place in a kernel that names it. NULL: refused, or no memory. */
Symbol *decode_place_shared(Decoder *d, Word name, int64_t bytes, int64_t align, bool dynamic);
bool decode_symbol_place(Decoder *d, const Symbol *s, int64_t offset, Kind kind, int32_t *place);

/* Mnemonics of a file, and what reads their parts and operands; NULL ends them. */
typedef struct {
  const char *mnemonic;
  bool (*decode)(Decoder *d);
} DecodeRow;
extern const DecodeRow DECODE_FLOW[], DECODE_MOVES[], DECODE_MEMORY[], DECODE_HOPPER[];

/* A function of the C library that device code may call, and how many numbers it takes; -1: none. */
int32_t library_find(Word name, int32_t *n_taken);
bool decode_async(Decoder *d); /* cp.async of Hopper */
bool decode_arithmetic(Decoder *d);
bool decode_convert(Decoder *d); /* cvt (ptx_convert.c) */
/* The row of arithmetic that the opcode names without its silent parts; -1: none. What it writes. */
int32_t decode_op_named(const Decoder *d, const char *silent);
Kind op_kind(int32_t op);

bool decode_body(Decoder *d, const Function *f); /* at "{" */
bool decode_scope(Decoder *d, int32_t parent);   /* a new one */

Status kernel_lower(PtxKernel *k, Error *error); /* ptx_lower.c: spin loops, merged loads, dead results of atomics */

#endif
