#include "viz/paper/lesson_paper.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/class_key.h"
#include "sim/base/quote.h"
#include "viz/export/output.h"
#include "viz/export/surface.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/lesson/lesson_view.h"
#include "viz/paper/lesson_flow.h"
#include "viz/player/player.h"
#include "viz/scene/scene_cache.h"
#include "viz/text/warp_picture.h"

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
  const Lesson *lesson;
  bool is_slides;
  const char *student; /* "": nobody's in particular */
  LessonRun run;
  Player player;
  LessonPlayer beside;
  LessonViewer viewer;
  SceneMemo *memo;
  char state[LESSON_STATE_BYTES];
  LessonQuestion question;
  LessonText waiting; /* a heading without words of its own, or short prose of a slide: goes with what comes next */
  char text[LESSON_PROSE_BYTES];
  Error error;
  /* while drawing */
  cairo_t *cr;
  Box room;  /* of a page, without margins and foot */
  double y;  /* where the next thing goes; room.y: the page is empty */
  double em; /* of body text */
  int page;
} Paper;

static bool failed(const Paper *p) { return p->error.status != STATUS_OK; }

/* ---- Pages ------------------------------------------------------------------------------------------------- */

static void draw_foot(Paper *p) {
  char page[32];
  const Lettering left = {.family = theme_light.sans, .size = p->is_slides ? 12 : 8.5};
  Lettering right = left;
  right.anchor = ANCHOR_END;
  snprintf(page, sizeof page, "%d", ++p->page);
  theme_use(p->cr, theme_light.ink_soft, 1);
  letter_draw(p->cr, &left, p->room.x, p->room.y + p->room.height + FOOT, p->lesson->title.text);
  letter_draw(p->cr, &right, p->room.x + p->room.width, p->room.y + p->room.height + FOOT, page);
}

static void end_page(Paper *p) {
  if (p->y <= p->room.y) return;
  draw_foot(p);
  cairo_show_page(p->cr);
  p->y = p->room.y;
}

/* ---- Text -------------------------------------------------------------------------------------------------- */

static double bottom_of(const FlowPiece *piece) { return piece->box.y + piece->box.height; }

/* Draws a flow in a column, from page to page: no piece is parted, but for one that is longer than a page. */
static void put_flow(Paper *p, Flow *flow, double width) {
  flow_place(flow, p->cr, &theme_light, width, 1, p->em);
  for (size_t first = 0, next; first < flow->n; first = next) {
    const double top = flow->pieces[first].box.y, left = p->room.y + p->room.height - p->y;
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
    const FlowView view = {p->room.x, p->y - top, p->y, p->y + bottom - top, -1, -1, false};
    flow_draw(flow, p->cr, &theme_light, &view);
    p->y += bottom - top + 0.6 * p->em;
    if (next < flow->n) end_page(p);
  }
}

/* On a slide text is made smaller, down to a limit, that it fits. */
static void put_text(Paper *p, Flow *flow, double width) {
  const double em = p->em;
  if (p->is_slides)
    for (flow_place(flow, p->cr, &theme_light, width, 1, p->em);
         flow->height > p->room.y + p->room.height - p->y && p->em > SMALLEST * em;
         flow_place(flow, p->cr, &theme_light, width, 1, p->em))
      p->em *= 0.94;
  put_flow(p, flow, width);
  p->em = em;
}

static const char *fill(Paper *p, LessonText text) {
  p->text[0] = '\0';
  lesson_run_refill(&p->run);
  if (text.text && !failed(p)) lesson_run_fill(&p->run, text, p->text, sizeof p->text, &p->error);
  return p->text;
}

/* A flow that begins with the text that waits. */
static Flow begin_flow(Paper *p) {
  Flow flow = {0};
  if (p->waiting.text) flow_markdown(&flow, fill(p, p->waiting));
  p->waiting = (LessonText){0};
  return flow;
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
  if (p->y + height > p->room.y + p->room.height) end_page(p);
  draw_picture(p, p->room.x + (p->room.width - width) / 2, p->y, width);
  p->y += height + 0.6 * p->em;
}

static void put_show(Paper *p, const LessonBlock *b) {
  LessonShow show;
  Flow caption = {0};
  char lines[WARP_LINES_BYTES];
  lesson_run_refill(&p->run);
  if (lesson_run_show(&p->run, b, &show, &p->error)) return;
  if (p->is_slides) end_page(p);
  p->viewer.set(p->viewer.data, p->state, SCENE_COUNT);
  p->viewer.stop(p->viewer.data, p->viewer.play(p->viewer.data, &show));
  lesson_warp_lines(&show, lines, sizeof lines);
  if (*lines) flow_code(&caption, lines);
  if (b->caption.text) flow_markdown(&caption, fill(p, b->caption));
  flow_place(&caption, p->cr, &theme_light, p->room.width, 1, p->em);
  const double rest = p->room.height - caption.height - p->em; /* the caption stays with its picture */
  const double widest = p->is_slides ? fmin(p->room.width, rest * SCREEN_WIDTH / SCREEN_HEIGHT) : 0.8 * p->room.width;
  if (!*lines) put_picture(p, fmax(widest, 0.4 * p->room.width));
  put_text(p, &caption, p->room.width);
  flow_free(&caption);
}

/* ---- Questions --------------------------------------------------------------------------------------------- */

/* A program behind the lines that say again what is asked. */
static const char *behind_remarks(const char *program) {
  const char *p = program;
  while (*p == '#' || strncmp(p, "//", 2) == 0) p += strcspn(p, "\n"), p += *p == '\n';
  return p;
}

/* Where the answer goes. */
static void put_room(Paper *p, Flow *flow, const LessonAsk *ask) {
  char words[ANSWER_UNIT_BYTES + 64];
  for (int k = 0; k < p->question.n_choices; k++)
    flow_option(flow, -1, (const char[]){(char)('a' + k), '\0'}, p->question.choice[k]);
  if (ask->kind == LESSON_WORK) flow_code(flow, behind_remarks(p->question.work.start));
  if (p->is_slides) return;
  snprintf(words, sizeof words,
           ask->kind == LESSON_ORDER ? "In order: ________________________" : "________________ %s", ask->unit.name);
  if (ask->kind == LESSON_NUMBER || ask->kind == LESSON_ORDER) flow_text(flow, FLOW_PLAIN, words)->gap = 14;
}

static void put_ask(Paper *p, const LessonBlock *b) {
  const LessonAsk *ask = &p->lesson->asks[b->ask];
  char heading[64];
  lesson_run_refill(&p->run);
  if (lesson_run_question(&p->run, b->ask, &p->question, &p->error)) return;
  Flow flow = begin_flow(p);
  if (p->is_slides) end_page(p);
  snprintf(heading, sizeof heading, "%s %d", ask->is_prediction ? "Prediction" : "Question", b->ask + 1);
  flow_heading(&flow, p->is_slides ? 1.3 : 1, heading);
  flow_text(&flow, FLOW_PLAIN, p->question.prompt)->gap = 4;
  put_room(p, &flow, ask);
  const double em = p->em;
  p->em *= p->is_slides ? QUESTION : 1;
  flow_place(&flow, p->cr, &theme_light, p->room.width, 1, p->em);
  if (flow.height > p->room.y + p->room.height - p->y && flow.height < p->room.height) end_page(p); /* not parted */
  put_text(p, &flow, p->room.width);
  p->em = em;
  flow_free(&flow);
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

static void put_prose(Paper *p, LessonText text) {
  const bool is_first = !p->waiting.text;
  Flow flow = begin_flow(p);
  if (p->is_slides) end_page(p);
  flow_markdown(&flow, fill(p, text));
  flow_place(&flow, p->cr, &theme_light, p->room.width, 1, p->em);
  const bool is_heading = flow.n == 1 && flow.pieces[0].bold,
             is_short = p->is_slides && flow.height < SHORT * p->room.height;
  if (is_first && (is_heading || is_short))
    p->waiting = text;
  else if (!failed(p))
    put_text(p, &flow, p->room.width);
  flow_free(&flow);
}

/* What waits for nothing more. */
static void put_waiting(Paper *p) {
  Flow flow = begin_flow(p);
  if (flow.n && p->is_slides) end_page(p);
  if (flow.n) put_text(p, &flow, p->room.width);
  flow_free(&flow);
}

static void put_title(Paper *p) {
  Flow flow = {0};
  char words[CLASS_NAME_BYTES + 64];
  flow_heading(&flow, p->is_slides ? 2 : 1.7, p->lesson->title.text);
  flow_text(&flow, FLOW_SOFT, p->lesson->idea.text);
  if (!p->is_slides) {
    snprintf(words, sizeof words, "Name: %s    Numbers: %" PRIu64,
             *p->student ? p->student : "______________________________", p->run.seed);
    flow_text(&flow, FLOW_PLAIN, words)->gap = 14;
  }
  p->y += p->is_slides ? 0.28 * p->room.height : 0;
  put_flow(p, &flow, p->room.width);
  flow_free(&flow);
  if (p->is_slides) end_page(p);
}

static void put_block(Paper *p, const LessonBlock *b) {
  Flow flow;
  switch (b->kind) {
  case LESSON_PROSE: put_prose(p, b->text); break;
  case LESSON_STATE:
    lesson_run_refill(&p->run);
    lesson_run_state(&p->run, b, p->state, sizeof p->state, &p->error);
    break;
  case LESSON_SHOW:
    if (!p->is_slides) break;
    put_waiting(p);
    put_show(p, b);
    break;
  case LESSON_ASK: put_ask(p, b); break;
  case LESSON_TASK:
    if (p->is_slides) end_page(p);
    flow = begin_flow(p);
    flow_heading(&flow, p->is_slides ? 1.3 : 1, "Try it");
    flow_markdown(&flow, fill(p, b->text));
    put_text(p, &flow, p->room.width);
    flow_free(&flow);
    break;
  default: break;
  }
}

/* On paper the pictures that answer predictions stand on pages of their own, behind the questions. */
static void put_pictures(Paper *p) {
  Flow flow = {0};
  int prediction = -1;
  end_page(p);
  flow_heading(&flow, 1.2, "What you predicted");
  flow_text(&flow, FLOW_SOFT, "Turn to these pictures when you have written down your answers: they hold some.");
  put_flow(p, &flow, p->room.width);
  for (size_t k = 0; k < p->lesson->n_blocks && !failed(p); k++) {
    const LessonBlock *b = &p->lesson->blocks[k];
    if (b->kind == LESSON_ASK) prediction = p->lesson->asks[b->ask].is_prediction ? b->ask : -1;
    if (b->kind == LESSON_STATE) put_block(p, b);
    if (b->kind != LESSON_SHOW) continue;
    char words[32];
    snprintf(words, sizeof words, "Prediction %d", prediction + 1);
    flow_clear(&flow);
    if (prediction >= 0) flow_heading(&flow, 1, words);
    if (p->y + 0.8 * p->room.width * SCREEN_HEIGHT / SCREEN_WIDTH > p->room.y + p->room.height) end_page(p);
    put_flow(p, &flow, p->room.width);
    put_show(p, b);
    prediction = -1;
  }
  flow_free(&flow);
}

static void draw(cairo_t *cr, double width, double height, const void *data) {
  Paper *p = *(Paper *const *)data;
  const double margin = p->is_slides ? 44 : 48;
  p->cr = cr;
  p->room = box_at(margin, margin, width - 2 * margin, height - 2 * margin - (p->is_slides ? 8 : 0));
  p->y = p->room.y;
  p->em = p->is_slides ? 21 : 10.5;
  put_title(p);
  for (size_t k = 0; k < p->lesson->n_blocks && !failed(p); k++) put_block(p, &p->lesson->blocks[k]);
  put_waiting(p);
  if (!p->is_slides) put_pictures(p);
  end_page(p);
}

static Status write_pages(Paper *p, const char *path, Error *error) {
  const SurfaceMetadata metadata = {.title = p->lesson->title.text};
  unsigned char *bytes = NULL;
  size_t n = 0;
  FileWrite file;
  Status status = surface_bytes(SURFACE_PDF, p->is_slides ? SLIDE_WIDTH : A4_WIDTH,
                                p->is_slides ? SLIDE_HEIGHT : A4_HEIGHT, draw, &p, &metadata, &bytes, &n, error);
  if (!status && failed(p)) status = error_set(error, p->error.status, "%s", p->error.message);
  if (!status) status = file_write_begin(&file, path, error);
  if (!status) {
    fwrite(bytes, 1, n, file.stream);
    status = file_write_commit(&file, error);
  }
  free(bytes);
  return status;
}

Status lesson_paper_save(const Lesson *lesson, bool is_slides, uint64_t seed, const char *student, const char *path,
                         Error *error) {
  const Request request = {0};
  const size_t length = strlen(path);
  Paper *p = calloc(1, sizeof *p);
  if (!p) return error_set(error, STATUS_NO_MEMORY, "no memory for the pages of a lesson");
  p->lesson = lesson;
  p->is_slides = is_slides;
  p->student = student;
  Status status = length < 5 || strcmp(path + length - 4, ".pdf") != 0
                      ? error_refuse(error, "a handout and slides have pages: name a file that ends in .pdf, not '%s'",
                                     quote_text(path).text)
                      : lesson_rehearse(lesson, &LESSON_LIMITS, &LESSON_REHEARSAL, seed, error);
  const bool has_player = !status;
  if (!status) status = player_open(&p->player, &request, error);
  if (!status) status = lesson_run_start(&p->run, lesson, &LESSON_LIMITS, seed, error);
  if (!status) {
    p->beside.player = &p->player;
    p->viewer = lesson_player_viewer(&p->beside);
    p->memo = memo_new();
    status = write_pages(p, path, error);
    memo_free(p->memo);
  }
  lesson_run_end(&p->run);
  if (has_player) player_free(&p->player);
  free(p);
  return status;
}
