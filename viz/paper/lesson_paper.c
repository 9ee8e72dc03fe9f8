#include "viz/paper/lesson_paper.h"

#include <stdlib.h>

#include "lessons/engine/class_key.h"
#include "sim/base/path.h"
#include "viz/export/output.h"
#include "viz/export/surface.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/lesson/lesson_view.h"
#include "viz/paper/lesson_flow.h"
#include "viz/scene/scene_cache.h"

/* In points. A picture is drawn as on a screen of 1280 x 720, and made smaller. */
#define A4_WIDTH      595.0
#define A4_HEIGHT     842.0
#define SLIDE_WIDTH   960.0
#define SLIDE_HEIGHT  540.0
#define SCREEN_WIDTH  1280.0
#define SCREEN_HEIGHT 720.0
#define FOOT          20.0
#define HEADING_EMS   8.0  /* below a heading that ends a text */
#define SMALLEST      0.62 /* of the body's size: what does not fit a slide then goes on on the next */
#define QUESTION      1.25 /* of the body's size, on a slide */
#define SHORT         0.4  /* of a slide: prose that is no longer shares it with what comes next */

typedef struct {
  LessonSession session; /* walked from page to page; nothing is answered, and nothing kept */
  LessonPage page;
  bool is_slides, only_pictures;
  const char *student; /* "": nobody's in particular */
  Player player;
  LessonPlayer beside;
  LessonViewer viewer;
  SceneMemo *memo;
  Flow waiting; /* a heading without words of its own, or short prose of a slide: goes with what comes next */
  /* while drawing */
  cairo_t *cr;
  Box room;  /* of a page, without margins and foot */
  double y;  /* where the next thing goes; room.y: the page is empty */
  double em; /* of body text */
  int n_pages;
} Paper;

/* ---- Pages ------------------------------------------------------------------------------------------------- */

static void draw_foot(Paper *p) {
  char page[32];
  const double y = p->room.y + p->room.height + FOOT;
  Lettering lettering = {.family = theme_light.sans, .size = p->is_slides ? 12 : 8.5};
  snprintf(page, sizeof page, "%d", ++p->n_pages);
  theme_use(p->cr, theme_light.ink_soft, 1);
  letter_draw(p->cr, &lettering, p->room.x, y, p->session.lesson.title.text);
  lettering.anchor = ANCHOR_END;
  letter_draw(p->cr, &lettering, p->room.x + p->room.width, y, page);
}

static void end_page(Paper *p) {
  if (p->y <= p->room.y) return;
  draw_foot(p);
  cairo_show_page(p->cr);
  p->y = p->room.y;
}

/* ---- Text -------------------------------------------------------------------------------------------------- */

static double left_below(const Paper *p) { return p->room.y + p->room.height - p->y; }

static void place(const Paper *p, Flow *flow) { flow_place(flow, p->cr, &theme_light, p->room.width, 1, p->em); }

static double bottom_of(const FlowPiece *piece) { return piece->box.y + piece->box.height; }

/* Draws a flow in a column, from page to page: no piece is parted, but for one that is longer than a page. */
static void put_flow(Paper *p, Flow *flow) {
  place(p, flow);
  for (size_t first = 0, next; first < flow->n; first = next) {
    const double top = flow->pieces[first].box.y, left = left_below(p);
    for (next = first; next < flow->n && bottom_of(&flow->pieces[next]) - top <= left; next++) continue;
    const double rest = next > first ? left - (bottom_of(&flow->pieces[next - 1]) - top) : 0;
    while (next > first && flow->pieces[next - 1].bold && (next < flow->n || rest < HEADING_EMS * p->em))
      next--;                                /* a heading goes with what follows it */
    if (next == first && p->y > p->room.y) { /* nothing fits below what is there */
      end_page(p);
      next = first;
      continue;
    }
    if (next == first) next++;
    const double bottom = bottom_of(&flow->pieces[next - 1]);
    const FlowView view = {p->room.x, p->y - top, p->y, p->y + bottom - top, -1, -1};
    flow_draw(flow, p->cr, &theme_light, &view);
    p->y += bottom - top + 0.6 * p->em;
    if (next < flow->n) end_page(p);
  }
}

/* On a slide text is made smaller, down to a limit, that it fits. */
static void put_text(Paper *p, Flow *flow) {
  const double em = p->em;
  if (p->is_slides)
    for (place(p, flow); flow->height > left_below(p) && p->em > SMALLEST * em; place(p, flow)) p->em *= 0.94;
  put_flow(p, flow);
  p->em = em;
}

/* What waits, on a page of its own where it is a slide. `is_whole`: it is not parted. */
static void put_waiting(Paper *p, bool is_whole, double scale) {
  const double em = p->em;
  if (!p->waiting.n) return;
  if (p->is_slides) end_page(p);
  p->em *= scale;
  place(p, &p->waiting);
  if (is_whole && p->waiting.height > left_below(p) && p->waiting.height < p->room.height) end_page(p);
  put_text(p, &p->waiting);
  p->em = em;
  flow_clear(&p->waiting);
}

/* ---- Pictures ---------------------------------------------------------------------------------------------- */

/* What the viewer shows now, as wide as that, its upper left corner there. */
static void draw_picture(Paper *p, double x, double y, double width) {
  const SceneView view = {.memo = p->memo, .presentation = p->is_slides};
  cairo_save(p->cr);
  cairo_translate(p->cr, x, y);
  cairo_scale(p->cr, width / SCREEN_WIDTH, width / SCREEN_WIDTH);
  cairo_rectangle(p->cr, 0, 0, SCREEN_WIDTH, SCREEN_HEIGHT);
  cairo_clip(p->cr);
  scene_draw(p->player.scene, &p->player.now, &view, p->cr, SCREEN_WIDTH, SCREEN_HEIGHT, &theme_light);
  cairo_restore(p->cr);
}

static void put_picture(Paper *p, double width) {
  const double height = width * SCREEN_HEIGHT / SCREEN_WIDTH;
  if (height > left_below(p)) end_page(p);
  draw_picture(p, p->room.x + (p->room.width - width) / 2, p->y, width);
  p->y += height + 0.6 * p->em;
}

/* On paper the pictures that answer predictions stand on pages of their own, behind the questions. */
static void put_show(Paper *p, const LessonPart *parts, size_t n) {
  LessonSession *s = &p->session;
  LessonShow show;
  Flow caption = {0};
  char lines[WARP_LINES_BYTES], words[32];
  const int ask = lesson_session_prediction(s, parts->block);
  if (lesson_run_show(&s->run, &s->lesson.blocks[parts->block], &show, &s->error)) return;
  put_waiting(p, false, 1);
  if (p->is_slides) end_page(p);
  snprintf(words, sizeof words, "Predict, %d of %zu", ask + 1, s->lesson.n_asks);
  if (p->only_pictures && ask >= 0) flow_heading(&caption, 1, words);
  if (p->only_pictures && 0.8 * p->room.width * SCREEN_HEIGHT / SCREEN_WIDTH > left_below(p)) end_page(p);
  put_flow(p, &caption);
  flow_clear(&caption);
  p->viewer.stop(p->viewer.data, s->plays_to);
  lesson_warp_lines(&show, lines, sizeof lines);
  if (*lines) flow_code(&caption, lines);
  for (size_t k = 0; k < n; k++)
    if (parts[k].kind == PART_PROSE) flow_markdown(&caption, parts[k].text);
  place(p, &caption);
  const double rest = p->room.height - caption.height - p->em; /* the caption stays with its picture */
  const double widest = p->is_slides ? fmin(p->room.width, rest * SCREEN_WIDTH / SCREEN_HEIGHT) : 0.8 * p->room.width;
  if (!*lines) put_picture(p, fmax(widest, 0.4 * p->room.width));
  put_text(p, &caption);
  flow_free(&caption);
}

/* ---- Parts of the page --------------------------------------------------------------------------------------- */

/* A program behind the lines that say again what is asked. */
static const char *behind_remarks(const char *program) {
  const char *p = program;
  while (*p == '#' || strncmp(p, "//", 2) == 0) p += strcspn(p, "\n"), p += *p == '\n';
  return p;
}

/* Where the answer goes. */
static void put_field(Paper *p, const LessonPart *part) {
  char words[ANSWER_UNIT_BYTES + 64];
  snprintf(words, sizeof words,
           part->ask == LESSON_ORDER ? "In order: ________________________" : "________________ %s", part->words);
  if (part->ask == LESSON_WORK)
    flow_code(&p->waiting, behind_remarks(part->text));
  else if (!p->is_slides && part->ask != LESSON_CHOICE)
    flow_text(&p->waiting, ROLE_PLAIN, words)->gap = 14;
}

static void put_part(Paper *p, const LessonPart *part) {
  Flow *f = &p->waiting;
  switch (part->kind) {
  case PART_PROSE: flow_markdown(f, part->text); break;
  case PART_HEADING: flow_heading(f, p->is_slides ? 1.3 : 1, part->text); break;
  case PART_PROMPT: flow_text(f, ROLE_PLAIN, part->text)->gap = 4; break;
  case PART_OPTION: flow_option(f, -1, part->words, part->text); break;
  case PART_FIELD: put_field(p, part); break;
  default: break; /* the title was put, the figure is its block's; nothing can be pressed */
  }
}

/* The parts of a block. */
static void put_block(Paper *p, const LessonPart *parts, size_t n) {
  const LessonBlock *b = &p->session.lesson.blocks[parts->block];
  const bool is_first = !p->waiting.n;
  Flow *f = &p->waiting;
  if (b->kind == LESSON_SHOW || p->only_pictures) {
    if (b->kind == LESSON_SHOW && p->is_slides + p->only_pictures) put_show(p, parts, n);
    return;
  }
  for (size_t k = 0; k < n; k++) put_part(p, &parts[k]);
  place(p, f);
  const bool is_heading = f->n == 1 && f->pieces[0].bold, is_short = p->is_slides && f->height < SHORT * p->room.height;
  if (b->kind != LESSON_PROSE || !is_first || !(is_heading || is_short))
    put_waiting(p, b->kind == LESSON_ASK, b->kind == LESSON_ASK && p->is_slides ? QUESTION : 1);
}

static void put_title(Paper *p) {
  const Lesson *l = &p->session.lesson;
  Flow flow = {0};
  char words[CLASS_NAME_BYTES + 64];
  flow_heading(&flow, p->is_slides ? 2 : 1.7, l->title.text);
  flow_text(&flow, ROLE_DIM, l->idea.text);
  if (!p->is_slides) {
    snprintf(words, sizeof words, "Name: %s    Numbers: %ju",
             *p->student ? p->student : "______________________________", p->session.run.seed);
    flow_text(&flow, ROLE_PLAIN, words)->gap = 14;
  }
  p->y += p->is_slides ? 0.28 * p->room.height : 0;
  put_flow(p, &flow);
  flow_free(&flow);
  if (p->is_slides) end_page(p);
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

/* Puts the blocks that are new on the page; returns up to which. */
static size_t put_new(Paper *p, size_t from) {
  lesson_page_make(&p->page, &p->session);
  for (size_t k = 0, next; k < p->page.n; k = next) {
    const LessonPart *parts = &p->page.parts[k];
    for (next = k; next < p->page.n && p->page.parts[next].block == parts->block; next++) continue;
    if (parts->block >= from && parts->block < p->session.lesson.n_blocks) put_block(p, parts, next - k);
  }
  return lesson_session_page_end(&p->session);
}

/* From the first page to the last, as one goes who answers nothing. */
static void walk(Paper *p) {
  LessonSession *s = &p->session;
  s->at = s->reached = 0;
  memset(s->answers, 0, s->lesson.n_asks * sizeof *s->answers);
  memset(s->deeds, 0, s->lesson.n_tasks * sizeof *s->deeds);
  memset(s->is_shown, 0, sizeof s->is_shown);
  lesson_session_start(s, &p->viewer);
  size_t n = put_new(p, 0);
  while (!lesson_session_is_finished(s) && !s->error.status) {
    lesson_session_next(s);
    n = put_new(p, n);
  }
  put_waiting(p, false, 1);
}

static void draw(cairo_t *cr, double width, double height, const void *data) {
  Paper *p = *(Paper *const *)data;
  const double margin = p->is_slides ? 44 : 48;
  p->cr = cr;
  p->room = box_at(margin, margin, width - 2 * margin, height - 2 * margin - (p->is_slides ? 8 : 0));
  p->y = p->room.y;
  p->em = p->is_slides ? 21 : 10.5;
  put_title(p);
  walk(p);
  if (!p->is_slides) {
    end_page(p);
    flow_heading(&p->waiting, 1.2, "What you predicted");
    flow_text(&p->waiting, ROLE_DIM, "Turn to these pictures when you have written down your answers: they hold some.");
    put_waiting(p, false, 1);
    p->only_pictures = true;
    walk(p);
  }
  end_page(p);
}

static Status write_pages(Paper *p, const char *path, Error *error) {
  const SurfaceMetadata metadata = {.title = p->session.lesson.title.text};
  unsigned char *bytes = NULL;
  size_t n = 0;
  Status status = surface_bytes(SURFACE_PDF, p->is_slides ? SLIDE_WIDTH : A4_WIDTH,
                                p->is_slides ? SLIDE_HEIGHT : A4_HEIGHT, draw, &p, &metadata, &bytes, &n, error);
  if (!status) status = error_pass(error, &p->session.error);
  if (!status) status = file_write_whole(path, bytes, n, error);
  free(bytes);
  return status;
}

Status lesson_paper_save(const Lesson *lesson, bool is_slides, uint64_t seed, const char *student, const char *path,
                         Error *error) {
  const Request request = {0};
  Lesson own = *lesson;
  const LessonSessionOptions options = {.seed = seed, .has_seed = true, .restart = true};
  if (!path_ends(path, ".pdf"))
    return error_refuse(error, "a handout and slides have pages: name a file that ends in .pdf, not '%s'",
                        quote_text(path).text);
  Paper *p = calloc(1, sizeof *p);
  if (!p) return error_no_memory(error, "for the pages of a lesson");
  p->is_slides = is_slides;
  p->student = student;
  p->memo = memo_new();
  p->beside.player = &p->player;
  p->viewer = lesson_player_viewer(&p->beside);
  Status status = lesson_session_open(&p->session, &own, &LESSON_LIMITS, &options, NULL, error);
  if (!status) status = lesson_rehearse(lesson, &LESSON_LIMITS, &LESSON_REHEARSAL, seed, error);
  if (!status) status = player_open(&p->player, &request, error);
  if (!status) status = write_pages(p, path, error);
  player_free(&p->player);
  memo_free(p->memo);
  p->session.lesson = (Lesson){0}; /* it is the caller's */
  lesson_session_close(&p->session);
  lesson_page_free(&p->page);
  flow_free(&p->waiting);
  free(p);
  return status;
}
