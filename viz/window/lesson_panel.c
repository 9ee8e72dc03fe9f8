#define _POSIX_C_SOURCE 200809L /* setenv */
#include "viz/window/lesson_panel.h"

#include <stdlib.h>

#include "sim/base/ascii.h"

#define MARGIN       18.0
#define FOOT         56.0
#define LEAST_WIDTH  330.0 /* pixels */
#define SCROLL_UNITS 60.0  /* of a turn of the wheel */

/* Opens $TILEWALK_FILE. It fails where there is no such editor, or no terminal for it. */
static const char EDIT[] = "set -- ${VISUAL:-${EDITOR:-xdg-open}} \"$TILEWALK_FILE\"\n"
                           "case ${1##*/} in\n"
                           "vi|vim|nvim|nano|pico|micro|hx|helix|kak|joe|mcedit|ne|ed)\n"
                           "  set -- ${TERMINAL:-x-terminal-emulator} -e \"$@\" ;;\n"
                           "esac\n"
                           "command -v \"$1\" >/dev/null && { \"$@\" & }\n";

/* ---- Opening --------------------------------------------------------------------------------------------- */

Status lesson_panel_open(LessonPanel *p, const char *name, const LessonSessionOptions *options, FILE *warnings,
                         Error *error) {
  memset(p, 0, sizeof *p);
  p->focus = p->hover = p->pressed = WIDGET_NONE;
  p->options = *options;
  p->warnings = warnings;
  p->session.plays = LESSON_NO_BLOCK;
  p->has_lesson = name != NULL;
  p->is_picking = p->is_hidden = !name;
  return name ? lesson_player_open(&p->session, name, options, warnings, error) : STATUS_OK;
}

void lesson_panel_close(LessonPanel *p) {
  cairo_surface_destroy(p->kept);
  p->kept = NULL;
  flow_free(&p->flow);
  flow_free(&p->foot);
  lesson_page_free(&p->page);
  lesson_session_close(&p->session);
}

/* The kind of the open question; -1: none is open. */
static int open_kind(const LessonPanel *p) {
  const int ask = lesson_session_ask(&p->session);
  return ask < 0 ? -1 : (int)p->session.lesson.asks[ask].kind;
}

/* Another page: from its top, and without what was said over the one before. */
static void turn_page(LessonPanel *p) {
  p->has_flow = p->wants_reveal = false;
  p->scroll = 0;
  p->note[0] = '\0';
}

/* Something of the page changed: the focus goes to what is open. A task is done in the viewer: there its keys are the
 * viewer's, and Return does not press "Show me". */
static void after_change(LessonPanel *p) {
  LessonSession *s = &p->session;
  const int kind = open_kind(p);
  const bool turned = s->page != p->seen_page, moved = turned || s->at != p->seen_at;
  p->seen_page = s->page;
  p->seen_at = s->at;
  p->wants_reveal = true;
  if (turned) turn_page(p);
  if (kind < 0 && lesson_session_task(s) < 0)
    p->focus = WIDGET_NEXT;
  else if (moved)
    p->focus = kind < 0 ? WIDGET_NONE : kind == LESSON_NUMBER ? WIDGET_FIELD : kind == LESSON_WORK ? WIDGET_CHECK : 0;
  lesson_panel_make(p);                                             /* how wide it is to be depends on it */
  for (size_t k = 0; p->focus == WIDGET_NEXT && k < p->flow.n; k++) /* at the end Return opens the next lesson */
    if (p->flow.pieces[k].widget >= WIDGET_LESSON) p->focus = p->flow.pieces[k].widget;
}

/* ---- The list of lessons --------------------------------------------------------------------------------- */

/* The list, with the focus on the lesson that is open, or on the first that is not done. */
static void show_list(LessonPanel *p) {
  lesson_picker_read(&p->picker, p->warnings);
  p->is_picking = true;
  p->is_hidden = false;
  p->typed = 0;
  turn_page(p);
  int row = p->has_lesson ? lesson_picker_find(&p->picker, p->session.lesson.name) : -1;
  if (row < 0) row = lesson_picker_next(&p->picker, 0);
  p->focus = row >= 0 ? WIDGET_LESSON + row : WIDGET_NONE;
  lesson_panel_make(p);
}

/* Back to the lesson that is open, or to the scene alone. */
static void leave_list(LessonPanel *p) {
  p->is_picking = p->is_hidden = !p->has_lesson;
  turn_page(p);
  p->focus = WIDGET_NONE;
  if (p->has_lesson) after_change(p);
}

static void close_lesson(LessonPanel *p) {
  lesson_session_close(&p->session);
  memset(&p->session, 0, sizeof p->session);
  p->session.plays = LESSON_NO_BLOCK;
}

static void open_lesson(LessonPanel *p, Player *player, int row) {
  Error error = {0};
  if (row < 0 || row >= p->picker.n || !p->picker.rows[row].can_run) return;
  if (p->has_lesson && strcmp(p->session.lesson.name, p->picker.rows[row].name) == 0 &&
      !lesson_session_is_finished(&p->session)) { /* it is open */
    leave_list(p);
    return;
  }
  close_lesson(p);
  p->file_of = 0;
  p->options.restart = p->is_wide = false;
  p->has_lesson = !lesson_player_open(&p->session, p->picker.rows[row].name, &p->options, p->warnings, &error);
  p->is_picking = !p->has_lesson;
  turn_page(p);
  if (!p->has_lesson) close_lesson(p);
  snprintf(p->picker.problem, sizeof p->picker.problem, "%s", error.message);
  lesson_panel_start(p, player);
}

/* The digits of a row's number, one after the other. */
static bool type_number(LessonPanel *p, const char *text) {
  if (!ascii_is_digit((unsigned char)text[0]) || text[1]) return false;
  const int digit = text[0] - '0', both = 10 * p->typed + digit;
  p->typed = both <= p->picker.n ? both : digit;
  if (p->typed >= 1 && p->typed <= p->picker.n) p->focus = WIDGET_LESSON + p->typed - 1;
  return true;
}

void lesson_panel_start(LessonPanel *p, Player *player) {
  if (!p->has_lesson) return;
  p->seen_page = p->seen_at = LESSON_NO_BLOCK;
  p->beside.player = player;
  const LessonViewer viewer = lesson_player_viewer(&p->beside);
  lesson_session_start(&p->session, &viewer);
  after_change(p);
}

static void make_stale(LessonPanel *p) {
  if (!p->has_flow || p->flow_version != p->session.version) lesson_panel_make(p);
}

/* ---- Layout ---------------------------------------------------------------------------------------------- */

/* On a projector a show has the whole screen. */
static bool show_has_screen(const LessonPanel *p, const Player *player) {
  return player->presentation && p->session.plays != LESSON_NO_BLOCK && p->session.plays_to > 0;
}

static double width_of(void *data, const Player *player, double width) {
  const LessonPanel *p = data;
  if (p->is_hidden || show_has_screen(p, player)) return 0;
  return fmax(LEAST_WIDTH, floor(width * (p->is_wide ? 0.52 : player->presentation ? 0.44 : 0.355)));
}

/* Where on the window the page's column begins, which may be above what is seen of it. */
static double page_top(const LessonPanel *p) { return p->view.y + MARGIN * p->flow.unit - p->scroll; }
static double page_end(const LessonPanel *p) { return p->view.y + p->view.height; }

/* One of three places below the page. */
static void put_foot(LessonPanel *p, int place, int widget, const char *label, LessonLook look) {
  const double u = p->flow.unit, width = (p->view.width - 16 * u) / 3;
  FlowPiece *piece = flow_press(&p->foot, PIECE_BUTTON, widget, label);
  piece->box = box_at(p->view.x + place * (width + 8 * u), page_end(p) + 9 * u, width, ceil(FOOT * u) - 18 * u);
  piece->look = look;
}

static void make_foot(LessonPanel *p) {
  const LessonSession *s = &p->session;
  const bool is_open = lesson_session_ask(s) >= 0 || lesson_session_task(s) >= 0,
             is_over = lesson_session_is_finished(s) && !lesson_session_is_review(s);
  char page[64];
  flow_clear(&p->foot);
  p->foot.em = fmin(16, p->flow.em);
  p->foot.unit = p->flow.unit;
  if (p->is_picking) {
    put_foot(p, 2, WIDGET_NEXT, "Open ▶", p->focus < WIDGET_LESSON ? LOOK_OFF : LOOK_MAIN);
    put_foot(p, 0, WIDGET_BACK, p->has_lesson ? "◀ Lesson" : "Close", LOOK_NORMAL);
    return;
  }
  snprintf(page, sizeof page, "List %d/%d", lesson_session_page_number(s), s->n_pages);
  put_foot(p, 2, WIDGET_NEXT,
           is_over   ? "Done"
           : is_open ? lesson_session_next_label(s)
                     : "Next ▶",
           is_over || s->error.status ? LOOK_OFF
           : is_open                  ? LOOK_NORMAL
                                      : LOOK_MAIN);
  put_foot(p, 1, WIDGET_LIST, page, LOOK_NORMAL);
  put_foot(p, 0, WIDGET_BACK, "◀ Back", lesson_session_can_go_back(s) ? LOOK_NORMAL : LOOK_OFF);
}

/* Makes and places what is to be drawn in the rectangle. */
static void lay_out(LessonPanel *p, const Player *player, cairo_t *cr, Box box, double u) {
  const double width = fmax(40, box.width - 2 * MARGIN * u), em = player->presentation ? 21 : 16;
  make_stale(p);
  if (!p->is_placed || p->flow.width != width || p->flow.unit != u || p->flow.em != em) {
    flow_place(&p->flow, cr, player_theme(player), width, u, em);
    p->kept_theme = NULL;
  }
  p->is_placed = true;
  p->view = box_at(box.x + MARGIN * u, box.y, box.width - 2 * MARGIN * u, box.height - ceil(FOOT * u));
  make_foot(p);
  p->most_scroll = fmax(0, p->flow.height + 2 * MARGIN * u - p->view.height);
  if (p->wants_reveal && p->open_piece < p->flow.n) {
    const double open = p->flow.pieces[p->open_piece].box.y;
    p->scroll = fmax(p->scroll, fmin(p->most_scroll, open));
  }
  p->wants_reveal = false;
  p->scroll = fmax(0, fmin(p->scroll, p->most_scroll));
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

static void draw_scroll_bar(const LessonPanel *p, cairo_t *cr, Box box, const Theme *t) {
  const double u = p->flow.unit, room = p->view.height - 8 * u;
  if (p->most_scroll <= 0) return;
  const double size = fmax(24 * u, room * p->view.height / (p->view.height + p->most_scroll));
  const double y = box.y + 4 * u + (room - size) * p->scroll / p->most_scroll;
  box_fill(cr, box_at(box.x + box.width - 9 * u, y, fmax(3, 5 * u), size), t->axis, 1);
  if (p->scroll >= p->most_scroll - 1) return;
  const Lettering lettering = {.family = t->sans, .size = 14.5 * u, .anchor = ANCHOR_MIDDLE, .bold = true};
  const Box more = box_at(box.x + box.width / 2 - 45 * u, box.y + p->view.height - 26 * u, 90 * u, 22 * u);
  box_fill(cr, more, t->panel, 1);
  theme_use(cr, t->ink, 1);
  letter_draw(cr, &lettering, more.x + more.width / 2, more.y + 16 * u, "▼ more");
}

/* The entry of the glossary, over the end of the page. */
static void draw_note(LessonPanel *p, cairo_t *cr, const Theme *t) {
  const double u = p->flow.unit;
  Flow one = {0};
  if (!*p->note) return;
  flow_heading(&one, 1, p->note_of);
  flow_markdown(&one, p->note);
  flow_place(&one, cr, t, p->view.width - 2 * MARGIN * u, u, p->flow.em);
  const double height = one.height + MARGIN * u, top = fmax(p->view.y, page_end(p) - height - 10 * u);
  const Box box = box_at(p->view.x, top, p->view.width, height);
  const FlowView view = {p->view.x + MARGIN * u, top + 0.5 * MARGIN * u, top, page_end(p), -1, -1};
  box_fill(cr, box_inset(box, -fmax(1, 2 * u)), t->ink, 1);
  box_fill(cr, box, t->panel, 1);
  flow_draw(&one, cr, t, &view);
  flow_free(&one);
}

static void draw_page(LessonPanel *p, cairo_t *cr, Box box, const Theme *t) {
  const double u = p->flow.unit, end = page_end(p);
  box_fill(cr, box, t->background, 1);
  cairo_save(cr);
  cairo_rectangle(cr, box.x, box.y, box.width, p->view.height);
  cairo_clip(cr);
  flow_draw(&p->flow, cr, t, &(FlowView){p->view.x, round(page_top(p)), p->view.y, end, p->focus, p->hover});
  draw_scroll_bar(p, cr, box, t);
  draw_note(p, cr, t);
  cairo_restore(cr);
  box_fill(cr, box_at(box.x, end, box.width, box.y + box.height - end), t->panel, 1);
  box_fill(cr, box_at(box.x, end, box.width, fmax(1, u)), t->grid, 1);
  flow_draw(&p->foot, cr, t, &(FlowView){0, 0, end, box.y + box.height, p->focus, p->hover});
  box_fill(cr, box_at(box.x, box.y, fmax(1, 2 * u), box.height), t->axis, 1);
}

/* Text is costly to lay out, and while a run is played the page stays: it is drawn once and kept until an event, or
 * what it is drawn in, changes. */
static void draw(void *data, const Player *player, cairo_t *cr, Box box, double unit) {
  LessonPanel *p = data;
  const Theme *theme = player_theme(player);
  lay_out(p, player, cr, box, unit);
  const int width = (int)fmax(1, box.width), height = (int)fmax(1, box.height);
  if (p->kept_theme != theme || cairo_image_surface_get_height(p->kept) != height) {
    cairo_surface_destroy(p->kept);
    p->kept = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    p->kept_theme = theme;
    cairo_surface_set_device_offset(p->kept, -box.x, -box.y);
    cairo_t *to = cairo_create(p->kept);
    draw_page(p, to, box, theme);
    cairo_destroy(to);
  }
  cairo_set_source_surface(cr, p->kept, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
  box_path(cr, box);
  cairo_fill(cr);
}

/* ---- Pressing -------------------------------------------------------------------------------------------- */

/* Gives the session what is in the file, where a question is answered with one; false: it is answered otherwise. */
static bool take_file(LessonPanel *p) {
  LessonSession *s = &p->session;
  const int ask = lesson_session_ask(s);
  Error why = {0};
  if (open_kind(p) != LESSON_WORK) return false;
  if (p->file_of != ask + 1) { /* it is not begun */
    const LessonWork *work = &s->questions[ask].work;
    p->file_of = lesson_file_begin(&p->file, work->file, work->start, &why) ? 0 : ask + 1;
    snprintf(p->file_problem, sizeof p->file_problem, "%s", why.message);
    p->has_flow = false;
    if (!p->file.was_there) return false;
  }
  char *text = lesson_file_read(p->file.path, &why);
  if (text) lesson_session_write(s, text);
  free(text);
  return text != NULL;
}

/* A file is begun, and it may be saved. */
static bool waits_for_file(const void *data) {
  const LessonPanel *p = data;
  return p->file_of && p->file_of == lesson_session_ask(&p->session) + 1;
}

/* Judges the file when it was saved. */
static bool look_at_file(LessonPanel *p) {
  if (!waits_for_file(p) || !lesson_file_changed(&p->file) || !take_file(p)) return false;
  lesson_session_press(&p->session, ACT_CHECK, 0);
  return true;
}

/* Whether the player, or the file, changed what the page says. */
static bool look_anew(LessonPanel *p) {
  const bool has_moved = lesson_session_look(&p->session);
  return look_at_file(p) || has_moved;
}

/* Opens the file in the editor that the environment names, one that runs in a terminal in a window of its own; else in
 * what the desktop has for it. A shell starts it and ends at once, so that nobody waits for it. */
static void edit_file(const LessonPanel *p, Player *player) {
  setenv("TILEWALK_FILE", p->file.path, 1);
  if (system(EDIT))
    player_say(player, true, "The editor cannot be started: set VISUAL to an editor, or open %s yourself",
               p->file.path);
  else
    player_say(player, false, "Opened: %s", p->file.path);
}

static void press(LessonPanel *p, Player *player, int widget) {
  LessonSession *s = &p->session;
  if (p->is_picking || widget >= WIDGET_LESSON) {
    if (widget == WIDGET_BACK)
      leave_list(p);
    else
      open_lesson(p, player, (widget == WIDGET_NEXT ? p->focus : widget) - WIDGET_LESSON);
    return;
  }
  if (widget == WIDGET_LIST) {
    show_list(p);
    return;
  }
  switch (widget) {
  case WIDGET_FIELD: p->focus = WIDGET_FIELD; return;
  case WIDGET_EDIT: edit_file(p, player); return;
  case WIDGET_CHECK:
    if (take_file(p) || open_kind(p) != LESSON_WORK) lesson_session_press(s, ACT_CHECK, 0);
    break;
  default:
    if (widget >= WIDGET_PLAY)
      lesson_session_press(s, ACT_PLAY, widget - WIDGET_PLAY);
    else if (widget >= WIDGET_ACT)
      lesson_session_press(s, (LessonAct)(widget - WIDGET_ACT), 0);
    else if (widget >= 0)
      lesson_session_press(s, ACT_CHOOSE, widget);
    break;
  }
  after_change(p);
  const int ask = lesson_session_ask(s), kind = open_kind(p);
  if (kind == LESSON_NUMBER) p->focus = WIDGET_FIELD;
  if (kind == LESSON_ORDER && widget < WIDGET_FIELD && s->answers[ask].n_order == s->questions[ask].n_choices)
    p->focus = WIDGET_CHECK;
}

/* In the order of reading: the page, then its foot. */
static const FlowPiece *piece_at(const LessonPanel *p, int k) {
  const int page = (int)p->flow.n;
  return k < page ? &p->flow.pieces[k] : &p->foot.pieces[k - page];
}

/* To the next that can be pressed, or the one before. */
static void move_focus(LessonPanel *p, int by) {
  make_stale(p);
  const int n = (int)(p->flow.n + p->foot.n);
  const FlowPiece *piece = NULL;
  if (!n) return;
  int at = by > 0 ? -1 : n;
  for (int k = 0; k < n; k++)
    if (piece_at(p, k)->widget == p->focus && p->focus >= 0) at = k;
  for (int k = 0; k < n; k++) {
    at = (at + by + n) % n;
    piece = piece_at(p, at);
    if (piece->widget >= 0 && piece->look != LOOK_OFF && piece->look != LOOK_WRONG) break;
  }
  p->focus = piece->widget;
  if (at < (int)p->flow.n)
    p->scroll = fmax(fmin(p->scroll, piece->box.y), piece->box.y + piece->box.height - p->view.height + 40);
}

/* ---- Keys ------------------------------------------------------------------------------------------------ */

/* The place of a letter among the choices of the open question; -1. */
static int choice_of(const LessonPanel *p, const char *text) {
  const LessonSession *s = &p->session;
  const int ask = lesson_session_ask(s);
  if (ask < 0 || p->focus == WIDGET_NONE || p->focus >= WIDGET_NEXT || lesson_session_is_typed(s, ask) || text[1])
    return -1;
  const int place = ascii_lower((unsigned char)*text) - 'a';
  return place >= 0 && place < s->questions[ask].n_choices ? place : -1;
}

static bool on_text(LessonPanel *p, Player *player, const char *text) {
  if (p->is_picking) return type_number(p, text);
  const int place = choice_of(p, text);
  if (p->focus == WIDGET_FIELD && lesson_session_ask(&p->session) >= 0) {
    lesson_session_type(&p->session, text);
    p->has_flow = false;
    return true;
  }
  if (place >= 0)
    press(p, player, place);
  else if (strcmp(text, "e") == 0 && flow_widget(&p->flow, WIDGET_EDIT)) /* wherever the focus is, as the page says */
    press(p, player, WIDGET_EDIT);
  else if (strcmp(text, ".") == 0)
    press(p, player, WIDGET_NEXT);
  else if (strcmp(text, ",") == 0)
    press(p, player, WIDGET_BACK);
  else
    return false;
  return true;
}

static bool on_control_key(LessonPanel *p, Player *player, SideKey key) {
  const double line = SCROLL_UNITS * fmax(0.5, p->flow.unit);
  switch (key) {
  case SIDE_KEY_RIGHT: press(p, player, WIDGET_NEXT); return true;
  case SIDE_KEY_LEFT: press(p, player, WIDGET_BACK); return true;
  case SIDE_KEY_UP: p->scroll -= line; return true;
  case SIDE_KEY_DOWN: p->scroll += line; return true;
  case SIDE_KEY_PAGE_UP: p->scroll -= 0.8 * p->view.height; return true;
  case SIDE_KEY_PAGE_DOWN: p->scroll += 0.8 * p->view.height; return true;
  default: return false;
  }
}

static bool on_key(LessonPanel *p, Player *player, const SideEvent *e) {
  const bool in_list = p->is_picking, is_free = p->focus == WIDGET_NONE && !in_list;
  if (e->control && !in_list) return on_control_key(p, player, e->key);
  p->typed = 0;
  switch (e->key) {
  case SIDE_KEY_UP:
  case SIDE_KEY_DOWN:
    if (!in_list) return false;
    move_focus(p, e->key == SIDE_KEY_UP ? -1 : 1);
    return true;
  case SIDE_KEY_TAB: move_focus(p, e->shift ? -1 : 1); return true;
  case SIDE_KEY_RETURN:
    if (is_free) return false;
    press(p, player, p->focus == WIDGET_FIELD ? WIDGET_CHECK : p->focus == WIDGET_NONE ? WIDGET_NEXT : p->focus);
    return true;
  case SIDE_KEY_ESCAPE:
    if (is_free && !*p->note) return false;
    p->focus = WIDGET_NONE;
    p->note[0] = '\0';
    if (in_list) leave_list(p);
    return true;
  case SIDE_KEY_BACKSPACE:
    if (in_list || lesson_session_ask(&p->session) < 0 || is_free) return false;
    lesson_session_erase(&p->session);
    return true;
  default: return false;
  }
}

/* ---- Mouse ----------------------------------------------------------------------------------------------- */

static int widget_at(const LessonPanel *p, double x, double y) {
  return y >= page_end(p) ? flow_widget_at(&p->foot, x, y) : flow_widget_at(&p->flow, x - p->view.x, y - page_top(p));
}

static bool on_motion(LessonPanel *p, const SideEvent *e) {
  const int hover = widget_at(p, e->x, e->y);
  if (hover == p->hover) return false;
  p->hover = hover;
  return true;
}

/* A link to the glossary shows its entry; another says where it leads. */
static void follow(LessonPanel *p, const Player *player, double x, double y) {
  cairo_t *cr = cairo_create(p->kept);
  const char *to = flow_link_at(&p->flow, cr, player_theme(player), x - p->view.x, y - page_top(p));
  const char *anchor = strncmp(to, "glossary.md#", 12) == 0 ? to + 12 : NULL;
  Error why = {0};
  if (*to && (!anchor || lesson_glossary(anchor, p->note_of, sizeof p->note_of, p->note, sizeof p->note, &why))) {
    snprintf(p->note_of, sizeof p->note_of, "This leads to");
    snprintf(p->note, sizeof p->note, "%s", to);
  }
  cairo_destroy(cr);
}

static void on_press(LessonPanel *p, const SideEvent *e) {
  p->pressed = e->button == 1 ? widget_at(p, e->x, e->y) : WIDGET_NONE;
  if (p->pressed == WIDGET_FIELD) p->focus = WIDGET_FIELD;
  p->note[0] = '\0';
  p->press_x = e->x;
  p->press_y = e->y;
}

static void on_release(LessonPanel *p, Player *player, const SideEvent *e) {
  const int widget = p->pressed;
  p->pressed = WIDGET_NONE;
  if (widget != WIDGET_NONE && widget == widget_at(p, e->x, e->y))
    press(p, player, widget);
  else if (widget == WIDGET_NONE && fabs(e->x - p->press_x) + fabs(e->y - p->press_y) < 8 && e->y < page_end(p))
    follow(p, player, e->x, e->y);
}

/* While a show has the screen, the keys that go on end it. The others are the viewer's. */
static bool goes_on(const SideEvent *e) {
  if (e->kind == SIDE_TEXT) return strcmp(e->text, ".") == 0;
  return e->kind == SIDE_KEY && (e->key == SIDE_KEY_RETURN || (e->control && e->key == SIDE_KEY_RIGHT));
}

static bool take(LessonPanel *p, Player *player, const SideEvent *e) {
  const bool is_typed = e->kind == SIDE_KEY || e->kind == SIDE_TEXT || e->kind == SIDE_PASTE;
  if (is_typed && p->is_hidden) return false;
  if (is_typed && show_has_screen(p, player)) {
    if (goes_on(e)) press(p, player, WIDGET_NEXT);
    return goes_on(e);
  }
  switch (e->kind) {
  case SIDE_LOOK:
    if (!p->has_lesson || !look_anew(p)) return false;
    if (p->is_picking) return true;
    after_change(p);
    if (p->is_hidden && lesson_session_task(&p->session) < 0)
      player_say(player, false, "That was it. l shows the lesson again");
    return true;
  case SIDE_TOGGLE:
    if (p->is_hidden && !p->has_lesson)
      show_list(p);
    else
      p->is_hidden = !p->is_hidden;
    return true;
  case SIDE_PRESS: on_press(p, e); return true;
  case SIDE_MOTION: return on_motion(p, e);
  case SIDE_RELEASE: on_release(p, player, e); return true;
  case SIDE_WHEEL: p->scroll -= e->turns * SCROLL_UNITS * fmax(0.5, p->flow.unit); return true;
  case SIDE_LEFT:
    p->hover = p->pressed = WIDGET_NONE;
    if (e->button) p->focus = WIDGET_NONE;
    return true;
  case SIDE_KEY: return on_key(p, player, e);
  case SIDE_TEXT: return on_text(p, player, e->text);
  case SIDE_PASTE:
    if (p->focus != WIDGET_FIELD) return false;
    lesson_session_type(&p->session, e->text);
    return true;
  }
  return false;
}

static bool on_event(void *data, Player *player, const SideEvent *e) {
  LessonPanel *p = data;
  const bool is_taken = take(p, player, e);
  if (is_taken) p->kept_theme = NULL;
  return is_taken;
}

SidePanel lesson_panel_side(LessonPanel *panel) {
  return (SidePanel){.data = panel, .width = width_of, .draw = draw, .event = on_event, .waits = waits_for_file};
}
