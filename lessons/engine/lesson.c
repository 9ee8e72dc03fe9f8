#include "lessons/engine/lesson.h"

#include <stdio.h>
#include <stdlib.h>

#include "lessons/engine/lesson_read.h"
#include "sim/base/path.h"
#include "sim/base/ascii.h"

/* ---- Texts */

void lesson_one_line(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    if (!ascii_is_space(*from))
      *to++ = *from;
    else if (to > text && to[-1] != ' ')
      *to++ = ' ';
  }
  while (to > text && to[-1] == ' ') to--;
  *to = '\0';
}

void lesson_plain_numbers(char *text) {
  char *to = text;
  size_t digits = 0; /* before, of a group */
  for (const char *p = text; *p; p++) {
    const bool groups = *p == ',' && digits >= 1 && digits <= 3 && strspn(p + 1, "0123456789") == 3;
    digits = ascii_is_digit(*p) ? digits + 1 : 0;
    if (!groups) *to++ = *p;
  }
  *to = '\0';
}

LessonText lesson_add_text(LessonReader *r, Piece piece, int line) {
  const LessonText text = {pool_add(r->pool, piece.text, piece.length), line};
  if (!text.text) error_no_memory(r->error, "to read %s", r->file);
  return text;
}

LessonText lesson_add_markdown(LessonReader *r, Piece piece, int line) {
  lesson_check_markdown(piece.text, piece.length, r->file, line, NULL, r->error);
  return lesson_add_text(r, piece, line);
}

void lesson_read_name(LessonReader *r, Piece piece, const char *what, int line, char *name) {
  bool good = piece.length > 0 && piece.length < LESSON_NAME_BYTES && ascii_is_alpha(piece.text[0]);
  for (size_t k = 0; good && k < piece.length; k++)
    good = ascii_is_alnum(piece.text[k]) || piece.text[k] == '-' || piece.text[k] == '_';
  if (good)
    snprintf(name, LESSON_NAME_BYTES, "%.*s", (int)piece.length, piece.text);
  else
    LESSON_REFUSE(r, line, "'%s' is no %s; it must be a word of letters, digits and '-', at most %d long",
                  piece_quote(piece).text, what, LESSON_NAME_BYTES - 1);
}

/* ---- Fences */

typedef struct {
  char mark; /* '`' or '~'; 0: no fence */
  size_t n;
  Piece info;
  bool indented;
} Fence;

static Fence fence_of(Piece line) {
  size_t indent = 0;
  while (indent < line.length && indent < 3 && line.text[indent] == ' ') indent++;
  const Piece p = {line.text + indent, line.length - indent};
  Fence f = {0};
  if (p.length < 3 || (p.text[0] != '`' && p.text[0] != '~')) return f;
  while (f.n < p.length && p.text[f.n] == p.text[0]) f.n++;
  if (f.n < 3) return (Fence){0};
  f.mark = p.text[0];
  f.info = piece_after(p, f.n);
  f.indented = indent > 0;
  if (f.mark == '`' && memchr(f.info.text, '`', f.info.length)) return (Fence){0}; /* inline code */
  return f;
}

static bool closes(Piece line, const Fence *open) {
  const Fence f = fence_of(line);
  return f.mark == open->mark && f.n >= open->n && f.info.length == 0;
}

/* What stands before the closing fence; goes on behind it. */
static Piece read_fenced(LessonReader *r, const Fence *open) {
  const int began = r->line;
  const char *const begin = r->rest.text;
  for (Piece line; lesson_next_line(r, &line);)
    if (closes(line, open)) return (Piece){begin, (size_t)(line.text - begin)};
  LESSON_REFUSE(r, began, "the block that begins here has no closing %.*s", (int)(open->n < 8 ? open->n : 8),
                open->mark == '`' ? "````````" : "~~~~~~~~");
  return (Piece){begin, 0};
}

/* ---- Blocks */

static void add_block(LessonReader *r, LessonBlock block) {
  Lesson *l = r->lesson;
  if (lesson_one_more(r, l->n_blocks, LESSON_BLOCKS_MAX, "blocks", r->line)) l->blocks[l->n_blocks++] = block;
}

/* Prose from `begin` to `end`, which began on `line`. Blank prose is no block. */
static void add_prose(LessonReader *r, const char *begin, const char *end, int line) {
  const Piece all = {begin, (size_t)(end - begin)}, text = piece_trim(all);
  if (text.length)
    add_block(
        r, (LessonBlock){.kind = LESSON_PROSE, .text = lesson_add_markdown(r, text, piece_line(all, text.text, line))});
}

static const LessonKey BLOCKS[] = {{.name = "prose"}, {.name = "setup"}, {.name = "state"},   {.name = "show"},
                                   {.name = "task"},  {.name = "ask"},   {.name = "teacher"}, {0}};

/* The kind that the info string names; LESSON_PROSE: plain code. A near miss is an error. */
static LessonBlockKind block_kind(LessonReader *r, Piece word) {
  static const char *const CODE[] = {"",       "sh",   "bash", "text",    "lua",      "c",  "cpp",  "cuda",
                                     "python", "json", "csv",  "console", "markdown", "md", "diff", "make"};
  for (int k = 1; BLOCKS[k].name; k++)
    if (piece_is(word, BLOCKS[k].name)) return (LessonBlockKind)k;
  for (size_t k = 0; k < sizeof CODE / sizeof *CODE; k++)
    if (piece_is(word, CODE[k])) return LESSON_PROSE;
  const char *nearest = lesson_nearest(BLOCKS + 1, word);
  if (nearest) LESSON_REFUSE(r, r->line, "there is no block '%s'; did you mean '%s'?", piece_quote(word).text, nearest);
  return LESSON_PROSE;
}

static void read_block(LessonReader *r, LessonBlockKind kind, const Fence *fence, Piece argument) {
  const int line = r->line;
  const Piece body = read_fenced(r, fence), text = piece_trim(body);
  const int text_line = piece_line(body, text.text, line + 1);
  LessonBlock block = {.kind = kind};
  Piece keys, caption;
  if (kind != LESSON_ASK && argument.length)
    LESSON_REFUSE(r, line, "'%s' behind '%s' means nothing; only ask takes a word of its own",
                  piece_quote(argument).text, BLOCKS[kind].name);
  else if (text.length == 0)
    LESSON_REFUSE(r, line, "the block '%s' is empty", BLOCKS[kind].name);
  else if (kind == LESSON_ASK)
    lesson_read_ask(r, argument, body, line, &block);
  else if (kind == LESSON_TASK)
    lesson_read_task(r, body, line, &block);
  else if (kind == LESSON_SHOW && piece_split(text, '\n', &keys, &caption)) {
    block.text = lesson_add_text(r, keys, text_line);
    block.caption = lesson_add_text(r, caption, text_line + 1);
  } else
    block.text = (kind == LESSON_TEACHER ? lesson_add_markdown : lesson_add_text)(r, text, text_line);
  add_block(r, block);
}

/* ---- The header */

static Status read_minutes(LessonReader *r, void *target, Piece value, int line) {
  Lesson *l = target;
  int minutes = 0;
  for (size_t k = 0; k < value.length && minutes <= 60; k++)
    minutes = ascii_is_digit(value.text[k]) ? 10 * minutes + (value.text[k] - '0') : 100;
  if (l->minutes) return LESSON_REFUSE(r, line, "'minutes' is given twice");
  if (minutes < 1 || minutes > 60)
    return LESSON_REFUSE(r, line, "minutes is '%s'; it must be a whole number from 1 to 60", piece_quote(value).text);
  l->minutes = minutes;
  return STATUS_OK;
}

static Status read_draw(LessonReader *r, void *target, Piece value, int line) {
  Lesson *l = target;
  return lesson_read_draw(r, value, line, l->draw, &l->n_draws);
}

static const LessonKey HEADER[] = {
    {"idea", LESSON_ONE(Lesson, idea)}, {"minutes", .read = read_minutes}, {"draw", .read = read_draw}, {0}};

/* "# Title", blank lines, "- key: value" lines, up to the first line that is neither. */
static void read_header(LessonReader *r) {
  Lesson *l = r->lesson;
  LessonReader before;
  Piece line = {"", 0}, key, value;
  bool is_blank = false;
  while (piece_trim(line).length == 0 && lesson_next_line(r, &line)) continue;
  if (!piece_starts(line, "# ") || piece_after(line, 2).length == 0)
    LESSON_REFUSE(r, r->line ? r->line : 1,
                  "the file does not begin with '# Title'; lessons/README.md shows a whole lesson");
  else
    l->title = lesson_add_text(r, piece_after(line, 2), r->line);
  for (before = *r; lesson_next_line(r, &line); before = *r) {
    const bool after_blank = is_blank;
    is_blank = piece_trim(line).length == 0;
    if (is_blank) continue;
    if (!after_blank && (*line.text == ' ' || *line.text == '\t'))
      LESSON_REFUSE(r, r->line, "a line of the header cannot go on; write it on one line, of at most %d bytes",
                    LESSON_LINE_BYTES);
    if (!piece_starts(line, "- ")) break;
    if (piece_split(piece_after(line, 2), ':', &key, &value))
      lesson_take_key(r, HEADER, "a header; there are idea, minutes and draw", l, key, value, r->line);
    else
      LESSON_REFUSE(r, r->line, "'%s' is not of the form - key: value", piece_quote(key).text);
  }
  *r = before;
  if (!l->idea.text) LESSON_REFUSE(r, l->title.line, "the header has no '- idea: ...'");
  if (!l->minutes) LESSON_REFUSE(r, l->title.line, "the header has no '- minutes: ...'");
}

/* ---- The whole file */

/* Prose is collected until a fence that is a block, or a heading. */
static void read_body(LessonReader *r) {
  const char *prose = r->rest.text;
  int prose_line = r->line + 1;
  for (Piece line; lesson_next_line(r, &line);) {
    const Fence fence = fence_of(line);
    const bool is_heading = piece_starts(line, "## ");
    LessonBlockKind kind = LESSON_PROSE;
    Piece argument = fence.info;
    if (fence.mark && !fence.indented) kind = block_kind(r, piece_word(&argument));
    if (fence.mark && kind == LESSON_PROSE) read_fenced(r, &fence);
    if (!is_heading && kind == LESSON_PROSE) continue;
    add_prose(r, prose, line.text, prose_line);
    if (!is_heading) read_block(r, kind, &fence, argument);
    prose = is_heading ? line.text : r->rest.text;
    prose_line = r->line + !is_heading;
  }
  add_prose(r, prose, r->rest.text, prose_line);
}

static void set_names(Lesson *l, const char *file) {
  const Quote shown = quote_text(path_base(file));
  snprintf(l->file, sizeof l->file, "%s", shown.text);
  snprintf(l->name, sizeof l->name, "%s", shown.text);
  const size_t length = strlen(l->name);
  if (length > 3 && strcmp(l->name + length - 3, ".md") == 0) l->name[length - 3] = '\0';
}

Status lesson_from_buffer(Lesson *lesson, const char *buffer, size_t length, const char *file, Error *error) {
  struct {
    LessonBlock blocks[LESSON_BLOCKS_MAX];
    LessonAsk asks[LESSON_ASKS_MAX];
    LessonTask tasks[LESSON_TASKS_MAX];
  } *room = calloc(1, sizeof *room);
  Lesson read = {.n_variants = 1, .blocks = (LessonBlock *)room};
  Error own = {0};
  set_names(&read, file);
  LessonReader r = lesson_reader(read.file, &read.pool, buffer, length, &own);
  r.lesson = &read;
  if (room)
    read.asks = room->asks, read.tasks = room->tasks;
  else
    error_no_memory(&own, "to read %s", read.file);
  if (length > LESSON_FILE_BYTES)
    LESSON_REFUSE(&r, 1, "the file is longer than %d KiB, which no lesson needs", LESSON_FILE_BYTES / 1024);
  read_header(&r);
  read_body(&r);
  if (own.status) lesson_free(&read);
  *lesson = read;
  return error_pass(error, &own);
}

void lesson_free(Lesson *lesson) {
  pool_free(&lesson->pool);
  free(lesson->blocks); /* with all that lies behind them */
  *lesson = (Lesson){0};
}

size_t lesson_block_of(const Lesson *lesson, int ask) {
  for (size_t k = 0; k < lesson->n_blocks; k++)
    if (lesson->blocks[k].kind == LESSON_ASK && lesson->blocks[k].ask == ask) return k;
  return LESSON_BLOCKS_MAX;
}

int lesson_find_ask(const Lesson *lesson, const char *id) {
  for (size_t k = 0; k < lesson->n_asks; k++)
    if (strcmp(lesson->asks[k].id, id) == 0) return (int)k;
  return -1;
}

int lesson_n_counted(const Lesson *lesson) {
  int n = 0;
  for (size_t k = 0; k < lesson->n_asks; k++) n += !lesson->asks[k].is_prediction;
  return n;
}
