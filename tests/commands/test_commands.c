/* The default test: tables of commands, tests/commands/NAME.txt, with what each must answer. README.md says how to
 * write one.
 *
 *     $ kvcache --model llama-2-70b -N 1000      a command: its figures, its words, or its refusal follow
 *     bytes = 2*80*8*128*2 * 1000
 *
 * `build/tests/test_commands [NAME or FILE...]` runs these tables, or all, and what sim/SERVING.md quotes. A table is a
 * process; as many run at once as there are cores. Within a table each command runs once, directly (no shell), and what
 * it printed is kept. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/support/each.h"
#include "tests/support/scratch.h"

enum { WORDS = 128, LETS = 64, LOOPS = 32, CPU_SECONDS = 60 };

/* ---- A run of the program, kept ---- */

typedef struct Run {
  struct Run *next;
  char *key; /* the command's line and its stdin */
  char *out, *err;
  int status; /* 128 + signal */
  json_t *json;
} Run;

static Run *runs;
static const char *table;
static int line, passed, failures;
static char folder[SCRATCH_BYTES]; /* TMP/ in a table */

static void failed(const char *format, ...) {
  va_list a;
  va_start(a, format);
  char *text;
  if (vasprintf(&text, format, a) < 0) abort();
  va_end(a);
  printf("%s:%d: %.600s\n", table, line, text);
  free(text);
  failures++;
}

/* A line that means nothing ends its table: what follows could depend on it. */
#define bad_line(...) (failed("bad line: " __VA_ARGS__), finish())
static void finish(void) {
  char *remove;
  printf("[  PASSED  ] %d test(s).\n[  FAILED  ] %d test(s).\n", passed, failures);
  if (asprintf(&remove, "rm -rf %s", folder) < 0 || system(remove)) failures++;
  fflush(stdout);
  _exit(failures > 0);
}

static char *replaced(const char *text, const char *what, const char *with) {
  char *out;
  size_t n;
  FILE *f = open_memstream(&out, &n);
  for (const char *at; (at = strstr(text, what)); text = at + strlen(what))
    fprintf(f, "%.*s%s", (int)(at - text), text, with);
  fputs(text, f);
  fclose(f);
  return out;
}

/* The file's text, in which the folder is TMP again. */
static char *text_of(FILE *f) {
  char *text = NULL;
  size_t room = 0;
  rewind(f);
  if (getdelim(&text, &room, '\0', f) < 0) *(text = realloc(text, 1)) = 0;
  fclose(f);
  char *out = replaced(text, folder, "TMP");
  free(text);
  return out;
}

/* Splits a command into words at blanks. 'one word' and "one word" are taken as they are; quotes may touch. */
static int words_of(char *text, char *words[]) {
  int n = 0;
  char *to = text;
  for (char *at = text; *at;) {
    while (*at == ' ') at++;
    if (!*at) break;
    if (n == WORDS - 1) bad_line("more than %d words", n);
    for (words[n++] = to; *at && *at != ' ';)
      if (*at == '\'' || *at == '"') {
        const char *end = strchr(at + 1, *at);
        if (!end) bad_line("a quote is not closed");
        for (at++; at < end;) *to++ = *at++;
        at++;
      } else
        *to++ = *at++;
    if (*at) at++;
    *to++ = 0;
  }
  words[n] = NULL;
  return n;
}

/* CSV as JSON: rows[K].COLUMN, numbers as numbers, empty cells as null. */
static json_t *rows_of(const char *csv) {
  json_t *head = json_array(), *rows = json_array(), *row = NULL;
  char *cell = malloc(strlen(csv) + 1), *end;
  for (size_t k = 0; *csv; k++) {
    char *to = cell;
    for (bool quoted = false; *csv && (quoted || (*csv != ',' && *csv != '\n')); csv++)
      if (*csv == '"' && quoted && csv[1] == '"')
        *to++ = *csv++;
      else if (*csv == '"')
        quoted = !quoted;
      else
        *to++ = *csv;
    *to = 0;
    const double number = strtod(cell, &end);
    json_t *value = !*cell ? json_null() : *end ? json_string(cell) : json_real(number);
    if (!row)
      json_array_append_new(head, value);
    else
      json_object_set_new(row, json_string_value(json_array_get(head, k)), value);
    if (*csv == '\n' && csv[1]) json_array_append_new(rows, row = json_object()), k = SIZE_MAX;
    if (*csv) csv++;
  }
  free(cell);
  return json_pack("{s:o, s:o}", "columns", head, "rows", rows);
}

static void child(char **words, int in, FILE *out, FILE *err) {
  const struct rlimit limit = {CPU_SECONDS, CPU_SECONDS};
  setrlimit(RLIMIT_CPU, &limit);
  dup2(in, 0), dup2(fileno(out), 1), dup2(fileno(err), 2);
  for (char *is; *words && isupper((unsigned char)**words) && (is = strchr(*words, '=')); words++)
    *is = 0, setenv(*words, is + 1, 1);
  if (!*words) _exit(127);
  static const char *const OTHERS[] = {"cat", "ls", "cmp", "ln", "mkfifo"};
  EACH (k, OTHERS)
    if (!strcmp(*words, OTHERS[k])) execvp(*words, words);
  *--words = getenv("TILEWALK");
  execv(*words, words);
  _exit(127);
}

/* ---- Each answer has the form of assets/schema.json: keys that it knows, of its types, and those it requires ---- */

static json_t *forms; /* its $defs */

static bool has_type(const json_t *types, const json_t *v) {
  static const char *const NAMES[] = {"object", "array", "string", "integer", "number", "boolean", "boolean", "null"};
  const char *type = json_string_value(types), *is = NAMES[json_typeof(v)];
  bool has = type && (!strcmp(type, is) || (json_is_integer(v) && !strcmp(type, "number")));
  for (size_t k = 0; k < json_array_size(types); k++) has |= has_type(json_array_get(types, k), v);
  return has;
}

/* The form of a command's answer: of "sim", or of "sim --roofline" where both words are there. */
static const json_t *form_of(const char *command, const char *name) {
  const size_t n = strlen(name);
  const char *key;
  json_t *form;
  json_object_foreach(forms, key,
                      form) if (!strncmp(key, name, n) && key[n] == ' ' && strstr(command, key + n)) return form;
  return json_object_get(forms, name);
}

/* What is wrong with a value, "" if nothing is. */
static const char *wrong_form(const json_t *form, const json_t *v, const char *name) {
  static char wrong[256];
  const json_t *either = json_object_get(form, "anyOf"), *of_all = json_object_get(form, "additionalProperties"),
               *keys = json_object_get(form, "required");
  const char *key, *shared = json_string_value(json_object_get(form, "$ref")), *bad = "";
  json_t *one;
  if (shared) return wrong_form(json_object_get(forms, shared + strlen("#/$defs/")), v, name);
  for (size_t k = 0; k < json_array_size(either); k++)
    if (!*(bad = wrong_form(json_array_get(either, k), v, name))) return "";
  if (!either && !has_type(json_object_get(form, "type"), v))
    return snprintf(wrong, sizeof wrong, "%s is unknown, or of another type", name), wrong;
  for (size_t k = 0; k < json_array_size(v) && !*bad; k++)
    bad = wrong_form(json_object_get(form, "items"), json_array_get(v, k), name);
  for (size_t k = 0; json_is_object(v) && k < json_array_size(keys); k++)
    if (!json_object_get(v, key = json_string_value(json_array_get(keys, k))))
      return snprintf(wrong, sizeof wrong, "%s lacks %s", name, key), wrong;
  json_object_foreach((json_t *)v, key, one) if (!*bad && !either) bad =
      wrong_form(of_all ? of_all : json_object_get(json_object_get(form, "properties"), key), one, key);
  return bad;
}

/* CSV, or a file: no --json is added. */
static bool is_data(const char *command) {
  return strstr(command, "--csv") || !strncmp(command, "cat ", 4) || !strncmp(command, "trace ", 6);
}

/* The command's run; `figures`: with --json, unless it prints CSV or is told so already. */
static Run *ask(const char *command, const char *input, bool figures) {
  const bool csv = is_data(command);
  char *key, *words[WORDS + 1];
  if (asprintf(&key, "%s%s\n%s", command, figures && !csv ? " --json" : "", input) < 0) abort();
  Run *r = runs;
  while (r && strcmp(r->key, key)) r = r->next;
  if (!r) {
    r = calloc(1, sizeof *r);
    *r = (Run){.next = runs, .key = key};
    runs = r;
    char *typed = strndup(key, strcspn(key, "\n")), *text = replaced(typed, "TMP/", folder);
    free(text), text = replaced(typed, "TMP", folder);
    words_of(text, words + 1);
    FILE *out = tmpfile(), *err = tmpfile();
    if (!out || !err) bad_line("no temporary file");
    int in[2];
    const ssize_t n = (ssize_t)strlen(input);
    if (pipe(in) || fcntl(in[1], F_SETFL, O_NONBLOCK) || write(in[1], input, (size_t)n) != n)
      bad_line("stdin is a pipe, which holds less");
    close(in[1]), fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) child(words + 1, *in, out, err);
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) bad_line("cannot be run: %s", strerror(errno));
    r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r->out = text_of(out), r->err = text_of(err);
    close(*in), free(text), free(typed);
  } else
    free(key);
  if (figures && !r->json) {
    r->json = csv && *r->out != '{' ? rows_of(r->out) : json_loads(r->out, JSON_DECODE_ANY, NULL);
    char *name = strndup(command, strcspn(command, " "));
    const json_t *form = csv ? NULL : form_of(command, name);
    const char *bad = form && r->json && r->status <= 1 ? wrong_form(form, r->json, name) : "";
    if (*bad) failed("%s --json: %s: not as assets/schema.json says", command, bad);
    free(name);
  }
  return r;
}

/* ---- Paths ---- */

static const json_t *one_of; /* the last value seen */
static double sum, least, most;
static int seen;

/* Sees each value at the path; returns where it ends. a.b, a["b c"], a.2, a[-1], a[*], a[2:5], a[name=TEXT],
 * a[name*TEXT]: the first whose name is TEXT, or has it. */
static const char *see(const json_t *v, const char *path) {
  while (*path == '.' || *path == '[' || isalnum((unsigned char)*path) || *path == '_') {
    char key[256];
    const char *close = strchr(path, ']');
    size_t n = *path == '['
                   ? 0
                   : strspn(path += *path == '.', "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (n) {
      snprintf(key, sizeof key, "%.*s", (int)n, path);
      v = json_is_array(v) ? json_array_get(v, strtoul(key, NULL, 10)) : json_object_get(v, key), path += n;
      continue;
    }
    if (!close || *path != '[') bad_line("a path ends at '%s'", path);
    snprintf(key, sizeof key, "%.*s", (int)(close - path - 1), path + 1);
    path = close + 1, n = strcspn(key, "=*");
    const bool has = key[n] == '*';
    if (!strcmp(key, "*") || strchr(key, ':')) {
      const size_t all = json_array_size(v), from = strtoul(key, NULL, 10),
                   to = strchr(key, ':') ? strtoul(strchr(key, ':') + 1, NULL, 10) : 0;
      const char *end = NULL;
      for (size_t k = from; k < (to && to < all ? to : all); k++) end = see(json_array_get(v, k), path);
      return end ? end : see(NULL, path);
    }
    if (*key == '"')
      key[strlen(key) - 1] = 0, v = json_object_get(v, key + 1);
    else if (key[n]) {
      const json_t *list = v;
      key[n] = 0, v = NULL;
      for (size_t k = 0; !v && k < json_array_size(list); k++) {
        const char *text = json_string_value(json_object_get(json_array_get(list, k), key));
        if (text && (has ? strstr(text, key + n + 1) != NULL : !strcmp(text, key + n + 1))) v = json_array_get(list, k);
      }
    } else {
      const long k = strtol(key, NULL, 10);
      v = json_array_get(v, (size_t)(k < 0 ? (long)json_array_size(v) + k : k));
    }
  }
  one_of = v;
  if (json_is_number(v)) {
    const double x = json_number_value(v);
    sum += x, least = seen && x >= least ? least : x, most = seen && x <= most ? most : x, seen++;
  }
  return path;
}

static const json_t *look(const json_t *json, const char **path) {
  seen = 0, sum = 0;
  *path = see(json, *path);
  return one_of;
}

/* ---- Expressions ---- */

static const char *at;
static const json_t *answer; /* whose paths they are */
static struct {
  char name[32];
  double value;
} lets[LETS];
static int n_lets;
static const char *begin; /* of the row */
static double factor(void), expression(void);

static void blanks(void) { at += strspn(at, " "); }
static bool take(const char *text) {
  blanks();
  if (strncmp(at, text, strlen(text))) return false;
  at += strlen(text);
  return true;
}
static void need(const char *text) {
  if (!take(text)) bad_line("'%s' is missing before '%s'", text, at);
}

/* {COMMAND : EXPRESSION}: of another answer; {COMMAND}: what the row begins with, there. */
static double elsewhere(void) {
  const char *end = strchr(at, '}'), *colon = strstr(at, " : ");
  if (!end) bad_line("{COMMAND : PATH} is meant");
  const bool same = !colon || colon > end;
  char *command = strndup(at, (size_t)((same ? end : colon) - at));
  const json_t *mine = answer;
  const Run *r = ask(command, "", true);
  if (r->status > 1) failed("%s: exit status %d: %s", command, r->status, r->err);
  answer = r->json, at = same ? begin : colon + 3;
  const double v = same ? factor() : expression();
  if (same) at = end;
  answer = mine, free(command);
  need("}");
  return v;
}

static double function(const char *name) {
  static const struct {
    const char *name;
    double (*f)(double);
  } F[] = {{"exp", exp}, {"sqrt", sqrt}, {"log2", log2}, {"log", log}, {"floor", floor}, {"ceil", ceil}, {"abs", fabs}};
  static const struct {
    const char *name;
    double *is;
  } OVER[] = {{"sum", &sum}, {"least", &least}, {"most", &most}};
  EACH (k, OVER)
    if (!strcmp(name, OVER[k].name)) {
      blanks();
      look(answer, &at), need(")");
      return seen ? *OVER[k].is : NAN;
    }
  const double x = expression();
  double y = NAN;
  if (!strcmp(name, "min"))
    need(","), y = fmin(x, expression());
  else if (!strcmp(name, "max"))
    need(","), y = fmax(x, expression());
  else {
    size_t k = 0;
    while (k < COUNT_OF(F) && strcmp(name, F[k].name)) k++;
    if (k == COUNT_OF(F)) bad_line("there is no function %s", name);
    y = F[k].f(x);
  }
  need(")");
  return y;
}

static double factor(void) {
  char name[32], *end;
  if (take("-")) return -factor();
  if (take("(")) {
    const double v = expression();
    need(")");
    return v;
  }
  if (take("{")) return elsewhere();
  if (take("#")) {
    const json_t *v = look(answer, &at);
    if (!json_is_array(v) && !json_is_object(v)) failed("no list or object is there to count");
    return (double)(json_is_array(v) ? json_array_size(v) : json_object_size(v));
  }
  if (isalpha((unsigned char)*at) || *at == '[') {
    const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    if (at[n] == '(') {
      at += n + 1;
      return function(name);
    }
    if (isupper((unsigned char)*at)) {
      for (int k = n_lets; k-- > 0;)
        if (!strcmp(name, lets[k].name)) {
          at += n;
          return lets[k].value;
        }
      bad_line("nothing is named %s", name);
    }
    const json_t *v = look(answer, &at);
    if (seen > 1) bad_line("[*] and [2:5] stand in sum(), least() or most()");
    return json_is_number(v) ? json_number_value(v) : NAN;
  }
  const double v = strtod(at, &end);
  if (end == at) bad_line("no number, name or path: '%s'", at);
  at = end;
  return v;
}
static double term(void) {
  double v = factor();
  for (;;)
    if (take("*"))
      v *= factor();
    else if (take("/"))
      v /= factor();
    else
      return v;
}
static double expression(void) {
  double v = term();
  for (;;)
    if (take("+"))
      v += term();
    else if (take("-"))
      v -= term();
    else
      return v;
}

/* ---- Rows ---- */

/* PATH = "TEXT", PATH has "TEXT" (a list: one of it), PATH = true, false, null, absent, {COMMAND : PATH} of any kind.
 * False: the right side is none of these. */
static bool check_word(const char *row) {
  const char *path = row;
  if (!islower((unsigned char)*row) && *row != '[') return false;
  for (const char *c = row; isalnum((unsigned char)*c) || *c == '_'; c++)
    if (c[1] == '(') return false;
  const json_t *v = look(answer, &path);
  at = path;
  const bool not = take("!="), has = !not &&take("has "), is = not || has || take("=");
  blanks();
  if (!is) return false;
  bool right;
  if (*at == '"') {
    char *end = strrchr(at, '"');
    if (end == at || end[1]) bad_line("a quote is not closed");
    char *text = strndup(at + 1, (size_t)(end - at - 1));
    right = false;
    for (size_t k = 0, n = json_is_array(v) ? json_array_size(v) : 1; k < n; k++) {
      const char *got = json_string_value(json_is_array(v) ? json_array_get(v, k) : v);
      right |= got && (has ? strstr(got, text) != NULL : (strcmp(got, text) == 0) != not );
    }
    free(text);
  } else if (*at == '{' && v && !json_is_number(v)) {
    at++, elsewhere();
    right = json_equal(v, one_of) != not ;
  } else if (!strcmp(at, "true"))
    right = not ? json_is_false(v) : json_is_true(v);
  else if (!strcmp(at, "false"))
    right = json_is_false(v);
  else if (!strcmp(at, "null"))
    right = v && json_is_null(v) != not ;
  else if (!strcmp(at, "absent"))
    right = !v != not ;
  else
    return false;
  if (right) return true;
  char *got = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;
  failed("%s: it is %s", row, got ? got : "absent");
  free(got);
  return true;
}

/* EXPRESSION = EXPRESSION [~ PART], or < > <= >= !=. Whole numbers are equal exactly, others to twelve digits. */
static void check_figure(const char *row) {
  begin = row;
  if (check_word(row)) return;
  at = row;
  const double is = expression();
  static const char *const OPS[] = {"<=", ">=", "!=", "<", ">", "="};
  size_t op = 0;
  while (op < 6 && !take(OPS[op])) op++;
  if (op == 6) bad_line("= < > <= >= or != is missing: '%s'", row);
  const double wanted = expression();
  const double part = take("~") ? expression() : wanted == floor(wanted) ? 0 : 1e-12;
  blanks();
  if (*at) bad_line("what is '%s'?", at);
  if (isnan(is) || isnan(wanted)) {
    failed("%s: there is no such number", row);
    return;
  }
  const bool equal = is == wanted || fabs(is - wanted) <= part * fabs(wanted);
  const bool right[] = {is <= wanted, is >= wanted, !equal, is<wanted, is> wanted, equal};
  if (!right[op]) failed("%s: it is %.17g, not %.17g", row, is, wanted);
}

typedef struct {
  char *command, *input, *of;
  int status, rows; /* the exit status that is right; checks so far */
} Block;

/* Whether it is a screen: 24 lines of 80 columns at most. */
static void check_screen(const char *command, const Run *r) {
  int lines = 0, columns = 0, widest = 0;
  for (const char *p = r->out; *p; p++) {
    columns = *p == '\n' ? 0 : columns + ((*p & 0xC0) != 0x80);
    lines += *p == '\n';
    widest = columns > widest ? columns : widest;
  }
  if (lines > 24 || widest > 80) failed("%s: %d lines of %d columns", command, lines, widest);
}

/* Whether this word stands in the line, no part of a longer one. */
static bool has_unit(const char *from, size_t n, const char *unit) {
  const size_t m = strlen(unit);
  for (const char *p = from; p + m <= from + n; p++)
    if (!strncmp(p, unit, m) && !isalpha((unsigned char)p[m]) && (p == from || !isalpha((unsigned char)p[-1])))
      return true;
  return false;
}

/* The number that stands at *from, with commas between thousands; *step: half of its last digit, or, of a whole number,
 * what four digits leave open. Goes behind it. */
static double number_at(const char **from, double *step) {
  double v = 0, unit = 0;
  for (; isdigit((unsigned char)**from) || (**from == ',' && isdigit((unsigned char)(*from)[1])) ||
         (**from == '.' && !unit && isdigit((unsigned char)(*from)[1]));
       ++*from) {
    if (**from == '.') unit = 1;
    if (!isdigit((unsigned char)**from)) continue;
    v = 10 * v + (**from - '0'), unit /= 10;
  }
  *step = unit ? unit / 2 * (1 + 1e-9) : 5e-4 * v;
  return unit ? v * unit : v;
}

/* Whether a number is on the screen, rounded as there, to two digits at least, in a unit of its line. */
static bool shows(const char *text, double wanted) {
  static const struct {
    const char *name;
    double is;
  } UNITS[] = {{"", 1},      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TB/s", 1e12},
               {"ms", 1e-3}, {"us", 1e-6},    {"ns", 1e-9},    {"%", 1. / 100}};
  double step;
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    for (const char *p = text; p < text + n;) {
      if (!isdigit((unsigned char)*p)) {
        p++;
        continue;
      }
      const double v = number_at(&p, &step);
      EACH (u, UNITS)
        if (fabs(v * UNITS[u].is - wanted) <= step * UNITS[u].is && step * UNITS[u].is <= wanted / 50 &&
            (!u || has_unit(text, n, UNITS[u].name)))
          return true;
    }
  }
  return false;
}

/* The row "NAME.REST = FIGURE" under "of PATH", in which $ is NAME. */
static char *path_of(const char *of, const char *row) {
  const size_t n = strcspn(row, ".[ ");
  char *name = strndup(row, n), *path = replaced(of, "$", name), *whole;
  if (asprintf(&whole, "%s%s", path, row + n) < 0) abort();
  free(name), free(path);
  return whole;
}

static void check(Block *b, const char *row) {
  b->rows++;
  const int before = failures;
  if (!strncmp(row, "! ", 2)) {
    const Run *r = ask(b->command, b->input, false);
    const char *end = strchr(r->err, '\n');
    if (r->status != 2 || *r->out || !end || end[1] || !strstr(r->err, row + 2))
      failed("%s: no refusal of one line with '%s': exit status %d, %s%s", b->command, row + 2, r->status, r->out,
             r->err);
  } else {
    static const char *const FORMS[] = {"| ", "!| ", "= | ", "2| "};
    size_t k = 0;
    while (k < 4 && strncmp(row, FORMS[k], strlen(FORMS[k]))) k++;
    const bool screen = !strcmp(row, "screen"), figure = !strncmp(row, "shows ", 6);
    const Run *r = ask(b->command, b->input, k == 4 && !screen && !figure);
    if (r->status != b->status)
      failed("%s: exit status %d, not %d: %s", b->command, r->status, b->status, r->err);
    else if (screen)
      check_screen(b->command, r);
    else if (figure) {
      at = row + 6, answer = NULL;
      const double wanted = expression();
      if (!shows(r->out, wanted)) failed("%s: %s: %.10g is not there: %s", b->command, row, wanted, r->out);
    } else if (k == 4) {
      if (!(answer = r->json))
        failed("no JSON: %s", r->out);
      else
        check_figure(b->of ? path_of(b->of, row) : row);
    } else {
      char *text = replaced(row + strlen(FORMS[k]), "\\n", "\n");
      const char *in = k == 3 ? r->err : r->out, *found = strstr(in, text);
      if (k == 2 ? found != in : !found != (k == 1)) failed("%s: not so: %s", row, in);
      free(text);
    }
  }
  passed += failures == before;
}

/* A line of a statement in sim/SERVING.md: ... `COMMAND`: `PATH` | FIGURE UNIT | ... */
static void check_statement(char *row) {
  char *command = strchr(row, '`'), *path = strstr(row, "`: `"), figure[64];
  if (!path) return;
  *path = 0;
  const Run *r = ask(command + 1, "", true);
  const char *end = path + 4;
  const json_t *v = look(r->json, &end);
  if (json_is_string(v))
    snprintf(figure, sizeof figure, "%s ", json_string_value(v));
  else if (json_is_integer(v))
    snprintf(figure, sizeof figure, "%lld ", json_integer_value(v));
  else
    snprintf(figure, sizeof figure, "%.6g ", json_number_value(v));
  if (v && !strncmp(end, "` | ", 4) && !strncmp(end + 4, figure, strlen(figure)))
    passed++;
  else
    failed("%s says %s", path + 4, figure);
}

static char **rows;
static int first_row, end_row;
static struct {
  char name[16], value[512];
  const char *values;
} loops[LOOPS];
static int n_loops, n_set;

/* The row, with what its names stand for. */
static char *filled(const char *row) {
  char *out = strdup(row);
  for (int k = 0; k < n_loops; k++) {
    char *with = replaced(out, loops[k].name, loops[k].value);
    free(out), out = with;
  }
  return out;
}

/* Checks the block, once for each value of each loop before it: for NAME in A | B | C; $NAME stands for it. */
static void run_block(int loop) {
  if (loop < n_loops) {
    for (const char *values = loops[loop].values; values;) {
      const char *end = strstr(values, " | ");
      snprintf(loops[loop].value, sizeof loops->value, "%.*s", (int)(end ? end - values : (long)strlen(values)),
               values);
      run_block(loop + 1);
      values = end ? end + 3 : NULL;
    }
    return;
  }
  Block b = {.input = strdup("")};
  for (line = first_row + 1; line <= end_row; line++) {
    char *row = filled(rows[line - 1]), *more;
    if (!strncmp(row, "$ ", 2))
      b.command = strdup(row + 2);
    else if (*row == '<') { /* a line, or << FILE */
      FILE *file = row[1] == '<' ? fopen(row + 3, "r") : NULL;
      char *text = file ? text_of(file) : strdup(row + 1 + !!row[1]);
      if (b.rows || (row[1] == '<' && !file) || asprintf(&more, "%s%s%s", b.input, text, file ? "" : "\n") < 0)
        bad_line("stdin follows the command");
      free(b.input), free(text), b.input = more;
    } else if (!strncmp(row, "exit ", 5))
      b.status = atoi(row + 5);
    else if (!strncmp(row, "of ", 3))
      b.of = strdup(row + 3);
    else if (*row)
      check(&b, row);
    free(row);
  }
  line = first_row + 1;
  if (!b.rows) check(&b, "| "); /* it must still end well */
  free(b.command), free(b.input);
}

static bool ends_block(const char *row) {
  static const char *const BEGIN[] = {"$ ", "@ ", "for ", "let ", "set "};
  EACH (k, BEGIN)
    if (!strncmp(row, BEGIN[k], strlen(BEGIN[k]))) return true;
  return false;
}

static void run_table(const char *path) {
  FILE *f = fopen(table = path, "r");
  size_t room = 0;
  int n = 0;
  if (!scratch_folder(folder) || !f) bad_line("cannot be read");
  setenv("HOME", folder, 1);
  for (char *row = NULL; getline(&row, &room, f) >= 0; row = NULL, room = 0, n++) {
    char *note = *row == '<' ? NULL : strstr(row, "  # ");
    if (note || !strncmp(row, "# ", 2)) *(note ? note : row) = 0;
    for (size_t k = strlen(row); k && strchr("\n ", row[k - 1]) && strcmp(row, "< "); k--) row[k - 1] = 0;
    rows = realloc(rows, ((size_t)n + 1) * sizeof *rows);
    rows[n] = row;
  }
  const bool document = strstr(path, ".md") != NULL;
  for (int k = 0; k < n; k = end_row) {
    char *row = rows[k], *is = strchr(row, '=');
    line = end_row = k + 1;
    if (document)
      check_statement(row);
    else if (!strncmp(row, "needs ", 6)) { /* without that program the rest is left out */
      char *look_for;
      if (asprintf(&look_for, "command -v %s >/dev/null", row + 6) < 0 || system(look_for)) break;
    } else if (!strncmp(row, "$ ", 2)) {
      for (first_row = k; end_row < n && !ends_block(rows[end_row]);) end_row++;
      run_block(0);
      n_loops = n_set;
    } else if (!strncmp(row, "for ", 4) || !strncmp(row, "set ", 4)) { /* set NAME = TEXT: for all that follows */
      const bool set = *row == 's';
      const char *in = strstr(row, set ? " = " : " in ");
      if (n_loops == LOOPS || !in || (set && n_loops != n_set)) bad_line("for NAME in A | B | C, or set NAME = TEXT");
      snprintf(loops[n_loops].name, sizeof loops->name, "$%.*s", (int)(in - row - 4), row + 4);
      const char *values = strchr(in + 1, ' ') + 1;
      loops[n_loops].values = set ? filled(values) : values;
      snprintf(loops[n_loops].value, sizeof loops->value, "%s", loops[n_loops].values);
      n_loops++, n_set += set;
    } else if (!strncmp(row, "@ TMP/", 6)) {
      char *name = replaced(row + 2, "TMP", folder), *slash = strrchr(name, '/');
      *slash = 0, mkdir(name, 0755), *slash = '/';
      FILE *into = fopen(name, "w");
      if (!into) bad_line("%s cannot be written", name);
      for (; end_row < n && *rows[end_row] == '<'; end_row++) {
        char *text = filled(rows[end_row]);
        fprintf(into, "%s\n", text + (text[1] ? 2 : 1));
        free(text);
      }
      fclose(into), free(name);
    } else if (!strncmp(row, "let ", 4)) {
      if (n_lets == LETS || !is || !isupper((unsigned char)row[4])) bad_line("let Name = EXPRESSION");
      at = is + 1, answer = NULL;
      lets[n_lets].value = expression();
      snprintf(lets[n_lets++].name, sizeof lets->name, "%.*s", (int)strcspn(row + 4, " ="), row + 4);
    } else if (*row)
      bad_line("no command stands before '%s'", row);
  }
  finish();
}

/* ---- Tables side by side ---- */

static int wait_for_one(FILE *const *outs, const pid_t *pids, size_t n) {
  int status;
  const pid_t pid = wait(&status);
  for (size_t k = 0; k < n; k++)
    if (pids[k] == pid) {
      char buffer[4096];
      rewind(outs[k]);
      for (size_t got; (got = fread(buffer, 1, sizeof buffer, outs[k])) > 0;) fwrite(buffer, 1, got, stdout);
      fclose(outs[k]);
    }
  return status != 0;
}

int main(int argc, char **argv) {
  static glob_t tables;
  static pid_t *pids;
  static FILE **outs;
  for (int k = 1; k < argc; k++) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, strchr(argv[k], '/') ? "%s" : "tests/commands/%s.txt", argv[k]);
    glob(path, GLOB_NOCHECK | (k > 1 ? GLOB_APPEND : 0), NULL, &tables);
  }
  if (argc == 1 &&
      (glob("sim/SERVING.md", 0, NULL, &tables) || glob("tests/commands/*.txt", GLOB_APPEND, NULL, &tables)))
    return 2;
  json_t *schema = json_load_file("assets/schema.json", 0, NULL);
  forms = json_incref(json_object_get(schema, "$defs"));
  json_decref(schema);
  char *program = realpath(getenv("TILEWALK") ? getenv("TILEWALK") : "build/tilewalk", NULL);
  if (!program) return perror("tilewalk"), 2;
  setenv("TILEWALK", program, 1), setenv("TILEWALK_ASSETS", "assets", 0), setenv("LC_ALL", "C.UTF-8", 1);
  free(program);
  setenv("OMP_NUM_THREADS", "1", 0);
  static const char *const UNSET[] = {"COLUMNS",        "NO_COLOR",      "TILEWALK_STATE",
                                      "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"};
  EACH (k, UNSET) unsetenv(UNSET[k]);
  const char *jobs = getenv("TEST_JOBS");
  const long at_once = jobs ? atol(jobs) : sysconf(_SC_NPROCESSORS_ONLN);
  pids = calloc(tables.gl_pathc, sizeof *pids);
  outs = calloc(tables.gl_pathc, sizeof *outs);
  int bad = 0;
  for (size_t k = 0; k < tables.gl_pathc; k++) {
    if ((long)k >= at_once) bad |= wait_for_one(outs, pids, k);
    outs[k] = tmpfile();
    fflush(stdout);
    if (!outs[k] || (pids[k] = fork()) < 0) return perror("fork"), 2;
    if (pids[k] == 0) dup2(fileno(outs[k]), 1), run_table(tables.gl_pathv[k]);
  }
  for (size_t k = 0; k < tables.gl_pathc && (long)k < at_once; k++) bad |= wait_for_one(outs, pids, tables.gl_pathc);
  return bad;
}
