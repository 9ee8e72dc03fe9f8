/* The lessons and how far one is in each. */
#include <stdio.h>

#include "lessons/engine/lesson_progress.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/cli/reply.h"

static void standing_text(const LessonStanding *s, const Lesson *lesson, char *text, size_t size) {
  if (s->is_finished)
    snprintf(text, size, "done, %d/%d", s->n_right, lesson_n_counted(lesson));
  else if (s->has_begun)
    snprintf(text, size, "%d of %zu", s->n_asked, lesson->n_asks);
  else
    snprintf(text, size, "-");
}

Status lesson_list(const OutputRequest *output, Io *io, Error *error) {
  LessonFiles *files = NULL;
  LessonProgress progress = {0};
  Document d = reply_new(output);
  put_values(&d, "tilewalk-lessons:n", 1);
  Table *t = put_table(&d, DOCUMENT_ALL, "lessons",
                       "lesson=name|title~=title|=idea|min>;minutes=minutes|=questions|=begun|=finished|=answered|"
                       "=right|progress");
  Status status = lesson_files(&files, error);
  if (!status) status = lesson_progress_open(&progress, io->err, error);
  const char *next = NULL;
  for (int k = 0; !status && k < files->n; k++) {
    Lesson lesson;
    char path[ASSETS_PATH_BYTES], standing[64];
    Error inner = {0};
    const Status loaded = lesson_load(files->names[k], &lesson, path, &inner);
    if (loaded == STATUS_NO_MEMORY) status = error_set(error, loaded, "%s", inner.message);
    if (status) break;
    if (loaded) { /* the others are still worth listing */
      if (d.form == DOCUMENT_JSON) continue;
      put_cells(t, "s@s", files->names[k], ROLE_BAD, inner.message);
      table_rule(t);
      continue;
    }
    const LessonStanding s = lesson_progress_of(&progress, lesson.name);
    standing_text(&s, &lesson, standing, sizeof standing);
    if (!next && !s.is_finished) next = files->names[k];
    put_cells(t, "*sssnubbnn@s", lesson.name, lesson.title.text, lesson.idea.text, lesson.minutes,
              (uint64_t)lesson.n_asks, s.has_begun, s.is_finished, s.n_asked, s.n_right,
              s.is_finished ? ROLE_GOOD : ROLE_PLAIN, standing);
    lesson_free(&lesson);
  }
  if (next) {
    document_gap(&d);
    document_line(&d, ROLE_PLAIN, "Next: tilewalk lesson %s", next);
  }
  status = reply_print(&d, status, io, error);
  lesson_progress_close(&progress);
  free(files);
  return status;
}
