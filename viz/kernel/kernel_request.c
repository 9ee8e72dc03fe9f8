#include "viz/kernel/kernel_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/ascii.h"
#include "sim/base/size.h"
#include "viz/request/description.h"

/* --- setters --- */

static Status copy(const char *option, const char *value, char *to, size_t size, Error *error) {
  if (!*value || strlen(value) >= size)
    return error_refuse(error, "what --%s names is %s", option, *value ? "too long" : "empty");
  strcpy(to, value);
  return STATUS_OK;
}

/* "2,4" or "2x4": one to three counts. */
static Status dimensions(const char *option, const char *value, int32_t to[3], Error *error) {
  int32_t read[3] = {1, 1, 1};
  const char *p = value;
  for (int k = 0; k < 3; k++) {
    int64_t count = 0;
    while (ascii_is_digit(*p) && count <= INT32_MAX) count = count * 10 + (*p++ - '0');
    if (count < 1 || count > INT32_MAX) break;
    read[k] = (int32_t)count;
    if (!*p) {
      memcpy(to, read, sizeof read);
      return STATUS_OK;
    }
    if ((*p != ',' && *p != 'x') || k == 2) break;
    p++;
  }
  return error_refuse(error, "--%s '%s' is not X, X,Y or X,Y,Z, each at least 1; say --%s 32,8", option,
                      quote_text(value).text, option);
}

static Status set_grid(void *t, const char *v, Error *e) {
  return dimensions("grid", v, ((KernelRequest *)t)->grid, e);
}
static Status set_block(void *t, const char *v, Error *e) {
  return dimensions("block", v, ((KernelRequest *)t)->block, e);
}
static Status add_argument(void *t, const char *v, Error *e) {
  KernelRequest *r = t;
  if (r->n_arguments == KERNEL_ARGUMENTS_MAX) return error_refuse(e, "more than %d arguments", KERNEL_ARGUMENTS_MAX);
  return copy("arg", v, r->arguments[r->n_arguments++], KERNEL_ARGUMENT_BYTES, e);
}
static Status set_step(void *t, const char *v, Error *e) {
  long long n;
  const Status status = options_count("step", v, 0, INT64_MAX / 2, &n, e);
  if (!status) ((KernelRequest *)t)->step = n + 1;
  return status;
}
static Status set_swizzle(void *t, const char *v, Error *e) {
  long long n;
  const Status status = options_count("swizzle", v, 0, 1024, &n, e);
  if (status) return status;
  if (n && (n < 128 || n & (n - 1)))
    return error_refuse(e, "--swizzle is %lld; it must be 128, 256, 512 or 1024, or 0 for none", n);
  ((KernelRequest *)t)->swizzle = n;
  return STATUS_OK;
}
static Status fraction(const char *option, const char *v, double *to, Error *e) {
  Decimal decimal;
  const size_t n = strlen(v);
  if (n && decimal_read(v, n, &decimal) == n && decimal_value(decimal) > 0) {
    *to = decimal_value(decimal);
    return STATUS_OK;
  }
  return error_refuse(e, "--%s '%s' is not a number above 0", option, quote(v, n).text);
}
static Status set_scale(void *t, const char *v, Error *e) {
  return fraction("scale", v, &((KernelRequest *)t)->scale, e);
}
static Status set_tolerance(void *t, const char *v, Error *e) {
  return fraction("tolerance", v, &((KernelRequest *)t)->tolerance, e);
}
static Status add_word(KernelRequest *r, const char *option, const char *flag, const char *v, Error *e) {
  char word[300];
  if (r->n_words == KERNEL_WORDS_MAX)
    return error_refuse(e, "more than %d of --include and --define", KERNEL_WORDS_MAX);
  if (copy(option, v, word, sizeof word - 2, e)) return STATUS_BAD_REQUEST;
  snprintf(r->words[r->n_words], sizeof r->words[0], "%s%.297s", flag, word);
  r->n_words++;
  return STATUS_OK;
}
static Status add_include(void *t, const char *v, Error *e) { return add_word(t, "include", "-I", v, e); }
static Status add_define(void *t, const char *v, Error *e) { return add_word(t, "define", "-D", v, e); }

const Option KERNEL_LAUNCH_OPTIONS[] = {
    OPTION_ROW("entry", "NAME",
               "The kernel, by its name; a template with its arguments: 'sgemm<64, 64>'. Default: the only one.",
               OPTION_TEXT(KernelRequest, entry, "what --entry names")),
    OPTION_ROW("grid", "X,Y,Z", "Blocks of the grid.", .set = set_grid),
    OPTION_ROW("block", "X,Y,Z", "Threads of a block.", .set = set_block),
    OPTION_ROW("shared", "SIZE", "Dynamic shared memory of a block.", OPTION_SIZE(KernelRequest, shared_bytes),
               .given = offsetof(KernelRequest, has_shared)),
    OPTION_ROW(
        "arg", "SPEC",
        "An argument, in order or as NAME=SPEC: i32:256, f32[65536]:normal:1, FILE.bin. Also f32:0.125, "
        "f16[N]:zero, i32[N]:int:3, f32[N]:-inf, f32[N]:none (never written). 'tilewalk kernel --help' says what "
        "numbers these are.",
        .set = add_argument, .repeats = true),
    OPTION_ROW("out", "ARG", "The output, by name or number from 0. Default: the largest buffer that it changes.",
               OPTION_TEXT(KernelRequest, out, "what --out names")),
    OPTION_ROW("registers", "COUNT", "Registers of a thread (PTX does not say): bounds the blocks that an SM holds.",
               OPTION_NUMBER(KernelRequest, registers, "registers", 1, 255)),
    OPTION_ROW("gpu", "NAME", "Whose SMs and caches: see 'tilewalk list gpus'. Default h100-sxm.",
               OPTION_TEXT(KernelRequest, gpu, "what --gpu names"), .thing = THING_GPU, .choices = "@gpus"),
    {0},
};

const Option KERNEL_LIKE_OPTIONS[] = {
    OPTION_ROW("like", "NAME",
               "An algorithm (fa2): the kernel computes attention as it does. Arguments named Q, K, V, O, N, d, scale, "
               "... get their values from the shape, and O is judged against fp64.",
               OPTION_TEXT(KernelRequest, like, "what --like names"), .choices = "@algorithms"),
    {.letter = 'N',
     .argument = "COUNT",
     OPTION_NUMBER(KernelRequest, N, "N", 1, 1 << 24),
     .help = "Rows of Q, K and V. Default 256."},
    {.letter = 'd',
     .argument = "COUNT",
     OPTION_NUMBER(KernelRequest, d, "d", 1, 1 << 24),
     .help = "Columns. Default 64."},
    OPTION_ROW("batch", "COUNT", "Sequences. Default 1.", OPTION_NUMBER(KernelRequest, batch, "the batch", 1, 1 << 24)),
    OPTION_ROW("heads", "COUNT", "Heads. Default 1.",
               OPTION_NUMBER(KernelRequest, heads, "the number of heads", 1, 1 << 24)),
    OPTION_SWITCH("causal", "Row i sees columns up to i.", OPTION_FLAG(KernelRequest, causal)),
    OPTION_ROW("scale", "NUMBER", "Of the scores. Default 1 / sqrt(d).", .set = set_scale),
    OPTION_ROW("tolerance", "NUMBER",
               "Largest error of O, relative to the largest |O|. Default 1e-4 for fp32, 2e-2 for fp16 and bf16.",
               .set = set_tolerance),
    {0},
};

const Option KERNEL_SHOW_OPTIONS[] = {
    OPTION_SWITCH("faults", "Look for faults with --ncu, too.", OPTION_FLAG(KernelRequest, faults)),
    OPTION_SWITCH(
        "no-faults",
        "Look for no faults: several times faster. Faults are reads of what nobody wrote, accesses out of bounds, "
        "missing barriers, races.",
        OPTION_FLAG(KernelRequest, no_faults)),
    OPTION_ROW(
        "limit", "COUNT",
        "Stop after so many instructions of lanes. Default 40 billion: about a minute of a core, three with faults.",
        OPTION_NUMBER(KernelRequest, limit, "instructions of lanes", 1, INT64_MAX)),
    OPTION_ROW("lines", "COUNT", "Source lines in the table, the worst first. Default 12.",
               OPTION_NUMBER(KernelRequest, lines, "lines", 1, 10000)),
    OPTION_ROW(
        "ncu", "FILE",
        "A CSV of ncu's of the same launch: its counters beside those here. Exit status 1 where one that is counted "
        "is not equal.",
        OPTION_TEXT(KernelRequest, ncu, "what --ncu names")),
    OPTION_SWITCH(
        "view", "Open a window: keys walk through blocks, barriers and lines; -o FILE.png saves the same as a picture.",
        OPTION_FLAG(KernelRequest, view)),
    OPTION_ROW(
        "step", "STEP",
        "Of the picture or window: up to where the launch is shown, from 0. A step is what a block does between two "
        "barriers. Default: the end.",
        .set = set_step),
    OPTION_ROW("line", "LINE",
               "The picture's line, of whose lanes it is. Default: that of most bank conflicts or, without any, bytes.",
               OPTION_NUMBER(KernelRequest, line, "line", 1, 1 << 30)),
    OPTION_ROW(
        "swizzle", "BYTES",
        "The banks under a swizzle of such rows. Of the picture or window: shared memory's units of 16 bytes XORed by "
        "the number of their row of 128, 256, 512 or 1024 bytes. A swizzle that the kernel has is taken off by the "
        "same.",
        .set = set_swizzle),
    OPTION_SWITCH("no-caches", "Leave out L1 and HBM: several times faster.", OPTION_FLAG(KernelRequest, no_caches)),
    OPTION_SWITCH("ptx", "Print the PTX of the file, and stop.", OPTION_FLAG(KernelRequest, ptx)),
    {0},
};

const Option KERNEL_CLANG_OPTIONS[] = {
    OPTION_ROW("include", "DIR", "Where clang looks for headers.", .letter = 'I', .set = add_include,
               .thing = THING_FOLDER, .repeats = true),
    OPTION_ROW("define", "NAME[=VALUE]", "Defines a macro.", .letter = 'D', .set = add_define, .repeats = true),
    {0},
};

/* --- comments of the file --- */

static const Option *find_option(const char *word, size_t n) {
  while (n > 1 && *word == '-') word++, n--; /* as on a command line */
  static const OptionSet SETS[] = {
      {.options = KERNEL_LAUNCH_OPTIONS}, {.options = KERNEL_LIKE_OPTIONS}, {.options = KERNEL_CLANG_OPTIONS}, {0}};
  return option_named(SETS, word, n);
}

/* How much of the text is a value: its first word, and what follows up to the name of an option. */
static size_t value_length(const char *text, size_t n) {
  size_t length = 0;
  for (size_t at = 0; at < n;) {
    size_t end = at;
    while (end < n && !ascii_is_space(text[end])) end++;
    if (length > 0 && find_option(text + at, end - at)) return length;
    length = end;
    for (at = end; at < n && ascii_is_space(text[at]);) at++;
  }
  return length;
}

/* One option with its value, of *rest, which moves behind it. */
static Status take_option(KernelRequest *r, char **rest, Error *error) {
  char *const text = *rest;
  const size_t word = strcspn(text, " \t");
  const Option *o = find_option(text, word);
  char *value = text + word + strspn(text + word, " \t");
  if (!o)
    return error_refuse(error,
                        "'%s' is none of entry, grid, block, shared, arg, out, like, N, d, batch, heads, causal, scale",
                        quote(text, word).text);
  const bool needs_value = option_needs_value(o);
  char *const end = value + (needs_value ? value_length(value, strlen(value)) : 0);
  *rest = end + strspn(end, " \t");
  if (needs_value) *end = '\0';
  if (needs_value && !*value)
    return error_refuse(error, "a value belongs behind '%.*s', as behind --%s", (int)word, text,
                        o->name ? o->name : text);
  if (o->thing && description_shipped(o->thing, value, error)) return error->status;
  return option_store(o, r, needs_value ? value : "1", error);
}

/* The options of one comment, after "tilewalk:". */
static Status take_comment(KernelRequest *r, const char *words, size_t n, int line, Error *error) {
  char text[KERNEL_ARGUMENT_BYTES + 32];
  Error own = {0};
  while (n > 0 && ascii_is_space(words[0])) words++, n--;
  while (n > 0 && (ascii_is_space(words[n - 1]) || (n > 1 && words[n - 1] == '/' && words[n - 2] == '*') ||
                   (words[n - 1] == '*' && ascii_is_space(words[n > 1 ? n - 2 : 0]))))
    n--;
  if (n >= sizeof text)
    return error_set(error, STATUS_BAD_FILE, "%.200s:%d: the comment is longer than %d bytes", r->file, line,
                     (int)sizeof text);
  memcpy(text, words, n);
  text[n] = '\0';
  char *rest = text;
  do take_option(r, &rest, &own);
  while (!own.status && *rest);
  return own.status ? error_set(error, STATUS_BAD_FILE, "%.120s:%d: %s", r->file, line, own.message) : STATUS_OK;
}

/* Whether the words name the entry that is wanted: the name before any '<', as a whole. */
static bool names_entry(const char *words, size_t n, const char *wanted) {
  while (n > 0 && ascii_is_space(*words)) words++, n--;
  if (n < 6 || memcmp(words, "entry", 5) != 0 || !ascii_is_space(words[5])) return false;
  words += 6, n -= 6;
  while (n > 0 && ascii_is_space(*words)) words++, n--;
  if (!*wanted) return true;
  n = value_length(words, n);
  return strlen(wanted) == n && memcmp(words, wanted, n) == 0;
}

static bool is_entry(const char *words, size_t n) { return names_entry(words, n, ""); }

Status kernel_request_from_file(KernelRequest *request, const char *text, size_t length, Error *error) {
  static const char MARK[] = "tilewalk:";
  KernelRequest *f = calloc(1, sizeof *f);
  Status status = STATUS_OK;
  if (!f) return error_no_memory(error, "for the launch");
  strcpy(f->file, request->file);
  bool takes = true, found = false; /* in the common part, or in the wanted entry's; it was seen */
  int line = 1;
  for (size_t i = 0; i < length && !status; line++) {
    const char *end = memchr(text + i, '\n', length - i);
    const size_t n = end ? (size_t)(end - text) - i : length - i;
    const char *slashes = NULL;
    for (size_t k = i; k + 1 < i + n && !slashes; k++)
      if (text[k] == '/' && (text[k + 1] == '/' || text[k + 1] == '*')) slashes = text + k + 2;
    const char *words = slashes;
    while (words && words < text + i + n && (*words == ' ' || *words == '/')) words++;
    if (words && (size_t)(text + i + n - words) > sizeof MARK - 1 && memcmp(words, MARK, sizeof MARK - 1) == 0) {
      words += sizeof MARK - 1;
      const size_t rest = (size_t)(text + i + n - words);
      if (is_entry(words, rest)) {
        takes = !found && names_entry(words, rest, request->entry);
        found = found || takes;
      }
      if (takes) status = take_comment(f, words, rest, line, error);
    }
    i += n + 1;
  }
#define TAKE(field, given)                                                                                             \
  if (!(given)) memcpy(&request->field, &f->field, sizeof request->field)
  if (!status) {
    TAKE(entry, request->entry[0]);
    TAKE(grid, request->grid[0]);
    TAKE(block, request->block[0]);
    TAKE(shared_bytes, request->has_shared);
    TAKE(has_shared, request->has_shared);
    TAKE(registers, request->registers);
    TAKE(gpu, request->gpu[0]);
    request->own_arguments = !request->n_arguments;
    TAKE(arguments, request->n_arguments);
    TAKE(n_arguments, request->n_arguments);
    TAKE(out, request->out[0]);
    TAKE(like, request->like[0]);
    TAKE(N, request->N);
    TAKE(d, request->d);
    TAKE(batch, request->batch);
    TAKE(heads, request->heads);
    TAKE(causal, request->causal);
    TAKE(scale, request->scale > 0);
    TAKE(tolerance, request->tolerance > 0);
    TAKE(words, request->n_words);
    TAKE(n_words, request->n_words);
  }
#undef TAKE
  free(f);
  return status;
}
