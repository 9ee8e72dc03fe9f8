/* Reads a module: its entries, functions, parameters and variables. Bodies are only skipped; ptx_decode.c reads them.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_reader.h"
#include "sim/numbers/precision.h"

enum { MAX_VARIABLE_BYTES = 64 << 20 };

static void skip_text(Reader *r) { /* behind a '"': to the next that no '\\' stands before */
  for (; r->c.at < r->c.end && *r->c.at != '"' && *r->c.at != '\n'; r->c.at++)
    if (*r->c.at == '\\' && r->c.at + 1 < r->c.end) r->c.at++;
}

static bool skip_body(Reader *r) { /* behind "{": to behind its "}" */
  int64_t depth = 1;
  while (depth > 0) {
    cursor_skip(&r->c);
    if (r->c.at >= r->c.end) return ptx_reader_fails(r, "the text ends inside a body; a '}' is missing");
    if (*r->c.at == '"') r->c.at++, skip_text(r);
    depth += *r->c.at == '{' ? 1 : *r->c.at == '}' ? -1 : 0;
    if (r->c.at < r->c.end) r->c.at++;
  }
  return true;
}

bool ptx_reader_type(Reader *r, Type *type) {
  const Word w = cursor_word(&r->c);
  *type = w.n > 1 && w.at[0] == '.' ? type_of((Word){w.at + 1, w.n - 1}) : T_NONE;
  return *type || ptx_reader_refuses(r, w, "is no type");
}

/* "[4][8]" behind a name: how many elements; 1 without; 0 for "[]". */
bool ptx_reader_extent(Reader *r, int64_t *n) {
  *n = 1;
  while (cursor_take(&r->c, '[')) {
    uint64_t size = 0;
    if (cursor_take(&r->c, ']')) {
      *n = 0;
      continue;
    }
    const Word w = cursor_word(&r->c);
    if (word_number(w, &size) != NUMBER_INTEGER || size > MAX_VARIABLE_BYTES)
      return ptx_reader_refuses(r, w, "is no extent of an array");
    *n *= (int64_t)size;
    if (*n > MAX_VARIABLE_BYTES) return ptx_reader_refuses(r, w, "makes the array larger than 64 MiB");
    if (!ptx_reader_expect(r, ']')) return false;
  }
  return true;
}

/* ".align 8 .b32 name[4]" behind its state space. */
bool ptx_reader_variable(Reader *r, Variable *v) {
  *v = (Variable){.align = 0};
  for (;;) {
    const Word w = cursor_word(&r->c);
    if (word_is(w, ".align")) {
      uint64_t n = 0;
      const Word a = cursor_word(&r->c);
      if (word_number(a, &n) != NUMBER_INTEGER || n == 0 || n > 1024 || (n & (n - 1)))
        return ptx_reader_refuses(r, a, "is no alignment: a power of two up to 1024");
      v->align = (int64_t)n;
    } else if (word_is(w, ".ptr")) {
      v->is_pointer = true;
    } else if (word_index(w, ".global .shared .const .local .param") >= 0) {
      continue; /* of a pointer */
    } else if (word_is(w, ".attribute")) {
      cursor_past(&r->c, ')');
    } else if (word_index(w, ".v2 .v4") >= 0) {
      v->vector = w.at[2] - '0';
    } else if (w.n > 1 && w.at[0] == '.') {
      v->type = type_of((Word){w.at + 1, w.n - 1});
      if (!v->type || !ptx_type_bytes[v->type]) return ptx_reader_refuses(r, w, "is no type of a variable");
    } else {
      v->name = w;
      break;
    }
  }
  if (!v->type) return ptx_reader_refuses(r, v->name, "has no type before it");
  if (!ptx_reader_name(r, v->name) || !ptx_reader_extent(r, &v->n)) return false;
  const int64_t width = ptx_type_bytes[v->type] * (v->vector ? v->vector : 1);
  v->bytes = v->n * width;
  if (v->align < width) v->align = v->align ? v->align : width;
  if (v->bytes > MAX_VARIABLE_BYTES) return ptx_reader_refuses(r, v->name, "is larger than 64 MiB");
  return true;
}

bool ptx_reader_name(Reader *r, Word w) {
  if (w.n == 0) return ptx_reader_fails(r, "a name is missing");
  if (w.n >= PTX_NAME_BYTES) return ptx_reader_fails(r, "a name is longer than 255 bytes");
  const char c = w.at[0];
  if ((c >= '0' && c <= '9') || c == '-' || c == '.') return ptx_reader_refuses(r, w, "is no name");
  return true;
}

/* ---- variables ---- */

static int64_t aligned(int64_t n, int64_t align) { return align ? (n + align - 1) / align * align : n; }

/* The address of a variable in an initialiser; of a function 0: there are no calls through pointers, and clang puts the
 * host's constant tables of them here too. */
static bool initial_address(Reader *r, Word w, uint64_t *value) {
  PtxModule *m = r->module;
  bool generic = false;
  if (word_is(w, "generic")) {
    if (!ptx_reader_expect(r, '(')) return false;
    w = cursor_word(&r->c);
    generic = true;
  }
  const Symbol *s = symbols_find(&m->symbols, 0, w);
  if (!s || (s->kind != SYM_MODULE && s->kind != SYM_FUNCTION))
    return ptx_reader_refuses(r, w, "is no variable whose address is known here");
  *value = s->kind == SYM_FUNCTION ? 0 : MODULE_BASE + (uint64_t)s->value;
  if (generic && !ptx_reader_expect(r, ')')) return false;
  if (cursor_take(&r->c, '+')) {
    uint64_t more = 0;
    const Word n = cursor_word(&r->c);
    if (word_number(n, &more) != NUMBER_INTEGER) return ptx_reader_refuses(r, n, "is no offset");
    *value += more;
  }
  return true;
}

static bool initialise(Reader *r, const Variable *v, unsigned char *bytes) {
  const int32_t width = ptx_type_bytes[v->type];
  int64_t at = 0;
  int32_t depth = 0;
  do {
    while (cursor_take(&r->c, '{')) depth++;
    if (cursor_peek(&r->c) != '}') {
      const Word w = cursor_word(&r->c);
      uint64_t value = 0;
      const NumberKind kind = word_number(w, &value);
      if (kind == NUMBER_F64 && width == 4) {
        value = precision_to_bits(PRECISION_FP32, precision_from_bits(PRECISION_FP64, value));
      }
      if (!kind && !initial_address(r, w, &value)) return false;
      if (at + width > v->bytes) return ptx_reader_refuses(r, w, "is one value too many");
      memcpy(bytes + at, &value, (size_t)width); /* little endian, as the GPU is */
      at += width;
    }
    while (depth > 0 && cursor_take(&r->c, '}')) depth--;
  } while (cursor_take(&r->c, ','));
  return depth == 0 || ptx_reader_fails(r, "a '}' is missing");
}

static bool module_variable(Reader *r, bool constant) {
  PtxModule *m = r->module;
  do {
    Variable v;
    if (!ptx_reader_variable(r, &v)) return false;
    const bool open = v.n == 0;
    const bool has_values = cursor_take(&r->c, '=');
    if (open && has_values) return ptx_reader_refuses(r, v.name, "has no extent");
    const int64_t at = aligned(m->n_memory, v.align);
    if (at + v.bytes > MAX_VARIABLE_BYTES)
      return ptx_reader_refuses(r, v.name, "brings the module's variables above 64 MiB");
    if (at + v.bytes > m->memory_capacity) {
      const int64_t capacity = 2 * (at + v.bytes) + 64;
      unsigned char *memory = realloc(m->memory, (size_t)capacity);
      if (!memory) return ptx_reader_no_memory(r);
      memset(memory + m->memory_capacity, 0, (size_t)(capacity - m->memory_capacity));
      m->memory = memory, m->memory_capacity = capacity;
    }
    Symbol *s = symbols_add(&m->symbols, 0, v.name, SYM_MODULE);
    if (!s) return ptx_reader_no_memory(r);
    s->value = at, s->bytes = v.bytes, s->constant = constant;
    m->n_memory = at + v.bytes;
    if (has_values && !initialise(r, &v, m->memory + at)) return false;
  } while (cursor_take(&r->c, ','));
  return ptx_reader_expect(r, ';');
}

static bool shared_variable(Reader *r, bool is_extern) {
  PtxModule *m = r->module;
  Variable v;
  if (!ptx_reader_variable(r, &v)) return false;
  Symbol *s = symbols_add(&m->symbols, 0, v.name, SYM_SHARED);
  if (!s) return ptx_reader_no_memory(r);
  s->dynamic = is_extern && v.n == 0;
  s->value = -1, s->bytes = v.bytes; /* its place: where a kernel first names it */
  s->first = (int32_t)v.align;
  return ptx_reader_expect(r, ';');
}

/* ---- functions ---- */

static bool entry_parameters(Reader *r, Function *f) {
  PtxModule *m = r->module;
  int64_t offset = 0;
  f->first_parameter = m->n_parameters;
  if (cursor_take(&r->c, ')')) return true;
  do {
    const Word w = cursor_word(&r->c);
    if (!word_is(w, ".param")) return ptx_reader_refuses(r, w, "where '.param' is meant");
    Variable v;
    if (!ptx_reader_variable(r, &v)) return false;
    if (v.type == T_PRED || v.bytes == 0) return ptx_reader_refuses(r, v.name, "has no size");
    offset = aligned(offset, v.align);
    if (offset + v.bytes > PTX_MAX_PARAMETER_BYTES)
      return ptx_reader_refuses(r, v.name, "brings the parameters above 4096 bytes");
    if (!ptx_reader_grow(r, &m->parameters, m->n_parameters, &m->parameters_capacity, sizeof *m->parameters,
                         PTX_MAX_INSTRUCTIONS, "parameters"))
      return false;
    m->parameters[m->n_parameters++] = (Parameter){v.name,
                                                   {.numbers = type_class(v.type),
                                                    .width_bytes = ptx_type_bytes[v.type],
                                                    .size_bytes = (int32_t)v.bytes,
                                                    .offset_bytes = (int32_t)offset,
                                                    .is_pointer = v.is_pointer}};
    offset += v.bytes;
    f->entry.n_parameters++;
  } while (cursor_take(&r->c, ','));
  return ptx_reader_expect(r, ')');
}

/* Up to three numbers behind a directive. */
static bool directive_numbers(Reader *r, int32_t n[3]) {
  n[0] = n[1] = n[2] = 1;
  for (int i = 0; i < 3; i++) {
    uint64_t value = 0;
    const Word w = cursor_word(&r->c);
    if (word_number(w, &value) != NUMBER_INTEGER || value == 0 || value > 65535)
      return ptx_reader_refuses(r, w, "is no number of threads or blocks");
    n[i] = (int32_t)value;
    if (!cursor_take(&r->c, ',')) break;
  }
  return true;
}

static bool function_directives(Reader *r, Function *f) {
  while (cursor_peek(&r->c) == '.') {
    const Word w = cursor_word(&r->c);
    int32_t n[3];
    if (word_index(w, ".noreturn .explicitcluster .blocksareclusters") >= 0) continue;
    if (word_is(w, ".pragma")) {
      cursor_past(&r->c, ';');
      continue;
    }
    if (word_index(w, ".maxntid .reqntid .minnctapersm .maxnreg .maxnctapersm .reqnctapercluster .maxclusterrank") < 0)
      return ptx_reader_refuses(r, w, "is no directive of an entry that is known");
    if (!directive_numbers(r, n)) return false;
    if (word_is(w, ".reqntid")) memcpy(f->entry.required_block, n, sizeof n);
    if (word_is(w, ".maxntid")) f->entry.max_block_threads = n[0] * n[1] > 1024 ? 1024 : n[0] * n[1] * n[2];
    if (word_is(w, ".reqnctapercluster")) memcpy(f->entry.cluster, n, sizeof n);
  }
  return true;
}

static bool skip_parentheses(Reader *r) {
  while (cursor_peek(&r->c) && *r->c.at != ')') r->c.at++;
  return ptx_reader_expect(r, ')');
}

static bool function(Reader *r, bool is_entry) {
  PtxModule *m = r->module;
  Function f = {.is_entry = is_entry, .entry.line = r->c.line};
  if (!is_entry && cursor_take(&r->c, '(')) {
    f.returns = r->c;
    if (!skip_parentheses(r)) return false;
  }
  f.name = cursor_word(&r->c);
  if (!ptx_reader_name(r, f.name)) return false;
  if (cursor_take(&r->c, '(')) {
    f.parameters = r->c;
    if (!(is_entry ? entry_parameters(r, &f) : skip_parentheses(r))) return false;
  }
  if (!function_directives(r, &f)) return false;
  if (!cursor_take(&r->c, ';')) {
    f.body = r->c;
    f.has_body = true;
    if (!ptx_reader_expect(r, '{') || !skip_body(r)) return false;
  }
  const Symbol *before = symbols_find(&m->symbols, 0, f.name);
  if (before && before->kind == SYM_FUNCTION && m->functions[before->value].has_body) {
    if (f.has_body) return ptx_reader_refuses(r, f.name, "is defined twice");
    return true;
  }
  if (!ptx_reader_grow(r, &m->functions, m->n_functions, &m->functions_capacity, sizeof *m->functions,
                       PTX_MAX_INSTRUCTIONS, "functions") ||
      !ptx_reader_grow(r, &m->entries, m->n_entries, &m->entries_capacity, sizeof *m->entries, PTX_MAX_INSTRUCTIONS,
                       "entries"))
    return false;
  Symbol *s = symbols_add(&m->symbols, 0, f.name, SYM_FUNCTION);
  if (!s) return ptx_reader_no_memory(r);
  s->value = m->n_functions;
  if (is_entry && f.has_body) m->entries[m->n_entries++] = m->n_functions;
  m->functions[m->n_functions++] = f;
  return true;
}

/* ---- the module ---- */

static bool source_file(Reader *r) { /* .file 1 "path" [, time, size] */
  PtxModule *m = r->module;
  uint64_t number = 0;
  const Word w = cursor_word(&r->c);
  if (word_number(w, &number) != NUMBER_INTEGER || number > 1000000)
    return ptx_reader_refuses(r, w, "is no number of a file");
  if (!ptx_reader_expect(r, '"')) return false;
  const char *at = r->c.at;
  skip_text(r);
  const size_t n = (size_t)(r->c.at - at);
  if (!ptx_reader_expect(r, '"')) return false;
  if (!ptx_reader_grow(r, &m->files, m->n_files, &m->files_capacity, sizeof *m->files, PTX_MAX_INSTRUCTIONS, "files"))
    return false;
  SourceFile *file = &m->files[m->n_files++];
  *file = (SourceFile){.number = (int32_t)number};
  const size_t cut = n < sizeof file->name ? 0 : n - (sizeof file->name - 1); /* the end of a long path tells most */
  memcpy(file->name, at + cut, n - cut);
  char *to = file->name; /* clang writes \" and, of what is no ASCII, octal: \303 */
  for (const char *p = to; *p; p++) {
    const bool octal = *p == '\\' && p[1] >= '0' && p[1] < '4' && p[2] && p[3];
    if (*p == '\\' && p[1]) p++;
    *to++ = (char)(octal ? (p[0] - '0') * 64 + (p[1] - '0') * 8 + p[2] - '0' : *p);
    if (octal) p += 2;
  }
  *to = '\0';
  while (cursor_take(&r->c, ',')) cursor_word(&r->c);
  return true;
}

static bool target(Reader *r) {
  const Word w = cursor_word(&r->c);
  uint64_t n = 0;
  int32_t digits = w.n - 3;
  while (digits > 0 && (w.at[3 + digits - 1] < '0' || w.at[3 + digits - 1] > '9')) digits--;
  if (w.n < 5 || memcmp(w.at, "sm_", 3) || word_number((Word){w.at + 3, digits}, &n) != NUMBER_INTEGER || n > 999)
    return ptx_reader_refuses(r, w, "is no target; sm_70 to sm_90a are modelled");
  if (n < 30 || n > 90) return ptx_reader_refuses(r, w, "is not modelled; compile for sm_70 to sm_90a");
  while (cursor_take(&r->c, ',')) cursor_word(&r->c);
  return true;
}

static bool top_level(Reader *r) {
  bool is_extern = false;
  for (;;) {
    const Word w = cursor_word(&r->c);
    if (word_index(w, ".visible .weak .common") >= 0) continue;
    if (word_is(w, ".extern")) {
      is_extern = true;
    } else if (word_index(w, ".entry .func") >= 0) {
      return function(r, word_is(w, ".entry"));
    } else if (word_index(w, ".global .const") >= 0) {
      return module_variable(r, word_is(w, ".const"));
    } else if (word_is(w, ".shared")) {
      return shared_variable(r, is_extern);
    } else if (word_is(w, ".version")) {
      cursor_word(&r->c);
      return true;
    } else if (word_is(w, ".target")) {
      return target(r);
    } else if (word_is(w, ".address_size")) {
      const Word n = cursor_word(&r->c);
      return word_is(n, "64") || ptx_reader_refuses(r, n, "bits of address are not modelled; 64 are");
    } else if (word_is(w, ".file")) {
      return source_file(r);
    } else if (word_is(w, ".section")) { /* of debuggers */
      while (cursor_peek(&r->c) && *r->c.at != '{') r->c.at++;
      return ptx_reader_expect(r, '{') && skip_body(r);
    } else if (word_index(w, ".pragma .alias") >= 0) {
      cursor_past(&r->c, ';');
      return true;
    } else {
      return ptx_reader_refuses(r, w, w.n ? "is not known here" : NULL);
    }
  }
}

/* Names as C strings, for those who ask. */
static bool copy_names(PtxModule *m) {
  size_t n = 0, at = 0;
  for (int i = 0; i < m->n_entries; i++) n += (size_t)m->functions[m->entries[i]].name.n + 1;
  for (int i = 0; i < m->n_parameters; i++) n += (size_t)m->parameters[i].name.n + 1;
  m->names = calloc(n + 1, 1);
  if (!m->names) return false;
  for (int i = 0; i < m->n_entries + m->n_parameters; i++) {
    Word *w = i < m->n_entries ? &m->functions[m->entries[i]].name : &m->parameters[i - m->n_entries].name;
    memcpy(m->names + at, w->at, (size_t)w->n);
    w->at = m->names + at;
    at += (size_t)w->n + 1;
  }
  return true;
}

Status ptx_module_load(const char *text, size_t n_bytes, const char *name, PtxModule **module, Error *error) {
  *module = NULL;
  if (n_bytes > (size_t)64 << 20) return error_set(error, STATUS_TOO_LARGE, "%s: longer than 64 MiB", name);
  PtxModule *m = calloc(1, sizeof *m);
  if (m) m->text = malloc(n_bytes + 4);
  if (!m || !m->text) {
    free(m);
    return error_set(error, STATUS_NO_MEMORY, "%s: no memory for the text", name);
  }
  size_t n = strlen(name);
  memcpy(m->name, name, n < sizeof m->name ? n : sizeof m->name - 1);
  if (n_bytes) memcpy(m->text, text, n_bytes);
  memset(m->text + n_bytes, 0, 4);
  m->n_text = n_bytes;
  Reader r = {.module = m, .error = error, .c = {m->text, m->text + n_bytes, 1}};
  bool ok = !memchr(m->text, 0, n_bytes) || ptx_reader_fails(&r, "a zero byte: PTX is text");
  while (ok && cursor_peek(&r.c)) ok = top_level(&r);
  if (ok && !m->n_entries) ok = ptx_reader_fails(&r, "no '.entry': there is no kernel in it");
  if (ok && !copy_names(m)) ok = ptx_reader_no_memory(&r);
  if (!ok) {
    const Status status = r.status;
    ptx_module_free(m);
    return status;
  }
  *module = m;
  return STATUS_OK;
}

void ptx_module_free(PtxModule *m) {
  if (!m) return;
  symbols_free(&m->symbols);
  free(m->text);
  free(m->functions);
  free(m->entries);
  free(m->parameters);
  free(m->files);
  free(m->names);
  free(m->memory);
  free(m);
}

int ptx_n_entries(const PtxModule *m) { return m->n_entries; }
const char *ptx_entry_name(const PtxModule *m, int entry) { return m->functions[m->entries[entry]].name.at; }
PtxEntry ptx_entry(const PtxModule *m, int entry) { return m->functions[m->entries[entry]].entry; }

int ptx_find_entry(const PtxModule *m, const char *name) {
  int found = -1;
  for (int i = 0; i < m->n_entries; i++) {
    if (!strcmp(ptx_entry_name(m, i), name)) return i;
    if (strstr(ptx_entry_name(m, i), name)) found = found == -1 ? i : -2;
  }
  return found < 0 ? -1 : found;
}

PtxParameter ptx_parameter(const PtxModule *m, int entry, int parameter) {
  return m->parameters[m->functions[m->entries[entry]].first_parameter + parameter].p;
}

const char *ptx_parameter_name(const PtxModule *m, int entry, int parameter) {
  return m->parameters[m->functions[m->entries[entry]].first_parameter + parameter].name.at;
}

const char *ptx_source_file(const PtxModule *m, int file) {
  for (int i = 0; i < m->n_files; i++)
    if (m->files[i].number == file) return m->files[i].name;
  return NULL;
}
