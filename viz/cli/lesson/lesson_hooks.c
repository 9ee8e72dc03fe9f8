/* What lessons refer to: commands, states, links. Part of viz/cli/lesson/lesson_print.h. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "sim/base/path.h"
#include "lessons/engine/quantity.h"
#include "viz/cli/claims/articles.h"
#include "viz/cli/command.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/lesson/lesson_view.h"

static bool is_claimed(void *context, const char *number, const char *unit) {
  Claims claims = {0};
  bool found = false;
  (void)context;
  const char *sister = quantity_sister(unit);
  const bool is_read = check_read(&claims, NULL) == STATUS_OK;
  for (size_t k = 0; is_read && k < claims.n_parts && !found; k++) {
    const Claimed *c = &claims.parts[k].claimed;
    found = strcmp(c->text, number) == 0 && (strcmp(c->unit, unit) == 0 || (sister && strcmp(c->unit, sister) == 0));
  }
  claims_free(&claims);
  return found;
}

static Status check_link(void *context, const char *target, size_t length, Error *error) {
  const LessonLintContext *c = context;
  char link[1024];
  if (length >= sizeof link) return error_refuse(error, "a link is longer than %zu bytes", sizeof link - 1);
  snprintf(link, sizeof link, "%.*s", (int)length, target);
  if (strncmp(link, "https://", 8) == 0 || strncmp(link, "http://", 7) == 0) return STATUS_OK;
  char *anchor = strchr(link, '#');
  if (anchor) *anchor++ = '\0';
  if (strchr(link, ':') || link[0] == '/')
    return error_refuse(error, "the link '%s' is neither a web address nor a file beside the lesson",
                        quote_text(link).text);
  char *buffer = NULL;
  size_t bytes = 0;
  Error inner = {0};
  Status status =
      file_read_beside(c->path, *link ? link : path_base(c->path), (size_t)8 << 20, &buffer, &bytes, &inner);
  /* a lesson of one's own refers to the glossary that comes with Tilewalk */
  if (status == STATUS_BAD_REQUEST && strcmp(link, "glossary.md") == 0)
    status = assets_read("lessons/course/glossary.md", (size_t)8 << 20, &buffer, &bytes, &inner);
  if (status == STATUS_NO_MEMORY) return error_pass(error, &inner);
  if (status)
    return error_refuse(error, "the link '%s' leads nowhere: there is no such file in the lesson's folder",
                        quote_text(link).text);
  const bool found = !anchor || lesson_find_anchor(buffer, anchor);
  free(buffer);
  if (found) return STATUS_OK;
  return error_refuse(error, "the link '%s#%s' leads nowhere: no heading has that name", quote_text(link).text,
                      quote_text(anchor).text);
}

static Status picture(void *context, const char *state, const LessonShow *show, char **text) {
  const LessonLintContext *c = context;
  size_t length = 0;
  Io io = *c->io;
  Error error = {0};
  *text = NULL;
  io.out = open_memstream(text, &length);
  if (!io.out) return STATUS_NO_MEMORY;
  io.style = (TextStyle){.width = c->io->style.width};
  Status status = lesson_print_show(state, show, &io, &error);
  if (fclose(io.out) != 0) status = STATUS_NO_MEMORY;
  return status;
}

static void print_finding(void *context, const char *message) {
  text_say(((LessonLintContext *)context)->io->out, "%s\n", message);
}

LessonHooks lesson_hooks(LessonLintContext *context) {
  return (LessonHooks){.context = context,
                       .check_link = check_link,
                       .picture = picture,
                       .is_claimed = is_claimed,
                       .look_at = lesson_look,
                       .finding = print_finding};
}
