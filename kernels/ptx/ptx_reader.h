/* Reading a module's text: the cursor, the first mistake and its place. Inside kernels/ptx only. */
#ifndef TILEWALK_KERNELS_PTX_PTX_READER_H
#define TILEWALK_KERNELS_PTX_PTX_READER_H

#include "kernels/ptx/ptx_machine.h"

typedef struct {
  PtxModule *module;
  Error *error;
  Status status;
  Cursor c;
} Reader;

typedef struct {
  Word name;
  Type type;
  int64_t n, bytes, align; /* n: elements, 0 for [] */
  int32_t vector;          /* .v2, .v4; else 0 */
  bool is_pointer;
} Variable;

/* All give false, so that a caller can `return ptx_reader_fails(...)`; the first mistake stays. */
bool ptx_reader_fails(Reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool ptx_reader_refuses(Reader *r, Word word, const char *why); /* "file:12: 'word' why" */
bool ptx_reader_no_memory(Reader *r);

/* Room for one more than n elements of *array; `what` they are, of which there are at most `limit`. */
bool ptx_reader_grow(Reader *r, void *array, int32_t n, int32_t *capacity, size_t size, int32_t limit,
                     const char *what);
bool ptx_reader_expect(Reader *r, char symbol);
bool ptx_reader_type(Reader *r, Type *type);
bool ptx_reader_extent(Reader *r, int64_t *n);
bool ptx_reader_variable(Reader *r, Variable *v);
bool ptx_reader_name(Reader *r, Word w);

Type type_of(Word name); /* without its point; T_NONE: none */
PtxClass type_class(Type type);

#endif
