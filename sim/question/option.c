#include "sim/question/option.h"

#include <stdio.h>

#include "sim/base/text_add.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/word_list.h"
#include "sim/base/size.h"

enum { STATE_CHARS_MAX = 4096 };

bool option_rows_next(OptionRows *r, bool in_state) {
  if (r->row)
    r->row++, r->index++;
  else
    r->row = r->set->options, r->offset = r->set->offset;
  while (!r->row || !option_is_row(r->row)) {
    if (r->set->options && (++r->set)->options)
      r->row = r->set->options, r->offset = r->set->offset;
    else if (in_state && r->keys)
      r->row = r->keys, r->offset = r->keys_offset, r->keys = NULL;
    else
      return false;
  }
  if (r->row->keys) r->keys = r->row->keys, r->keys_offset = r->offset;
  return true;
}

/* An option found in the tables: its row, its target and its place in `seen`. */
typedef struct {
  const Option *option;
  void *target;
  size_t index;
} Found;

static bool is_word(const char *word, const char *typed, size_t length) {
  return word && strlen(word) == length && memcmp(word, typed, length) == 0;
}

const Option *option_named(const OptionSet *sets, const char *name, size_t length) {
  for (OptionRows r = {.set = sets}; option_rows_next(&r, false);)
    if (is_word(r.row->name, name, length) || (length == 1 && r.row->letter == *name)) return r.row;
  return NULL;
}

/* Finds a row by long name (letter == 0) or by letter. */
static bool find(const OptionParser *parser, const char *name, size_t length, char letter, bool in_state,
                 Found *found) {
  for (OptionRows r = {.set = parser->sets}; option_rows_next(&r, in_state);) {
    const Option *o = r.row;
    if (!in_state && !o->help && !o->to.kind) continue;
    if (letter ? o->letter != letter : !is_word(o->name, name, length) && !is_word(o->also, name, length)) continue;
    *found = (Found){o, (char *)parser->target + r.offset, r.index};
    return true;
  }
  return false;
}

/* What other tools call an option. */
static const struct {
  const char *word, *here;
} ELSEWHERE[] = {
    {"num-heads", "heads"},
    {"n-heads", "heads"},
    {"nheads", "heads"},
    {"num-attention-heads", "heads"},
    {"num-kv-heads", "kv-heads"},
    {"n-kv-heads", "kv-heads"},
    {"num-key-value-heads", "kv-heads"},
    {"hidden-dim", "head-dim"},
    {"headdim", "head-dim"},
    {"precision", "dtype"},
    {"type", "dtype"},
    {"context", "seq-len-k"},
    {"length", "seq-len"},
    {"tokens", "seq-len"},
    {"batch-size", "batch"},
    {"smem", "sram"},
    {"shared-memory", "sram"},
    {"device", "gpu"},
    {"sliding-window", "window"},
    {"tile", "block"},
    {"algo", "algorithm"},
    {"num-splits", "splits"},
    {"format", "json"},
    {"out", "output"},
};

static bool same_word(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if (*a != *b && !(*a == '_' && *b == '-')) return false;
  return *a == *b;
}

/* The option of this command that another tool calls so; NULL: none. */
static const char *called_elsewhere(const OptionParser *parser, const char *typed) {
  Found found;
  for (size_t k = 0; k < COUNT_OF(ELSEWHERE); k++)
    if (same_word(typed, ELSEWHERE[k].word) &&
        find(parser, ELSEWHERE[k].here, strlen(ELSEWHERE[k].here), 0, false, &found))
      return ELSEWHERE[k].here;
  return NULL;
}

static Status unknown(const OptionParser *parser, const char *kind, const char *name, size_t length, Error *error) {
  char typed[64];
  snprintf(typed, sizeof typed, "%.*s", (int)(length < 63 ? length : 63), name);
  const bool is_option = kind[0] == 'o'; /* on the command line */
  Nearest nearest = {.word = typed};
  for (OptionRows r = {.set = parser->sets}; option_rows_next(&r, !is_option);)
    if (r.row->name) nearest_offer(&nearest, r.row->name);
  const char *dashes = is_option ? "--" : "", *called = called_elsewhere(parser, typed);
  if (called) nearest.best = called;
  if (nearest.best)
    return error_refuse(error, "there is no %s '%s%s'; did you mean '%s%s'?", kind, dashes, quote(name, length).text,
                        dashes, nearest.best);
  return error_refuse(error, "there is no %s '%s%s'; --help lists them", kind, dashes, quote(name, length).text);
}

Status options_name(const char *const *names, const char *is, const char *value, int *index, Error *error) {
  char all[OPTION_TEXT_BYTES];
  *index = word_list_find(names, value);
  if (*index >= 0) return STATUS_OK;
  return error_refuse(error, "'%s' %s; there are %s", quote_text(value).text, is,
                      word_list_text(names, "and", all, sizeof all));
}

Status options_count(const char *name, const char *value, long long low, long long high, long long *out, Error *error) {
  int64_t parsed = 0;
  if (strcmp(value, "0") != 0) {
    const Status status = size_parse_count(value, &parsed, error);
    if (status) return status;
  }
  if (parsed < low || parsed > high)
    return error_refuse(error, "%s is %lld; it must be between %lld and %lld", name, (long long)parsed, low, high);
  *out = parsed;
  return STATUS_OK;
}

Status options_text(const char *name, const char *value, char *out, size_t size, Error *error) {
  const size_t length = strlen(value);
  if (length == 0) return error_refuse(error, "%s is empty", name);
  if (length >= size) return error_refuse(error, "%s has more than %zu characters", name, size - 1);
  memcpy(out, value, length + 1);
  return STATUS_OK;
}

static Status store_flag(const char *name, const char *value, bool *out, Error *error) {
  const bool on = strcmp(value, "1") == 0, off = strcmp(value, "0") == 0;
  if (!on && !off) return error_refuse(error, "%s is '%s'; it must be 0 or 1", name, quote_text(value).text);
  *out = on;
  return STATUS_OK;
}

static Status store_number(const OptionStore *to, const char *value, void *out, Error *error) {
  long long number;
  if (options_count(to->what, value, to->low, to->high, &number, error)) return error->status;
  if (to->bytes == sizeof(int))
    *(int *)out = (int)number;
  else
    *(int64_t *)out = number;
  return STATUS_OK;
}

static Status store_choice(const Option *o, const char *value, void *out, Error *error) {
  int index;
  if (options_name(o->names, o->to.what, value, &index, error)) return error->status;
  if (o->to.bytes == sizeof(bool))
    *(bool *)out = index != 0;
  else
    *(int *)out = index;
  return STATUS_OK;
}

Status option_store(const Option *o, void *target, const char *value, Error *error) {
  void *const out = (char *)target + o->to.at;
  if (o->given) *((bool *)target + o->given) = true;
  if (o->set) return o->set(target, value, error);
  switch (o->to.kind) {
  case STORE_FLAG: return store_flag(o->name, value, out, error);
  case STORE_COUNT: return size_parse_count(value, out, error);
  case STORE_SIZE:
    if (size_parse(value, out, error)) return error->status;
    return o->to.what && !*(int64_t *)out ? error_refuse(error, "%s", o->to.what) : STATUS_OK;
  case STORE_NUMBER: return store_number(&o->to, value, out, error);
  case STORE_TEXT: return options_text(o->to.what, value, out, o->to.bytes, error);
  case STORE_CHOICE: return store_choice(o, value, out, error);
  default: return STATUS_OK; /* a state is read ahead of all else */
  }
}

/* What stands where a file could be named: "-" is standard input. */
static const char *input_name(const char *value) { return strcmp(value, "-") == 0 ? "/dev/stdin" : value; }

static bool may_name_input(const Option *o) { return o->argument && (o->thing || strstr(o->argument, "|FILE")); }

/* Stores a value once, and puts the option's name before what its setter complains about. */
static Status store(OptionParser *parser, const Found *found, const char *value, Error *error) {
  const Option *o = found->option;
  char name[64];
  if (o->name)
    snprintf(name, sizeof name, "--%s", o->name);
  else
    snprintf(name, sizeof name, "-%c", o->letter);
  if (strlen(value) > OPTION_VALUE_CHARS_MAX)
    return error_refuse(error, "%s: the value has more than %d characters", name, OPTION_VALUE_CHARS_MAX);
  if (parser->seen[found->index] == 1 && !o->repeats)
    return error_refuse(error, "%s is given twice; give it once", name);
  parser->seen[found->index] = 1;
  if (!parser->from_file && may_name_input(o)) value = input_name(value);
  Error inner = {0};
  Status status = parser->from_file && o->thing ? parser->files->shipped(o->thing, value, &inner) : STATUS_OK;
  if (!status && o->set_found) status = o->set_found(found->target, value, parser->files, &inner);
  if (!status && !o->set_found) status = option_store(o, found->target, value, &inner);
  if (status) return error_set(error, status, "%s: %s", name, inner.message);
  return STATUS_OK;
}

/* Stores what an option is given: behind its name in the same word (`attached`; NULL: nothing is), or the next word.
 * spelled: "--gpu", "-N". */
static Status take_value(OptionParser *parser, const Found *found, const char *spelled, const char *attached, int *i,
                         int argc, char *const *argv, Error *error) {
  const Option *o = found->option;
  const bool needs_value = option_needs_value(o);
  if (attached && !needs_value && !o->argument)
    return error_refuse(error, "%s takes no value, but '%s' was given", spelled, quote_text(attached).text);
  if (attached || !needs_value) return store(parser, found, attached ? attached : "1", error);
  if (*i + 1 >= argc)
    return error_refuse(error, "%s needs a value: %s %s", spelled, spelled, o->argument ? o->argument : "VALUE");
  return store(parser, found, argv[++*i], error);
}

static Status parse_long(OptionParser *parser, const char *text, int *i, int argc, char *const *argv, Error *error) {
  const char *const equals = strchr(text, '=');
  const size_t length = equals ? (size_t)(equals - text) : strlen(text);
  char spelled[64];
  Found found;
  if (!find(parser, text, length, 0, false, &found)) return unknown(parser, "option", text, length, error);
  snprintf(spelled, sizeof spelled, "--%s", found.option->name);
  return take_value(parser, &found, spelled, equals ? equals + 1 : NULL, i, argc, argv, error);
}

static Status parse_short(OptionParser *parser, const char *text, int *i, int argc, char *const *argv, Error *error) {
  Found found;
  const char spelled[] = {'-', text[0], '\0'}, other = ascii_is_alnum(text[0]) ? (char)(text[0] ^ 0x20) : '\0';
  if (find(parser, NULL, 0, text[0], false, &found))
    return take_value(parser, &found, spelled, text[1] ? text + 1 : NULL, i, argc, argv, error);
  if (other && find(parser, NULL, 0, other, false, &found))
    return error_refuse(error, "there is no option '%s'; did you mean '-%c'?", spelled, other);
  return error_refuse(error, "there is no option '-%s'; --help lists them", quote_text(text).text);
}

/* Reads the value of --state, if there is one, ahead of everything else. */
static Status parse_state_option(OptionParser *parser, int argc, char *const *argv, Error *error) {
  Found found;
  if (!find(parser, "state", 5, 0, false, &found)) return STATUS_OK;
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
    const char *line = NULL;
    if (strcmp(argv[i], "--state") == 0 && i + 1 < argc) line = argv[i + 1];
    if (strncmp(argv[i], "--state=", 8) == 0) line = argv[i] + 8;
    if (!line) continue;
    Error inner = {0};
    const Status status = options_parse_state(parser, line, &inner);
    if (status) return error_set(error, status, "--state: %s", inner.message);
    for (int k = 0; k < OPTIONS_MAX; k++) parser->seen[k] *= 2; /* there, and may be given yet */
    return STATUS_OK;
  }
  return STATUS_OK;
}

Status options_parse(OptionParser *parser, int argc, char *const *argv, Error *error) {
  bool only_positional = false;
  if (parse_state_option(parser, argc, argv, error)) return error->status;
  for (int i = 0; i < argc; i++) {
    const char *const a = argv[i];
    Status status;
    if (!only_positional && strcmp(a, "--") == 0) {
      only_positional = true;
      continue;
    }
    const bool is_help = strcmp(a, "-h") == 0 || (strncmp(a, "--help", 6) == 0 && (!a[6] || a[6] == '='));
    if (!only_positional && is_help) {
      parser->help = a[1] == '-' && a[6] ? a + 7 : "";
      return STATUS_OK;
    }
    if (!only_positional && strncmp(a, "--", 2) == 0)
      status = parse_long(parser, a + 2, &i, argc, argv, error);
    else if (!only_positional && a[0] == '-' && a[1])
      status = parse_short(parser, a + 1, &i, argc, argv, error);
    else if (parser->set_positional)
      status = parser->set_positional(parser->target, parser->takes_files ? input_name(a) : a, error);
    else
      status = error_refuse(error, "'%s' is no option, and this command takes nothing else; --help shows its use",
                            quote_text(a).text);
    if (status) return status;
  }
  return STATUS_OK;
}

Status options_parse_state(OptionParser *parser, const char *line, Error *error) {
  if (strlen(line) > STATE_CHARS_MAX)
    return error_refuse(error, "the state has more than %d characters", STATE_CHARS_MAX);
  const char *p = line;
  for (;;) {
    while (*p && ascii_is_space((unsigned char)*p)) p++;
    if (!*p) return STATUS_OK;
    const size_t length = strcspn(p, " \t\r\n"), key = strcspn(p, "= \t\r\n");
    if (key == length || key == 0)
      return error_refuse(error, "'%s' in the state is not of the form key=value", quote(p, length).text);
    Found found;
    const bool by_letter = key == 1 && find(parser, NULL, 0, p[0], true, &found);
    if (!by_letter && !find(parser, p, key, 0, true, &found)) return unknown(parser, "state key", p, key, error);
    char value[STATE_CHARS_MAX + 1];
    snprintf(value, sizeof value, "%.*s", (int)(length - key - 1), p + key + 1);
    const Status status = store(parser, &found, value, error);
    if (status) return status;
    p += length;
  }
}

const char *option_choices(const Option *o, char text[OPTION_TEXT_BYTES]) {
  if (o->names) return word_list_text(o->names, NULL, text, OPTION_TEXT_BYTES);
  snprintf(text, OPTION_TEXT_BYTES, "%s", o->choices ? o->choices : "");
  return text;
}

const char *option_help(const Option *o, char text[OPTION_TEXT_BYTES]) {
  char all[OPTION_TEXT_BYTES / 2] = "";
  const char *place = strstr(o->help, "{}");
  if (!place) return o->help;
  if (o->names) word_list_text(o->names, "or", all, sizeof all);
  snprintf(text, OPTION_TEXT_BYTES, "%.*s%s%s", (int)(place - o->help), o->help, all, place + 2);
  return text;
}

/* What a row holds, as text; false: its default. */
static bool value_of(const Option *o, const void *target, char *text, size_t size) {
  const void *at = (const char *)target + o->to.at;
  if (o->get) return o->get(target, text, size);
  if (o->to.kind == STORE_TEXT) {
    snprintf(text, size, "%s", (const char *)at);
    for (char *c = text; *c; c++) /* a line has no blanks, and names read alike with either */
      if (*c == ' ') *c = '-';
    return *text;
  }
  int64_t number = 0;
  memcpy(&number, at, o->to.bytes); /* a bool, int or int64_t that is not below 0; machines here are little-endian */
  if (o->to.kind == STORE_CHOICE)
    snprintf(text, size, "%s", o->names[number]);
  else
    snprintf(text, size, "%jd", number);
  return number || (o->given && *((const bool *)target + o->given));
}

const char *options_state(const OptionSet *sets, const void *target, char *text, size_t size) {
  text[0] = '\0';
  for (int rest = 0; rest < 2; rest++)
    for (OptionRows r = {.set = sets}; option_rows_next(&r, true);) {
      char value[OPTION_VALUE_CHARS_MAX], letter[2] = {r.row->letter};
      if ((r.row->set_found == NULL) != rest || !r.row->help || r.row->keys ||
          !value_of(r.row, (const char *)target + r.offset, value, sizeof value))
        continue;
      text_add(text, size, "%s%s=%s", *text ? " " : "", *letter ? letter : r.row->name, value);
    }
  return text;
}
