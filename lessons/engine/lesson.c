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

Status lesson_add_text(LessonReader *r, Piece piece, int line, LessonText *text) {
  *text = (LessonText){pool_add(r->pool, piece.text, piece.length), line};
  if (text->text) return STATUS_OK;
  return error_no_memory(r->error, "to read %s", r->file);
}

Status lesson_add_markdown(LessonReader *r, Piece piece, int line, LessonText *text) {
  const Status status = lesson_check_markdown(piece.text, piece.length, r->file, line, NULL, r->error);
  return status ? status : lesson_add_text(r, piece, line, text);
}

Status lesson_read_name(LessonReader *r, Piece piece, const char *what, int line, char *name) {
  bool good = piece.length > 0 && piece.length < LESSON_NAME_BYTES && ascii_is_alpha(piece.text[0]);
  for (size_t k = 0; good && k < piece.length; k++)
    good = ascii_is_alnum(piece.text[k]) || piece.text[k] == '-' || piece.text[k] == '_';
  if (!good)
    return LESSON_REFUSE(r, line, "'%s' is no %s; it must be a word of letters, digits and '-', at most %d long",
                         piece_quote(piece).text, what, LESSON_NAME_BYTES - 1);
  memcpy(name, piece.text, piece.length);
  name[piece.length] = '\0';
  return STATUS_OK;
}

static bool at_end(const LessonReader *r) { return r->rest.length == 0; }

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

/* Goes on behind the closing fence. `body`: what stands between. */
static Status read_fenced(LessonReader *r, const Fence *open, Piece *body) {
  const int began = r->line;
  body->text = r->rest.text;
  while (!at_end(r)) {
    const char *const here = r->rest.text;
    Piece line;
    const Status status = lesson_next_line(r, &line);
    if (status) return status;
    if (!closes(line, open)) continue;
    body->length = (size_t)(here - body->text);
    return STATUS_OK;
  }
  return LESSON_REFUSE(r, began, "the block that begins here has no closing %.*s", (int)(open->n < 8 ? open->n : 8),
                       open->mark == '`' ? "````````" : "~~~~~~~~");
}

/* ---- Blocks */

static Status add_block(LessonReader *r, LessonBlock block) {
  Lesson *l = r->lesson;
  const Status status = lesson_one_more(r, (void **)&l->blocks, &l->blocks_capacity, l->n_blocks, sizeof *l->blocks,
                                        LESSON_BLOCKS_MAX, "blocks", r->line);
  if (!status) l->blocks[l->n_blocks++] = block;
  return status;
}

/* Prose from `begin` to `end`, which began on `line`. Blank prose is no block. */
static Status add_prose(LessonReader *r, const char *begin, const char *end, int line) {
  const Piece all = {begin, (size_t)(end - begin)}, text = piece_trim(all);
  LessonBlock block = {.kind = LESSON_PROSE};
  if (text.length == 0) return STATUS_OK;
  const Status status = lesson_add_markdown(r, text, piece_line(all, text.text, line), &block.text);
  return status ? status : add_block(r, block);
}

/* The first line of a show is its keys, the rest its caption. */
static Status read_show(LessonReader *r, Piece body, int line, LessonBlock *block) {
  Piece keys, caption;
  piece_split(body, '\n', &keys, &caption);
  const Status status = lesson_add_text(r, keys, line, &block->text);
  return status || !caption.length ? status : lesson_add_text(r, caption, line + 1, &block->caption);
}

static const LessonKey BLOCKS[] = {{.name = "prose"}, {.name = "setup"}, {.name = "state"},   {.name = "show"},
                                   {.name = "task"},  {.name = "ask"},   {.name = "teacher"}, {0}};

/* The kind that the info string names; LESSON_PROSE: plain code. A near miss is an error. */
static Status block_kind(LessonReader *r, Piece word, LessonBlockKind *kind) {
  static const char *const CODE[] = {"",       "sh",   "bash", "text",    "lua",      "c",  "cpp",  "cuda",
                                     "python", "json", "csv",  "console", "markdown", "md", "diff", "make"};
  *kind = LESSON_PROSE;
  for (int k = 1; BLOCKS[k].name; k++)
    if (piece_is(word, BLOCKS[k].name)) *kind = (LessonBlockKind)k;
  if (*kind != LESSON_PROSE) return STATUS_OK;
  for (size_t k = 0; k < sizeof CODE / sizeof *CODE; k++)
    if (piece_is(word, CODE[k])) return STATUS_OK;
  const char *nearest = lesson_nearest(BLOCKS + 1, word);
  if (!nearest) return STATUS_OK;
  return LESSON_REFUSE(r, r->line, "there is no block '%s'; did you mean '%s'?", piece_quote(word).text, nearest);
}

static Status read_block(LessonReader *r, LessonBlockKind kind, const Fence *fence, Piece argument) {
  const int line = r->line;
  Piece body;
  Status status = read_fenced(r, fence, &body);
  if (status) return status;
  if (kind != LESSON_ASK && argument.length)
    return LESSON_REFUSE(r, line, "'%s' behind '%s' means nothing; only ask takes a word of its own",
                         piece_quote(argument).text, BLOCKS[kind].name);
  LessonBlock block = {.kind = kind};
  const Piece text = piece_trim(body);
  const int text_line = piece_line(body, text.text, line + 1);
  if (text.length == 0) return LESSON_REFUSE(r, line, "the block '%s' is empty", BLOCKS[kind].name);
  if (kind == LESSON_ASK)
    status = lesson_read_ask(r, argument, body, line, &block);
  else if (kind == LESSON_TASK)
    status = lesson_read_task(r, body, line, &block);
  else if (kind == LESSON_SHOW)
    status = read_show(r, text, text_line, &block);
  else
    status = (kind == LESSON_TEACHER ? lesson_add_markdown : lesson_add_text)(r, text, text_line, &block.text);
  return status ? status : add_block(r, block);
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
static Status read_header(LessonReader *r) {
  Lesson *l = r->lesson;
  Piece line = {"", 0};
  while (!at_end(r) && piece_trim(line).length == 0) {
    const Status status = lesson_next_line(r, &line);
    if (status) return status;
  }
  if (!piece_starts(line, "# ") || piece_after(line, 2).length == 0)
    return LESSON_REFUSE(r, r->line ? r->line : 1,
                         "the file does not begin with '# Title'; lessons/README.md shows a whole lesson");
  Status status = lesson_add_text(r, piece_after(line, 2), r->line, &l->title);
  bool is_blank = false;
  while (!status && !at_end(r)) {
    const LessonReader before = *r;
    status = lesson_next_line(r, &line);
    if (status) return status;
    const bool after_blank = is_blank;
    is_blank = piece_trim(line).length == 0;
    if (is_blank) continue;
    if (!after_blank && (*line.text == ' ' || *line.text == '\t'))
      return LESSON_REFUSE(r, r->line, "a line of the header cannot go on; write it on one line, of at most %d bytes",
                           LESSON_LINE_BYTES);
    if (!piece_starts(line, "- ")) {
      *r = before;
      break;
    }
    Piece key, value;
    if (!piece_split(piece_after(line, 2), ':', &key, &value))
      return LESSON_REFUSE(r, r->line, "'%s' is not of the form - key: value", piece_quote(key).text);
    status = lesson_take_key(r, HEADER, "a header; there are idea, minutes and draw", l, key, value, r->line);
  }
  if (status) return status;
  if (!l->idea.text) return LESSON_REFUSE(r, l->title.line, "the header has no '- idea: ...'");
  if (!l->minutes) return LESSON_REFUSE(r, l->title.line, "the header has no '- minutes: ...'");
  return STATUS_OK;
}

/* ---- The whole file */

/* Prose is collected until a fence that is a block, or a heading. */
static Status read_body(LessonReader *r) {
  const char *prose = r->rest.text;
  int prose_line = r->line + 1;
  while (!at_end(r)) {
    const char *const here = r->rest.text;
    Piece line;
    Status status = lesson_next_line(r, &line);
    if (status) return status;
    const Fence fence = fence_of(line);
    if (piece_starts(line, "## ")) {
      status = add_prose(r, prose, here, prose_line);
      prose = here;
      prose_line = r->line;
    } else if (fence.mark) {
      Piece body, argument = fence.info;
      const Piece word = piece_word(&argument);
      LessonBlockKind kind = LESSON_PROSE;
      if (!fence.indented) status = block_kind(r, word, &kind);
      if (status) return status;
      if (kind == LESSON_PROSE) {
        status = read_fenced(r, &fence, &body);
      } else {
        status = add_prose(r, prose, here, prose_line);
        if (!status) status = read_block(r, kind, &fence, argument);
        prose = r->rest.text;
        prose_line = r->line + 1;
      }
    }
    if (status) return status;
  }
  return add_prose(r, prose, r->rest.text, prose_line);
}

static void set_names(Lesson *l, const char *file) {
  const Quote shown = quote_text(path_base(file));
  snprintf(l->file, sizeof l->file, "%s", shown.text);
  snprintf(l->name, sizeof l->name, "%s", shown.text);
  const size_t length = strlen(l->name);
  if (length > 3 && strcmp(l->name + length - 3, ".md") == 0) l->name[length - 3] = '\0';
}

Status lesson_from_buffer(Lesson *lesson, const char *buffer, size_t length, const char *file, Error *error) {
  Lesson read = {.n_variants = 1};
  set_names(&read, file);
  LessonReader r = lesson_reader(read.file, &read.pool, buffer, length, error);
  r.lesson = &read;
  Status status = STATUS_OK;
  if (length > LESSON_FILE_BYTES)
    status = LESSON_REFUSE(&r, 1, "the file is longer than %d KiB, which no lesson needs", LESSON_FILE_BYTES / 1024);
  if (!status) status = read_header(&r);
  if (!status) status = read_body(&r);
  if (status) lesson_free(&read);
  *lesson = read;
  return status;
}

void lesson_free(Lesson *lesson) {
  pool_free(&lesson->pool);
  free(lesson->blocks);
  free(lesson->asks);
  free(lesson->tasks);
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
