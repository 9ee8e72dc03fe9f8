#include "lessons/engine/lesson_page.h"

#include <stdlib.h>

#include "sim/base/text_add.h"

typedef struct {
  LessonPage *page;
  LessonSession *session;
  size_t block;
} Writer;

static void put(Writer *w, LessonPart part, const char *words, const char *text) {
  LessonPage *p = w->page;
  void *parts = p->parts;
  const bool fits = grow_array(&parts, &p->capacity, p->n + 1, sizeof *p->parts);
  p->parts = parts;
  part.block = w->block;
  part.words = pool_add(&p->pool, words, strlen(words));
  part.text = pool_add(&p->pool, text, strlen(text));
  if (fits && part.words && part.text)
    p->parts[p->n++] = part;
  else
    error_no_memory(&w->session->error, "for the page");
}

#define PUT(w, words, text, ...) put(w, (LessonPart){__VA_ARGS__}, words, text)

static const char *fill(Writer *w, LessonText text) {
  return lesson_session_fill(w->session, text, w->page->filled, sizeof w->page->filled);
}

/* ---- Questions ------------------------------------------------------------------------------------------- */

static void put_hints(Writer *w, const LessonHints *hints, int n) {
  char words[48];
  for (int k = 0; k < hints->n; k++) {
    snprintf(words, sizeof words, "Hint %d of %d.", k + 1, n);
    PUT(w, words, hints->text[k], .kind = PART_HINT, .tone = TONE_WARN, .number = k, .at = hints->at[k]);
  }
}

static void put_hint_button(Writer *w) {
  if (lesson_session_hints_left(w->session) > 0) PUT(w, "", "Hint", .kind = PART_BUTTON, .act = ACT_HINT);
}

static void put_verdict(Writer *w, const LessonAnswer *a) {
  static const char *const WORDS[LESSON_VERDICT_COUNT] = {"Right.", "Nearly.", "Not quite.", "Not yet.", ""};
  static const LessonTone TONES[LESSON_VERDICT_COUNT] = {TONE_GOOD, TONE_WARN, TONE_BAD, TONE_BAD, TONE_WARN};
  if (a->has_verdict)
    PUT(w, WORDS[a->verdict], a->said, .kind = PART_VERDICT, .tone = TONES[a->verdict], .at = a->said_at);
}

static void put_choices(Writer *w, const LessonQuestion *q, const LessonAnswer *a, LessonKind kind, bool open) {
  for (int k = 0; k < q->n_choices; k++) {
    const bool is_settled = a->is_resolved && !a->is_skipped, is_choice = kind == LESSON_CHOICE;
    LessonPart part = {.kind = PART_OPTION, .ask = kind, .act = open ? ACT_CHOOSE : ACT_NONE, .number = k};
    for (int at = 0; kind == LESSON_ORDER && at < a->n_order; at++)
      if (a->order[at] == k) part.place = at + 1;
    if (is_choice && is_settled && !a->is_from_before && *a->typed && strcmp(a->typed, q->choice[k]) == 0)
      part.look = LOOK_TAKEN; /* of a prediction */
    else if (is_choice && a->tried & 1u << k)
      part.look = LOOK_WRONG;
    else if (is_choice && is_settled && a->is_right && k == q->right)
      part.look = LOOK_RIGHT;
    else if (is_choice && !open)
      part.look = LOOK_OFF;
    put(w, part, (const char[]){(char)('a' + k), '\0'}, q->choice[k]);
  }
}

static void put_field(Writer *w, const LessonAsk *ask, const LessonQuestion *q, const LessonAnswer *a) {
  const LessonSession *s = w->session;
  if (ask->kind == LESSON_WORK)
    PUT(w, q->work.file, s->written && s->written_for == q->ask ? s->written : q->work.start, .kind = PART_FIELD,
        .ask = LESSON_WORK, .act = ACT_TYPE, .number = q->ask);
  else
    PUT(w, ask->unit.name, a->typed, .kind = PART_FIELD, .ask = ask->kind, .act = ACT_TYPE,
        .number = ask->unit.dimension == ANSWER_PLAIN);
}

static void put_open(Writer *w, const LessonAsk *ask, const LessonQuestion *q, const LessonAnswer *a) {
  put_field(w, ask, q, a);
  if (ask->kind != LESSON_CHOICE)
    PUT(w, "", "Check", .kind = PART_BUTTON, .act = ACT_CHECK, .ask = ask->kind,
        .look = ask->kind != LESSON_ORDER || a->n_order == q->n_choices ? LOOK_MAIN : LOOK_OFF);
  put_hint_button(w);
  put_verdict(w, a);
  put_hints(w, &a->hints, ask->kind == LESSON_WORK ? q->work.n_hints : ask->n_hints);
}

/* A question that is settled: what was said, and the answer. */
static void put_settled(Writer *w, const LessonAsk *ask, const LessonQuestion *q, const LessonAnswer *a) {
  char words[LESSON_OPTION_BYTES + 64];
  if (ask->is_prediction) {
    PUT(w, "You predict", a->is_from_before ? "" : a->typed, .kind = PART_PREDICTED, .ask = ask->kind,
        .at = a->resolved_at);
  } else if (a->is_right && !a->is_from_before) {
    PUT(w, "Your answer", a->typed, .kind = PART_ANSWERED, .ask = ask->kind);
    put_verdict(w, a);
  } else {
    const char *begins = a->is_right                ? "You found it:"
                         : ask->kind == LESSON_WORK ? "One that passes:"
                                                    : "The answer is";
    snprintf(words, sizeof words, "%s %s", begins, q->answer);
    PUT(w, words, a->explained, .kind = PART_ANSWER, .tone = a->is_right ? TONE_GOOD : TONE_WARN, .at = a->resolved_at);
    if (ask->kind == LESSON_WORK) PUT(w, "", q->work.reference, .kind = PART_CODE, .at = a->resolved_at);
  }
}

static void put_ask(Writer *w, int index) {
  const LessonSession *s = w->session;
  const LessonAsk *ask = &s->lesson.asks[index];
  const LessonQuestion *q = &s->questions[index];
  const LessonAnswer *a = &s->answers[index];
  const bool open = lesson_session_ask(s) == index;
  char words[64];
  snprintf(words, sizeof words, "%s %d of %zu", ask->is_prediction ? "Predict," : "Question", index + 1,
           s->lesson.n_asks);
  PUT(w, "", words, .kind = PART_HEADING, .tone = TONE_ACCENT);
  if (!a->is_asked) return;
  PUT(w, "", q->prompt, .kind = PART_PROMPT);
  put_choices(w, q, a, ask->kind, open);
  if (open)
    put_open(w, ask, q, a);
  else
    put_settled(w, ask, q, a);
}

/* ---- Shows and tasks ------------------------------------------------------------------------------------- */

static void put_reveal(Writer *w, int ask) {
  const LessonAnswer *a = &w->session->answers[ask];
  char words[LESSON_OPTION_BYTES + 64], said[2 * LESSON_MESSAGE_BYTES + 4];
  const char *first = a->is_right || a->verdict == LESSON_DIAGNOSED ? a->said : "",
             *then = a->is_right ? "" : a->explained;
  snprintf(words, sizeof words, "%s %s",
           a->is_right ? "As you predicted:" : "The answer:", w->session->questions[ask].answer);
  snprintf(said, sizeof said, "%s%s%s", first, *first && *then ? "\n" : "", then);
  PUT(w, words, said, .kind = PART_REVEAL, .tone = a->is_right ? TONE_GOOD : TONE_WARN, .number = ask,
      .at = a->shown_at);
}

static void put_show(Writer *w) {
  LessonSession *s = w->session;
  const LessonBlock *b = &s->lesson.blocks[w->block];
  LessonShow show;
  if (lesson_run_show(&s->run, b, &show, &s->error)) return;
  PUT(w, "", "", .kind = PART_FIGURE);
  if (b->caption.text) PUT(w, "", fill(w, b->caption), .kind = PART_PROSE);
  if (s->plays != w->block && show.scene != SCENE_BANK)
    PUT(w, "", s->is_shown[w->block] ? "▶ Again" : "▶ Play", .kind = PART_BUTTON, .act = ACT_PLAY,
        .number = (int)w->block);
  const int ask = lesson_session_prediction(s, w->block);
  if (ask >= 0 && s->is_shown[w->block] && s->answers[ask].is_asked) put_reveal(w, ask);
}

static void put_task(Writer *w, const LessonBlock *b) {
  const LessonSession *s = w->session;
  const LessonTask *task = &s->lesson.tasks[b->task];
  const LessonDeed *d = &s->deeds[b->task];
  char words[LESSON_STATE_BYTES + 16];
  PUT(w, "", "Try it", .kind = PART_HEADING, .tone = TONE_ACCENT);
  PUT(w, "", fill(w, b->text), .kind = PART_PROSE);
  if (!task->until.text) return;
  if (!d->is_done) {
    PUT(w, "○ To do,",
        "in the viewer beside this page. Return there takes a change such as d=32. It is checked as you go.",
        .kind = PART_TO_DO, .tone = TONE_ACCENT);
    put_hint_button(w);
    put_hints(w, &d->hints, task->n_hints);
    return;
  }
  snprintf(words, sizeof words, d->is_skipped ? "Such as: %s" : "Done.", d->solution);
  PUT(w, words, d->explained, .kind = d->is_skipped ? PART_ANSWER : PART_VERDICT,
      .tone = d->is_skipped ? TONE_WARN : TONE_GOOD, .at = d->done_at);
}

/* ---- The page -------------------------------------------------------------------------------------------- */

static void put_block(Writer *w) {
  const LessonBlock *b = &w->session->lesson.blocks[w->block];
  switch (b->kind) {
  case LESSON_PROSE: PUT(w, "", fill(w, b->text), .kind = PART_PROSE); break;
  case LESSON_SHOW: put_show(w); break;
  case LESSON_ASK: put_ask(w, b->ask); break;
  case LESSON_TASK: put_task(w, b); break;
  default: break;
  }
}

/* Adds the questions of the lesson that are not known: `tilewalk lesson practice` asks them first. */
static void put_weak(const LessonSession *s, char *text, size_t size) {
  char skill[PRACTICE_NAME_BYTES];
  size_t n = 0;
  for (size_t a = 0; a < s->lesson.n_asks; a++) {
    if (!lesson_skill(&s->lesson, (int)a, skill)) continue;
    const PracticeSkill known = lesson_progress_skill(&s->progress, skill);
    if (known.box > 0 || known.n_asked == 0 || strlen(text) + sizeof skill + 32 > size) continue;
    const char *before = n++ ? ", " : *text ? " To practise: " : "To practise: ";
    text_add(text, size, "%s%s", before, skill);
  }
  if (n) text_add(text, size, ".");
}

void lesson_page_make(LessonPage *page, LessonSession *s) {
  Writer w = {.page = page, .session = s, .block = s->page};
  const size_t end = lesson_session_page_end(s);
  page->n = page->open = 0;
  pool_free(&page->pool);
  if (s->page == 0) {
    PUT(&w, "", s->lesson.title.text, .kind = PART_TITLE);
    PUT(&w, "", s->lesson.idea.text, .kind = PART_IDEA);
  }
  for (; w.block < end && w.block < s->lesson.n_blocks && !s->error.status; w.block++) {
    if (w.block == s->at || w.block + 1 == end) page->open = page->n;
    put_block(&w);
  }
  if (s->error.status || !lesson_session_is_finished(s) || end != s->lesson.n_blocks) return;
  char words[64], first[LESSON_STATE_BYTES] = "";
  const LessonStanding standing = lesson_progress_of(&s->progress, s->lesson.name);
  snprintf(words, sizeof words, "%d of %d", standing.n_right, lesson_n_counted(&s->lesson));
  if (standing.n_right) snprintf(first, sizeof first, "At the first try, without a hint: %d.", standing.n_first);
  put_weak(s, first, sizeof first);
  PUT(&w, words, first, .kind = PART_END, .tone = TONE_GOOD);
}

void lesson_page_free(LessonPage *page) {
  pool_free(&page->pool);
  free(page->parts);
  memset(page, 0, sizeof *page);
}
