/* The page of a lesson (lessons/engine/lesson_page.h) as pieces of a flow. Part of viz/window/lesson_panel.h. */

#include "viz/window/lesson_panel.h"

static int widget_of(const LessonPart *part) {
  switch (part->act) {
  case ACT_NONE: return WIDGET_NONE;
  case ACT_CHOOSE: return part->number;
  case ACT_PLAY: return WIDGET_PLAY + part->number;
  default: return WIDGET_ACT + (int)part->act;
  }
}

static void put_boxed(Flow *f, const LessonPart *part, const char *words, const char *text) {
  static const TextRole INKS[] = {ROLE_PLAIN, ROLE_GOOD, ROLE_WARN, ROLE_BAD, ROLE_ACCENT};
  static const char *const MARKS[] = {"", "✓ ", "! ", "✗ ", ""};
  char all[LESSON_OPTION_BYTES + LESSON_STATE_BYTES];
  const bool is_marked = *words && (part->kind == PART_VERDICT || part->tone == TONE_GOOD);
  snprintf(all, sizeof all, "%s%s%s", is_marked ? MARKS[part->tone] : "", words, part->kind == PART_ANSWER ? "." : "");
  flow_boxed(f, INKS[part->tone], all, text)->gap = part->kind == PART_HINT && part->number ? 4 : 9;
}

/* The file of a question that is answered with one, once it was begun. */
static void put_file(LessonPanel *p, const LessonPart *part) {
  char words[256];
  if (*p->file_problem) flow_boxed(&p->flow, ROLE_BAD, "No file.", p->file_problem);
  if (p->file_of != part->number + 1) return;
  snprintf(words, sizeof words, "`%s` %s. Write in it with your editor: each time you save, it is judged here.",
           p->file.path, p->file.was_there ? "was there already" : "was written");
  flow_boxed(&p->flow, ROLE_ACCENT, "Your file", words);
  flow_press(&p->flow, PIECE_BUTTON, WIDGET_EDIT, "Edit it (e)");
}

static void put_answered(Flow *f, const LessonPart *part, const char *words, const char *typed) {
  char all[LESSON_OPTION_BYTES + 64];
  snprintf(all, sizeof all, "%s: %s", words, typed);
  if (part->ask == LESSON_NUMBER && *typed) flow_text(f, ROLE_DIM, all);
}

static void put_figure(LessonPanel *p, const LessonPart *part) {
  const LessonSession *s = &p->session;
  LessonShow show;
  char text[WARP_LINES_BYTES];
  if (lesson_run_show(&p->session.run, &s->lesson.blocks[part->block], &show, NULL)) return;
  lesson_warp_lines(&show, text, sizeof text);
  if (*text) {
    flow_code(&p->flow, text);
    p->is_wide = true;
  } else if (s->plays == part->block) {
    flow_boxed(&p->flow, ROLE_ACCENT, "▶ Look.", "It plays beside this page. Space stops it, the arrows step.");
  }
}

static void put_end(LessonPanel *p, const char *right, const char *first) {
  char words[96], text[PICKER_TEXT_BYTES + 160];
  if (p->picker.n == 0) lesson_picker_read(&p->picker, p->warnings);
  const int next = lesson_picker_next(&p->picker, lesson_picker_find(&p->picker, p->session.lesson.name) + 1);
  snprintf(words, sizeof words, "The lesson is done: %s right.", right);
  snprintf(text, sizeof text, "%s Predictions are not counted.%s%s%s", first, next >= 0 ? " The next lesson: " : "",
           next >= 0 ? p->picker.rows[next].title : "", next >= 0 ? "." : "");
  flow_boxed(&p->flow, ROLE_GOOD, words, text)->gap = 20;
  if (next >= 0) flow_press(&p->flow, PIECE_BUTTON, WIDGET_LESSON + next, "Next lesson ▶")->look = LOOK_MAIN;
  flow_press(&p->flow, PIECE_BUTTON, WIDGET_LIST, "All lessons");
}

static void put_part(LessonPanel *p, const LessonPart *part) {
  Flow *f = &p->flow;
  FlowPiece *made;
  const char *words = part->words, *text = part->text;
  switch (part->kind) {
  case PART_TITLE: flow_heading(f, 1.5, text); break;
  case PART_IDEA: flow_text(f, ROLE_DIM, text)->gap = 4; break;
  case PART_PROSE: flow_markdown(f, text); break;
  case PART_HEADING:
    made = flow_text(f, ROLE_ACCENT, text);
    made->bold = true;
    made->gap = 18;
    break;
  case PART_PROMPT: flow_text(f, ROLE_PLAIN, text)->gap = 4; break;
  case PART_OPTION:
    made = flow_option(f, widget_of(part), words, text);
    made->number = part->place;
    made->look = part->look;
    break;
  case PART_FIELD:
    if (part->ask == LESSON_WORK) put_file(p, part);
    if (part->ask == LESSON_ORDER) flow_text(f, ROLE_DIM, "Press them in order; press one again to take it back.");
    if (part->ask == LESSON_NUMBER)
      flow_press(f, PIECE_FIELD, WIDGET_FIELD, text)->mark = text_store_add(&f->store, words);
    break;
  case PART_CODE: flow_code(f, text); break;
  case PART_ANSWERED:
  case PART_PREDICTED: put_answered(f, part, words, text); break;
  case PART_VERDICT:
  case PART_ANSWER:
  case PART_REVEAL:
  case PART_TO_DO:
  case PART_HINT: put_boxed(f, part, words, text); break;
  case PART_FIGURE: put_figure(p, part); break;
  case PART_BUTTON:
    if (part->act == ACT_CHECK && part->ask == LESSON_WORK && p->file_of != lesson_session_ask(&p->session) + 1)
      text = "Begin the file";
    flow_press(f, PIECE_BUTTON, widget_of(part), text)->look = part->look;
    break;
  case PART_END: put_end(p, words, text); break;
  }
}

void lesson_panel_make(LessonPanel *p) {
  LessonSession *s = &p->session;
  flow_clear(&p->flow);
  p->open_piece = 0;
  if (p->is_picking) {
    lesson_picker_page(&p->picker, &p->flow, WIDGET_LESSON, p->has_lesson ? s->lesson.name : "");
  } else {
    lesson_page_make(&p->page, s);
    for (size_t k = 0; k < p->page.n; k++) {
      if (k == p->page.open) p->open_piece = p->flow.n;
      put_part(p, &p->page.parts[k]);
    }
    if (s->error.status) flow_boxed(&p->flow, ROLE_BAD, "The lesson cannot go on.", s->error.message);
  }
  p->flow_version = s->version;
  p->has_flow = true;
  p->is_placed = false;
}
