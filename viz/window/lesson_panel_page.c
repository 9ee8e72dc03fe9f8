#include "viz/window/lesson_panel.h"

#include <stdio.h>
#include <string.h>

#include "viz/text/warp_picture.h"

/* A text of the lesson, filled in; "" and the error kept when that fails. */
static const char *fill(LessonPanel *p, LessonText text) {
  LessonSession *s = &p->session;
  Error error = {0};
  p->text[0] = '\0';
  lesson_run_refill(&s->run);
  if (text.offset && !s->error.status && lesson_run_fill(&s->run, text, p->text, sizeof p->text, &error)) {
    s->error = error;
    p->text[0] = '\0';
  }
  return p->text;
}

/* ---- Questions ------------------------------------------------------------------------------------------- */

static void put_hints(Flow *f, const char (*hint)[LESSON_HINT_BYTES], int given, int n) {
  char words[48];
  for (int k = 0; k < given; k++) {
    snprintf(words, sizeof words, "Hint %d of %d.", k + 1, n);
    flow_boxed(f, FLOW_WARN, words, hint[k])->gap = k ? 4 : 9;
  }
}

static void put_verdict(Flow *f, const LessonAnswer *a) {
  static const char *const WORDS[LESSON_VERDICT_COUNT] = {"✓ Right.", "! Nearly.", "✗ Not quite.", "✗ Not yet.", ""};
  static const FlowInk INKS[LESSON_VERDICT_COUNT] = {FLOW_GOOD, FLOW_WARN, FLOW_BAD, FLOW_BAD, FLOW_WARN};
  if (a->has_verdict) flow_boxed(f, INKS[a->verdict], WORDS[a->verdict], a->said);
}

static void put_choices(Flow *f, const LessonQuestion *q, const LessonAnswer *a, LessonKind kind, bool open) {
  for (int k = 0; k < q->n_choices; k++) {
    const char letter[2] = {(char)('a' + k), '\0'};
    FlowPiece *piece = flow_option(f, open ? k : WIDGET_NONE, letter, q->choice[k]);
    for (int at = 0; kind == LESSON_ORDER && at < a->n_order; at++)
      if (a->order[at] == k) piece->number = at + 1;
    if (kind != LESSON_CHOICE) continue;
    const bool is_prediction = a->is_resolved && !a->is_from_before && *a->typed && strcmp(a->typed, q->choice[k]) == 0;
    if (is_prediction)
      piece->look = FLOW_MAIN;
    else if (a->tried & 1u << k)
      piece->look = FLOW_WRONG;
    else if (a->is_resolved && !a->is_skipped && a->is_right && k == q->right)
      piece->look = FLOW_RIGHT;
    else if (!open)
      piece->look = FLOW_OFF;
  }
}

static void put_buttons(Flow *f, const LessonPanel *p, LessonKind kind, const LessonAnswer *a,
                        const LessonQuestion *q) {
  const int left = lesson_session_hints_left(&p->session);
  if (kind != LESSON_CHOICE) {
    const bool ready = kind == LESSON_NUMBER || a->n_order == q->n_choices;
    flow_button(f, WIDGET_CHECK, "Check")->look = ready ? FLOW_MAIN : FLOW_OFF;
  }
  if (left > 0) flow_button(f, WIDGET_HINT, "Hint");
}

/* A question that is settled: what was said, and the answer. */
static void put_settled(Flow *f, const LessonAsk *ask, const LessonQuestion *q, const LessonAnswer *a) {
  char words[LESSON_OPTION_BYTES + 64];
  if (ask->is_prediction) {
    snprintf(words, sizeof words, "You predict: %s", a->typed);
    if (*a->typed && !a->is_from_before && ask->kind == LESSON_NUMBER) flow_text(f, FLOW_SOFT, words);
    return;
  }
  if (a->is_right && !a->is_from_before) {
    snprintf(words, sizeof words, "Your answer: %s", a->typed);
    if (ask->kind == LESSON_NUMBER) flow_text(f, FLOW_SOFT, words);
    put_verdict(f, a);
    return;
  }
  snprintf(words, sizeof words, "%s %s.", a->is_right ? "✓ You found it:" : "The answer is", q->answer);
  flow_boxed(f, a->is_right ? FLOW_GOOD : FLOW_WARN, words, a->explained);
}

static void put_ask(LessonPanel *p, int index) {
  const LessonSession *s = &p->session;
  const LessonAsk *ask = &s->lesson.asks[index];
  const LessonQuestion *q = &s->questions[index];
  const LessonAnswer *a = &s->answers[index];
  const bool open = lesson_session_ask(s) == index;
  Flow *f = &p->flow;
  char words[64];
  snprintf(words, sizeof words, "%s %d of %zu", ask->is_prediction ? "Predict," : "Question", index + 1,
           s->lesson.n_asks);
  FlowPiece *heading = flow_text(f, FLOW_ACCENT, words);
  heading->bold = true;
  heading->gap = 18;
  if (!a->is_asked) return;
  flow_text(f, FLOW_PLAIN, q->prompt)->gap = 4;
  put_choices(f, q, a, ask->kind, open);
  if (ask->kind == LESSON_ORDER && open)
    flow_text(f, FLOW_SOFT, "Press them in order; press one again to take it back.");
  if (open && ask->kind == LESSON_NUMBER)
    flow_field(f, WIDGET_FIELD, a->typed)->mark = text_store_add(&f->store, ask->unit.name);
  if (open) {
    put_buttons(f, p, ask->kind, a, q);
    put_verdict(f, a);
    put_hints(f, a->hint, a->n_hints, ask->n_hints);
  } else {
    put_settled(f, ask, q, a);
  }
}

/* ---- Shows and tasks ------------------------------------------------------------------------------------- */

static void put_warp(LessonPanel *p, const LessonShow *show) {
  WarpPicture picture;
  char text[sizeof picture.line + WARP_PICTURE_LINES] = "";
  if (show->warp_in_banks) {
    if (warp_picture_banks(&show->warp, &picture, NULL)) return;
  } else {
    warp_picture_memory(&show->warp, &picture);
  }
  for (int k = 0; k < picture.n; k++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s", k ? "\n" : "", picture.line[k]);
  }
  flow_code(&p->flow, text);
  p->is_wide = true;
}

static void put_reveal(LessonPanel *p, int ask) {
  const LessonSession *s = &p->session;
  const LessonAnswer *a = &s->answers[ask];
  char words[LESSON_OPTION_BYTES + 64], said[2 * LESSON_MESSAGE_BYTES + 4];
  snprintf(words, sizeof words, "%s %s", a->is_right ? "✓ As you predicted:" : "It is:", s->questions[ask].answer);
  if (a->is_right)
    snprintf(said, sizeof said, "%s", a->said);
  else
    snprintf(said, sizeof said, "%s%s%s", a->verdict == LESSON_DIAGNOSED ? a->said : "",
             a->verdict == LESSON_DIAGNOSED && *a->explained ? " " : "", a->explained);
  flow_boxed(&p->flow, a->is_right ? FLOW_GOOD : FLOW_WARN, words, said);
}

static void put_show(LessonPanel *p, size_t block) {
  LessonSession *s = &p->session;
  LessonShow show;
  Error error = {0};
  Flow *f = &p->flow;
  if (lesson_run_show(&s->run, &s->lesson.blocks[block], &show, &error)) {
    if (!s->error.status) s->error = error;
    return;
  }
  if (show.scene == SCENE_WARP)
    put_warp(p, &show);
  else if (s->plays == block)
    flow_boxed(f, FLOW_ACCENT, "▶ Look.", "It plays beside this page. Space stops it, the arrows step.");
  if (s->lesson.blocks[block].caption.offset) flow_markdown(f, fill(p, s->lesson.blocks[block].caption));
  if (s->plays != block && show.scene != SCENE_WARP)
    flow_button(f, WIDGET_PLAY + (int)block, s->is_shown[block] ? "▶ Again" : "▶ Play");
  const int ask = lesson_session_prediction(s, block);
  if (ask >= 0 && s->is_shown[block] && s->answers[ask].is_asked) put_reveal(p, ask);
}

static void put_task(LessonPanel *p, const LessonBlock *b) {
  LessonSession *s = &p->session;
  const LessonTask *task = &s->lesson.tasks[b->task];
  const LessonDeed *d = &s->deeds[b->task];
  Flow *f = &p->flow;
  FlowPiece *heading = flow_text(f, FLOW_ACCENT, "Try it");
  heading->bold = true;
  heading->gap = 18;
  flow_markdown(f, fill(p, b->text));
  if (!task->until.offset) return;
  if (!d->is_done) {
    flow_boxed(f, FLOW_ACCENT, "○ To do,",
               "in the viewer beside this page. Return there takes a change such as d=32. It is checked as you go.");
    if (lesson_session_hints_left(s) > 0) flow_button(f, WIDGET_HINT, "Hint");
    put_hints(f, d->hint, d->n_hints, task->n_hints);
  } else if (d->is_skipped) {
    char words[LESSON_STATE_BYTES + 16];
    snprintf(words, sizeof words, "Such as: %s.", d->solution);
    flow_boxed(f, FLOW_WARN, words, d->explained);
  } else {
    flow_boxed(f, FLOW_GOOD, "✓ Done.", d->explained);
  }
}

/* ---- The page -------------------------------------------------------------------------------------------- */

static void put_block(LessonPanel *p, size_t k) {
  const LessonBlock *b = &p->session.lesson.blocks[k];
  switch (b->kind) {
  case LESSON_PROSE: flow_markdown(&p->flow, fill(p, b->text)); break;
  case LESSON_SHOW: put_show(p, k); break;
  case LESSON_ASK: put_ask(p, b->ask); break;
  case LESSON_TASK: put_task(p, b); break;
  default: break;
  }
}

static void put_end(LessonPanel *p) {
  const LessonSession *s = &p->session;
  const LessonStanding standing = lesson_progress_of(&s->progress, s->lesson.name);
  char words[96];
  snprintf(words, sizeof words, "The lesson is done: %d of %d right.", standing.n_right, lesson_n_counted(&s->lesson));
  flow_boxed(&p->flow, FLOW_GOOD, words, "Predictions are not counted.")->gap = 20;
  if (p->picker.n == 0) lesson_picker_read(&p->picker, p->options.needs, p->warnings);
  const int next = lesson_picker_next(&p->picker, lesson_picker_find(&p->picker, p->session.lesson.name) + 1);
  if (next >= 0) {
    char label[PICKER_TEXT_BYTES + 16];
    snprintf(label, sizeof label, "%s ▶", p->picker.rows[next].title);
    flow_button(&p->flow, WIDGET_LESSON + next, label)->look = FLOW_MAIN;
  }
  flow_button(&p->flow, WIDGET_LIST, "All lessons");
}

void lesson_page_make(LessonPanel *p) {
  LessonSession *s = &p->session;
  const Lesson *l = &s->lesson;
  const size_t end = p->is_picking ? 0 : lesson_session_page_end(s);
  flow_clear(&p->flow);
  p->open_piece = 0;
  if (p->is_picking) {
    lesson_picker_page(&p->picker, &p->flow, WIDGET_LESSON, p->has_lesson ? s->lesson.name : "");
    p->flow_version = s->version;
    p->has_flow = true;
    p->is_placed = false;
    return;
  }
  if (s->page == 0) {
    flow_heading(&p->flow, 1.5, lesson_text(l, l->title));
    flow_text(&p->flow, FLOW_SOFT, lesson_text(l, l->idea))->gap = 4;
  }
  for (size_t k = s->page; k < end && k < l->n_blocks; k++) {
    if (k == s->at || k + 1 == end) p->open_piece = p->flow.n;
    put_block(p, k);
  }
  if (s->error.status)
    flow_boxed(&p->flow, FLOW_BAD, "The lesson cannot go on.", s->error.message);
  else if (lesson_session_is_finished(s) && end == l->n_blocks)
    put_end(p);
  p->flow_version = s->version;
  p->has_flow = true;
  p->is_placed = false;
}
