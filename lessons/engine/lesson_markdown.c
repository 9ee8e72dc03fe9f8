/* Checks of prose, with md4c. Part of lessons/engine/lesson.h. */
#include <md4c.h>

#include "lessons/engine/lesson_read.h"

typedef struct {
  const char *text;
  size_t length;
  const char *file, *last; /* last: the furthest place that a callback named */
  int line, depth;
  const LessonLinks *links;
  const char *refusal; /* why parsing was stopped; NULL: it was not */
} Check;

static int line_of(const Check *c) { return piece_line((Piece){c->text, c->length}, c->last, c->line); }

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context) {
  Check *c = context;
  (void)detail;
  if (type == MD_BLOCK_HTML) c->refusal = "raw HTML cannot be shown in a terminal; write Markdown";
  if (type == MD_BLOCK_QUOTE || type == MD_BLOCK_UL || type == MD_BLOCK_OL) c->depth++;
  if (c->depth > LESSON_DEPTH_MAX) c->refusal = "lists and quotes are nested too deeply";
  return c->refusal ? -1 : 0; /* md4c goes on after positive numbers */
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context) {
  Check *c = context;
  (void)detail;
  if (type == MD_BLOCK_QUOTE || type == MD_BLOCK_UL || type == MD_BLOCK_OL) c->depth--;
  return 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context) {
  Check *c = context;
  const MD_ATTRIBUTE *target = type == MD_SPAN_A     ? &((MD_SPAN_A_DETAIL *)detail)->href
                               : type == MD_SPAN_IMG ? &((MD_SPAN_IMG_DETAIL *)detail)->src
                                                     : NULL;
  if (target && c->links) c->links->link(c->links->context, target->text ? target->text : "", target->size, line_of(c));
  return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context) {
  (void)type;
  (void)detail;
  (void)context;
  return 0;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *at, MD_SIZE size, void *context) {
  Check *c = context;
  (void)size;
  if (at >= c->text && at < c->text + c->length && at > c->last) c->last = at;
  if (type == MD_TEXT_HTML)
    c->refusal = "raw HTML cannot be shown in a terminal; write Markdown, and \\< for a plain <";
  return c->refusal ? -1 : 0; /* md4c goes on after positive numbers */
}

/* md4c's own work grows with the square of the depth for some inputs, so depth is bounded by
 * looking at the beginnings of lines before it sees them. */
static bool is_deep(const char *at, size_t length) {
  size_t marks = 0;
  for (size_t k = 0; k < length && at[k] != '\n'; k++) {
    if (strchr(">-+*", at[k]))
      marks++;
    else if (at[k] != ' ' && at[k] != '\t')
      return false;
    if (marks > 4 * LESSON_DEPTH_MAX && memchr(at, '>', k)) return true;
  }
  return false;
}

Status lesson_check_markdown(const char *prose, size_t length, const char *file, int line, const LessonLinks *links,
                             Error *error) {
  Check c = {.text = prose, .length = length, .file = file, .last = prose, .line = line, .links = links};
  for (size_t k = 0; k < length; k++) {
    if (k > 0 && prose[k - 1] != '\n') continue;
    c.last = prose + k;
    if (is_deep(prose + k, length - k))
      return keyfile_refuse(file, line_of(&c), error, "lists and quotes are nested too deeply");
  }
  c.last = prose;
  const MD_PARSER parser = {.flags = MD_FLAG_TABLES,
                            .enter_block = enter_block,
                            .leave_block = leave_block,
                            .enter_span = enter_span,
                            .leave_span = leave_span,
                            .text = text};
  if (md_parse(prose, (MD_SIZE)length, &parser, &c) == 0) return STATUS_OK;
  if (!c.refusal) return error_no_memory(error, "to read the prose of %s", file);
  return keyfile_refuse(file, line_of(&c), error, "%s", c.refusal);
}
