#include "viz/player/player_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "viz/text/number.h"

static const double SPEEDS[] = {1,    2,    5,     10,    20,    50,     100,    200,    500,    1000,
                                2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000};
enum { N_SPEEDS = sizeof SPEEDS / sizeof *SPEEDS, DEFAULT_SPEED = 1 };
#define ZOOM_S                    0.8   /* a level of a zoom */
#define MOVE_S                    0.35  /* how long a step that is asked for takes */
#define LONGEST_RUN_S             600.0 /* a long run begins at a speed that ends it in this time */
#define MAX_TICK_S                0.25  /* a window that was hidden does not catch up */
#define FASTEST_WITH_MOTION_PER_S 10.0  /* beyond it nothing could be followed */

void player_say(Player *p, bool is_warning, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p->message, sizeof p->message, format, arguments);
  va_end(arguments);
  p->is_warning = is_warning;
}

/* ---- Problems -------------------------------------------------------------------------------------------- */

static void mark(Player *p, uint64_t step, uint8_t what) {
  p->marks[(step * (SCENE_MARKS - 1)) / (p->stage.n_steps ? p->stage.n_steps : 1)] |= what;
}

/* Goes on with the marks of new maxima, for as much work as a frame has room for. */
static void mark_maxima(Player *p) {
  const Simulation *run = &p->stage.run;
  const SnapshotRow shown = p->now.row;
  int64_t left = PLAYER_MAX_PRODUCTS;
  Event event;
  while (left > 0 && (p->is_marking = schedule_next(run->schedule, &run->plan, &p->marking, &event))) {
    if (event.kind != EVENT_NEW_MAX || event.j < 0) continue;
    stage_row_after(&p->stage, &event, &p->now);
    if (p->now.row.is_computed && p->now.row.m_new > p->now.row.m_old) mark(p, p->marking.step, MARK_MAX);
    left -= (event.col1 - event.col0) * run->plan.shape.d;
  }
  p->now.row = shown;
}

static void mark_events(Player *p) {
  const Simulation *run = &p->stage.run;
  Cursor cursor = {0};
  Event event;
  int pass = 0;
  memset(p->marks, 0, sizeof p->marks);
  p->is_marking = false;
  if (p->stage.n_steps > PLAYER_MARKED_STEPS || !schedule_seek(run->schedule, &run->plan, &cursor, 0)) return;
  p->is_marking = p->stage.n_steps <= PLAYER_MAX_STEPS;
  p->marking = cursor;
  while (schedule_next(run->schedule, &run->plan, &cursor, &event)) {
    if (event.kind == EVENT_SKIP) mark(p, cursor.step, MARK_SKIP);
    if (event.kind == EVENT_STORE) mark(p, cursor.step, MARK_STORE);
    if (event.pass != pass) mark(p, cursor.step - 1, MARK_PASS);
    pass = event.pass;
  }
  if (p->is_marking) mark_maxima(p);
}

/* A skip in a row of them takes its part of one beat; on the model's clock an event takes its time in the mean one's.
 */
static double beats_of(const Player *p) {
  const Snapshot *now = &p->now;
  if (!now->has_event) return 1;
  if (now->event.kind == EVENT_SKIP)
    return 1.0 / (double)((uint64_t)now->skips.n +
                          (now->has_next && now->next.kind == EVENT_SKIP ? stage_beat(&p->stage, now->step) : 0));
  if (!p->request.by_time) return 1;
  const double hbm = gpu_hbm_bytes_per_s(&now->gpu), math = gpu_flops_per_s(&now->gpu, now->problem.shape.dtype, true);
  if (!(hbm > 0 && math > 0) || p->stage.n_steps == 0) return 1;
  const double mean = ((double)now->whole_bytes / hbm + (double)now->whole.flops / math) / (double)p->stage.n_steps;
  const double taken = (double)now->event.bytes / hbm + (double)now->event.flops / math;
  return mean > 0 ? fmin(8, fmax(0.1, taken / mean)) : 1;
}

static void show(Player *p, uint64_t step) {
  p->stage.config.zoom = p->zoom;
  p->stage.config.weighs = p->scene == SCENE_DECODE;
  p->stage.config.lone_row = p->scene != SCENE_SOFTMAX; /* only there are others beside it */
  stage_snapshot(&p->stage, step, &p->now);
  p->moved_s = 0;
  p->beats = beats_of(p);
}

/* Tiles that do not fit are shown, with the reason and what would fit. */
static void say_what_fits(Player *p) {
  char largest[64];
  if (p->now.fits) return;
  snprintf(largest, sizeof largest, "the largest block that fits is %" PRId64, p->now.max_block);
  player_say(p, true, "Tiles of %" PRId64 " x %" PRId64 " want %s of SRAM, and there are %s: %s", p->now.grid.B_r,
             p->now.grid.B_c, number_bytes(p->now.sram_bytes).text, number_bytes(p->now.sram_capacity_bytes).text,
             p->now.max_block > 0 ? largest : "not even one row fits");
}

bool player_apply(Player *p, Request *r, bool without_max) {
  Stage stage;
  Error error = {0};
  r->without_max = without_max;
  r->l2_later = p->request.l2_later;
  if (request_stage(r, without_max, 0, &stage, &error)) {
    stage_free(&stage);
    player_say(p, true, "Not possible: %s", error.message);
    return false;
  }
  const double part = p->stage.n_steps ? (double)p->now.step / (double)p->stage.n_steps : 0;
  p->zoom = r->zoom;
  stage_keep_inputs(&stage, &p->stage);
  stage_free(&p->stage);
  p->stage = stage;
  p->request = *r;
  p->without_max = without_max;
  p->message[0] = '\0';
  mark_events(p);
  show(p, part >= 1 ? stage.n_steps : (uint64_t)(part * (double)stage.n_steps + 0.5));
  say_what_fits(p);
  return true;
}

Status player_open(Player *p, const Request *request, bool without_max, Error *error) {
  memset(p, 0, sizeof *p);
  p->request = *request;
  p->zoom = request->zoom;
  p->speed = DEFAULT_SPEED;
  p->focus = p->edited = -1;
  p->without_max = p->request.without_max = without_max;
  request_choose_small(&p->request);
  if (request->n_algorithms > 1) p->scene = SCENE_RACE;
  if (*request->scene) scene_from_name(request->scene, &p->scene);
  if (request_stage(&p->request, without_max, 0, &p->stage, error)) return error->status;
  while (p->speed + 1 < N_SPEEDS && (double)p->stage.n_steps / SPEEDS[p->speed] > LONGEST_RUN_S) p->speed++;
  p->request.step = 0;
  mark_events(p);
  show(p, (uint64_t)request->step);
  p->moved_s = MOVE_S;
  say_what_fits(p);
  return STATUS_OK;
}

void player_give_l2(Player *p, const SnapshotL2 *l2) {
  stage_give_l2(&p->stage, l2);
  p->now.l2 = *l2;
}

void player_free(Player *p) { stage_free(&p->stage); }

/* ---- Time and place -------------------------------------------------------------------------------------- */

void player_seek(Player *p, uint64_t step) {
  p->is_playing = false;
  p->message[0] = '\0';
  if (step > p->stage.n_steps) step = p->stage.n_steps;
  if (step != p->now.step) show(p, step);
  p->moved_s = MOVE_S;
}

void player_scrub(Player *p, double part) {
  part = part > 0 ? fmin(part, 1) : 0;
  player_seek(p, part >= 1 ? p->stage.n_steps : (uint64_t)(part * (double)p->stage.n_steps + 0.5));
}

void player_go_to_tile(Player *p, int64_t i, int64_t j) {
  player_seek(p, stage_step_of_tile(&p->stage, p->now.step, i, j));
  p->moved_s = 0;
}

static void stride(Player *p, Stride by, int direction) {
  const uint64_t before = p->now.step;
  p->is_playing = false;
  p->message[0] = '\0';
  show(p, stage_stride(&p->stage, before, by, direction));
  if (direction < 0) p->moved_s = MOVE_S;
  if (p->now.step == before) player_say(p, false, direction > 0 ? "This is the end" : "This is the start");
}

/* To the next event of a kind. Without one the place stays. */
static void jump(Player *p, Stride to, EventKind kind, const char *what, int direction) {
  const uint64_t before = p->now.step;
  const bool is_searched = to != STRIDE_SKIP || p->now.whole.tiles[TILE_SKIPPED] > 0;
  p->is_playing = false;
  p->message[0] = '\0';
  if (is_searched) show(p, stage_stride(&p->stage, before, to, direction));
  p->moved_s = MOVE_S;
  if (is_searched && p->now.has_event && p->now.event.kind == kind && p->now.step != before) return;
  const bool is_cut = is_searched && (direction > 0 ? p->stage.n_steps - before : before) > STAGE_SEARCH_EVENTS;
  if (p->now.step != before) show(p, before);
  if (is_cut)
    player_say(p, false, "There is no %s within %s events %s", what, number_count(STAGE_SEARCH_EVENTS).text,
               direction > 0 ? "after this" : "before this");
  else
    player_say(p, false, "There is no %s %s", what, direction > 0 ? "after this" : "before this");
}

static void set_playing(Player *p) {
  p->message[0] = '\0';
  if (!p->is_playing && p->now.step == p->stage.n_steps) show(p, 0);
  p->is_playing = !p->is_playing;
  p->owed_events = 0;
}

static void set_speed(Player *p, int by) {
  const int speed = p->speed + by;
  if (speed >= 0 && speed < N_SPEEDS) p->speed = speed;
  player_say(p, false, "%s events a second", number_count((Wide)SPEEDS[p->speed]).text);
}

/* ---- Guided play ----------------------------------------------------------------------------------------- */

#define GUIDED_CALM_STEPS 8.0 /* so many at the usual speed; then faster and faster */
enum { GUIDED_MOST_STEPS = 256 /* in one tick: a snapshot each */ };

static void set_guided(Player *p) {
  p->is_guided = !p->is_guided;
  p->is_playing = false;
  p->guided_steps = 0;
  if (!p->is_guided) {
    player_say(p, false, "Guided play is over");
    return;
  }
  memset(p->is_shown, 0, sizeof p->is_shown);
  p->n_shown = 0;
  set_playing(p);
  player_say(p, false, "Guided play: it stops at each thing that is new. Space goes on; j ends it");
}

/* Whether the present step shows what was not shown yet; then it stops there. */
static bool stop_at_news(Player *p) {
  const int situation = narration_situation(&p->now);
  if (p->is_shown[situation]) return false;
  p->is_shown[situation] = true;
  p->n_shown++;
  p->guided_steps = 0;
  p->is_playing = false;
  p->moved_s = 0;
  if (p->now.step < p->stage.n_steps)
    player_say(p, false, "New: %s. Space goes on to the next new thing", narration_situation_name(situation));
  else
    player_say(p, false, "This is the end. Guided play showed %d different moments", p->n_shown);
  return true;
}

/* Step by step, so that nothing new is passed over. */
static void guided_tick(Player *p, double seconds) {
  const double hurry = 1 + (double)p->guided_steps / GUIDED_CALM_STEPS;
  p->owed_events += seconds * SPEEDS[p->speed] * hurry / p->beats;
  int n = p->owed_events < GUIDED_MOST_STEPS ? (int)p->owed_events : GUIDED_MOST_STEPS;
  p->owed_events = fmin(p->owed_events - n, 1);
  for (; n > 0 && p->is_playing; n--) {
    show(p, p->now.step + 1);
    p->guided_steps++;
    if (stop_at_news(p)) return;
    if (p->now.step == p->stage.n_steps) p->is_playing = false;
  }
  p->moved_s = p->owed_events * p->beats / (SPEEDS[p->speed] * hurry);
}

double player_events_per_s(const Player *p) { return SPEEDS[p->speed]; }

bool player_set_speed(Player *p, double events_per_s) {
  for (int k = 0; k < N_SPEEDS; k++) {
    if (SPEEDS[k] != events_per_s) continue;
    p->speed = k;
    return true;
  }
  return false;
}

/* A level takes ZOOM_S. */
static bool zoom_tick(Player *p, double seconds) {
  const double left = p->request.zoom - p->zoom,
               step = p->reduced_motion ? fabs(left) : fmin(fabs(left), seconds / ZOOM_S);
  p->zoom = p->now.zoom = step == fabs(left) ? p->request.zoom : p->zoom + copysign(step, left);
  return left != 0;
}

bool player_tick(Player *p, double seconds) {
  const bool zooms = zoom_tick(p, fmin(seconds, MAX_TICK_S)), was_moving = player_is_moving(p) || zooms;
  if (p->is_marking) mark_maxima(p);
  if (seconds > MAX_TICK_S) seconds = MAX_TICK_S;
  p->moved_s += seconds;
  if (!p->is_playing) return was_moving;
  if (p->is_guided) {
    const uint64_t before = p->now.step;
    guided_tick(p, seconds);
    return was_moving || p->now.step != before;
  }
  p->owed_events += seconds * SPEEDS[p->speed] / p->beats;
  const double whole = floor(p->owed_events);
  if (whole < 1) return was_moving;
  const uint64_t left = p->stage.n_steps - p->now.step;
  p->owed_events -= whole;
  show(p, whole < (double)left ? p->now.step + (uint64_t)whole : p->stage.n_steps);
  p->moved_s = p->owed_events * p->beats / SPEEDS[p->speed];
  if (p->now.step == p->stage.n_steps) {
    p->is_playing = false;
    player_say(p, false, "This is the end");
  }
  return true;
}

double player_phase(const Player *p) {
  if (p->reduced_motion || (p->is_playing && SPEEDS[p->speed] > FASTEST_WITH_MOTION_PER_S)) return 0;
  const double takes_s = p->is_playing ? p->beats / SPEEDS[p->speed] : MOVE_S;
  return fmin(fmax(p->moved_s / takes_s, 0.001), 1); /* 0 would be a still picture */
}

bool player_is_moving(const Player *p) {
  const double phase = player_phase(p);
  return p->is_playing || p->is_marking || (phase > 0 && phase < 1) || p->zoom != p->request.zoom;
}

/* ---- States and typing ----------------------------------------------------------------------------------- */

ChartKind player_chart(const Player *p) {
  ChartKind chart = CHART_ALL;
  chart_kind_from_name(p->request.chart, &chart);
  return chart;
}

const char *player_state(const Player *p, char text[REQUEST_STATE_BYTES]) {
  return player_state_at(p, p->now.step, text);
}

const char *player_state_at(const Player *p, uint64_t step, char text[REQUEST_STATE_BYTES]) {
  Request shown = p->request;
  shown.step = (int64_t)step;
  snprintf(shown.scene, sizeof shown.scene, "%s", scene_name(p->scene));
  return request_state(&shown, text);
}

/* `line` or, where it is NULL, one option as the command line spells it. */
static bool parse(Player *p, Request *r, const char *line, char *option) {
  const OptionSet sets[] = {{"", REQUEST_SHAPE_OPTIONS, 0},
                            {"", REQUEST_TILING_OPTIONS, 0},
                            {"", REQUEST_MACHINE_OPTIONS, 0},
                            {"", REQUEST_EXPERT_OPTIONS, 0},
                            {0}};
  OptionParser parser = {.sets = sets, .target = r};
  Error error = {0};
  if (!(line ? options_parse_state(&parser, line, &error) : options_parse(&parser, 1, &option, &error))) return true;
  player_say(p, true, "Not possible: %s", error.message);
  return false;
}

/* A step or a scene that the line names is gone to; both are -1 or "" before parsing. */
static void go_to_named(Player *p, const Request *r) {
  if (*r->scene && scene_from_name(r->scene, &p->scene))
    show(p, p->now.step); /* what a snapshot holds is the scene's */
  if (r->step < 0) return;
  if ((uint64_t)r->step > p->stage.n_steps)
    player_say(p, true, "Step %" PRId64 " is beyond the end, which is %s", r->step,
               number_count(p->stage.n_steps).text);
  else
    player_seek(p, (uint64_t)r->step);
}

bool player_take_line(Player *p, const Request *from, const char *line) {
  Request r = *from;
  r.scene[0] = '\0';
  r.step = -1;
  if (!parse(p, &r, line, NULL)) return false;
  if (r.block != from->block && r.tiling.B_r == from->tiling.B_r && r.tiling.B_c == from->tiling.B_c)
    r.tiling.B_r = r.tiling.B_c = 0;
  else if (r.block == from->block && (r.tiling.B_r != from->tiling.B_r || r.tiling.B_c != from->tiling.B_c))
    r.block = 0;
  Request plain = r;
  plain.scene[0] = '\0';
  plain.step = 0;
  if (!player_apply(p, &plain, r.without_max)) return false;
  go_to_named(p, &r);
  return true;
}

static bool ends_in(const char *text, const char *suffix) {
  const size_t length = strlen(text), n = strlen(suffix);
  return length > n && ascii_same(text + length - n, suffix);
}

bool player_open_file(Player *p, const char *path) {
  const char *name = ends_in(path, ".json") ? "model" : ends_in(path, ".walk") ? "algorithm" : "kernel";
  const char *slash = strrchr(path, '/');
  char option[4096];
  Request r = p->request;
  if (*name == 'm') r.shape = (Shape){0};
  if (*name != 'a') r.block = 0;
  if (*name != 'a') r.tiling = (Tiling){0};
  if (*name == 'k') r.n_algorithms = 0;
  const int n = snprintf(option, sizeof option, "--%s=%s", name, path);
  if (n < 0 || (size_t)n >= sizeof option) {
    player_say(p, true, "Not possible: the name of the file is too long");
    return false;
  }
  if (!parse(p, &r, NULL, option) || !player_apply(p, &r, p->without_max)) return false;
  player_say(p, false, "Opened %.100s", slash ? slash + 1 : path);
  return true;
}

bool player_restore(Player *p, const char *line) {
  const Request fresh = {0};
  if (!player_take_line(p, &fresh, line)) return false;
  if (!strstr(line, "step=")) player_seek(p, 0); /* a state without a step is at the start */
  return true;
}

/* ---- What is open ---------------------------------------------------------------------------------------- */

static const struct {
  PlayerInput input;
  char key;
  const char *name, *remark;
} FORMATS[] = {
    {INPUT_EXPORT_PNG, 'e', "PNG", "what is on the screen, in its pixels"},
    {INPUT_EXPORT_SVG, 'v', "SVG", "what is on the screen, text as text"},
    {INPUT_EXPORT_PDF, 'p', "PDF", "what is on the screen, text as text"},
    {INPUT_EXPORT_WEBP, 'w', "WebP", "the whole run, moving"},
    {INPUT_EXPORT_MP4, 'm', "MP4", "the whole run, moving; ffmpeg makes it"},
    {INPUT_EXPORT_GIF, 'g', "GIF", "the whole run, moving"},
    {INPUT_EXPORT_SERIES, 's', "PNG files", "the whole run, a file for each frame"},
};
enum { N_FORMATS = sizeof FORMATS / sizeof *FORMATS };

static void open_formats(Player *p) {
  memset(p->choices, 0, sizeof p->choices);
  for (int k = 0; k < N_FORMATS; k++) {
    snprintf(p->choices[k].name, sizeof p->choices[k].name, "%s", FORMATS[k].name);
    snprintf(p->choices[k].remark, sizeof p->choices[k].remark, "%s", FORMATS[k].remark);
    p->choices[k].key = FORMATS[k].key;
  }
  p->n_choices = N_FORMATS;
  p->chosen = 0;
  p->edited = -1;
  p->open = OPEN_LIST;
}

static void open_entry(Player *p, int edited) {
  p->open = OPEN_ENTRY;
  p->edited = edited;
  p->entry[0] = '\0';
}

static void edit(Player *p, Parameter which) {
  p->message[0] = '\0';
  if (PARAMETERS[which].kind == PARAMETER_SWITCH) {
    parameter_step(p, which, 1);
  } else if (PARAMETERS[which].kind == PARAMETER_NUMBER) {
    open_entry(p, (int)which);
  } else {
    p->n_choices = parameter_choices(p, which, p->choices, &p->chosen);
    p->edited = (int)which;
    p->open = p->n_choices > 0 ? OPEN_LIST : OPEN_NOTHING;
    if (p->n_choices == 0)
      player_say(p, true, "Not possible: the list cannot be read; 'tilewalk doctor' says what is missing");
  }
}

static PlayerInput choose(Player *p, int k) {
  if (p->open != OPEN_LIST || k < 0 || k >= p->n_choices) return INPUT_NONE;
  const int edited = p->edited;
  p->open = OPEN_NOTHING;
  p->message[0] = '\0';
  if (edited < 0) return FORMATS[k].input;
  parameter_set(p, (Parameter)edited, p->choices[k].name);
  return INPUT_NONE;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* A key of its own, else the next line that begins with the letter. */
static PlayerInput type_in_list(Player *p, char letter) {
  for (int k = 0; k < p->n_choices; k++)
    if (p->choices[k].key && p->choices[k].key == lower(letter)) return choose(p, k);
  for (int by = 1; by <= p->n_choices; by++) {
    const int k = (p->chosen + by) % p->n_choices;
    if (lower(p->choices[k].name[0]) != lower(letter)) continue;
    p->chosen = k;
    break;
  }
  return INPUT_NONE;
}

PlayerInput player_type(Player *p, const char *text) {
  const size_t used = strlen(p->entry), more = strlen(text);
  if (p->open == OPEN_LIST && *text) return type_in_list(p, *text);
  if (p->open == OPEN_ENTRY && used + more < sizeof p->entry) memcpy(p->entry + used, text, more + 1);
  return INPUT_NONE;
}

void player_erase(Player *p) {
  size_t n = strlen(p->entry);
  while (n > 0 && ((unsigned char)p->entry[n - 1] & 0xC0) == 0x80) n--; /* a whole UTF-8 character */
  if (n > 0) p->entry[n - 1] = '\0';
}

void player_move(Player *p, int by) {
  if (p->open == OPEN_LIST && p->n_choices > 0)
    p->chosen = ((p->chosen + by) % p->n_choices + p->n_choices) % p->n_choices;
}

void player_cancel(Player *p) {
  if (p->open == OPEN_NOTHING) p->focus = -1;
  if (p->open == OPEN_ENTRY) p->message[0] = '\0'; /* why the entry was refused */
  p->open = OPEN_NOTHING;
  p->entry[0] = '\0';
}

/* What is refused stays in the line, to be put right. */
PlayerInput player_accept(Player *p) {
  if (p->open == OPEN_LIST) return choose(p, p->chosen);
  if (p->open != OPEN_ENTRY) return INPUT_NONE;
  const bool taken = !*p->entry || (p->edited < 0 ? player_take_line(p, &p->request, p->entry)
                                                  : parameter_set(p, (Parameter)p->edited, p->entry));
  if (!taken) return INPUT_NONE;
  p->open = OPEN_NOTHING;
  p->entry[0] = '\0';
  return INPUT_NONE;
}

/* ---- Inputs ---------------------------------------------------------------------------------------------- */

static void place_input(Player *p, PlayerInput input) {
  static const Stride STRIDES[] = {STRIDE_EVENT, STRIDE_TILE, STRIDE_ROW, STRIDE_PASS};
  const int direction = (input - INPUT_EVENT_NEXT) % 2 == 0 ? 1 : -1;
  if (input <= INPUT_PASS_BACK)
    stride(p, STRIDES[(input - INPUT_EVENT_NEXT) / 2], direction);
  else if (input <= INPUT_MAX_BACK)
    jump(p, STRIDE_NEW_MAX, EVENT_NEW_MAX, "new maximum", direction);
  else if (input <= INPUT_SKIP_BACK)
    jump(p, STRIDE_SKIP, EVENT_SKIP, "skipped tile", direction);
  else
    jump(p, STRIDE_STORE, EVENT_STORE, "write-back", direction);
}

/* Asked for again, the charts show the next of them alone, and after the last all of them. */
static void choose_scene(Player *p, SceneKind scene) {
  if (scene == SCENE_CHARTS && p->scene == SCENE_CHARTS) {
    const ChartKind next = (ChartKind)((player_chart(p) + 1) % CHART_KIND_COUNT);
    snprintf(p->request.chart, sizeof p->request.chart, "%s", next == CHART_ALL ? "" : chart_kind_name(next));
  }
  if (scene != p->scene) p->zoom = p->request.zoom = 0;
  p->scene = scene;
  const double moved_s = p->moved_s;
  show(p, p->now.step);
  p->moved_s = moved_s;
}

/* The chips in the order they stand in; nothing after the last. */
static void move_focus(Player *p, int direction) {
  p->focus += direction;
  if (p->focus >= PARAMETER_COUNT || p->focus < -1) p->focus = p->focus < 0 ? PARAMETER_COUNT - 1 : -1;
}

/* A projector has the scene; the controls come when they are pointed at, folded. */
static void set_presentation(Player *p, bool is_on) {
  if (is_on) p->was_folded = p->is_folded;
  p->is_folded = is_on || p->was_folded;
  p->presentation = is_on;
}

/* One thing at a time; nobody loses a lesson by a key too many. */
static PlayerInput escape(Player *p) {
  if (p->open != OPEN_NOTHING || p->focus >= 0) {
    player_cancel(p);
  } else if (p->presentation) {
    set_presentation(p, false);
    player_say(p, false, "Presentation is over");
  } else if (p->asks_quit) {
    return INPUT_QUIT;
  } else {
    p->asks_quit = true;
    player_say(p, false, "Escape again quits; any other key goes on");
  }
  return INPUT_NONE;
}

/* Of playing and of the race. Which of the racers is walked, the last to be done, may be another one. */
static void set_clock(Player *p) {
  Request r = p->request;
  r.by_time = !r.by_time;
  if (r.n_algorithms > 1) {
    if (!player_apply(p, &r, p->without_max)) return;
  } else {
    p->request.by_time = p->stage.config.by_time = r.by_time;
    const double moved_s = p->moved_s;
    show(p, p->now.step);
    p->moved_s = moved_s;
  }
  player_say(p, false,
             r.by_time ? "By the model's time: a load takes as long as its bytes, and the race is one of time"
                       : "A step a beat; the race is one of bytes");
}

static void set_zoom(Player *p, int direction) {
  const int levels = scene_zooms(p->scene) + 1;
  p->request.zoom = direction < 0 ? (p->request.zoom > 0 ? p->request.zoom - 1 : 0) : (p->request.zoom + 1) % levels;
}

PlayerInput player_input(Player *p, PlayerInput input) {
  if (p->asks_quit && input != INPUT_ESCAPE) {
    p->asks_quit = false;
    p->message[0] = '\0';
  }
  if (input >= INPUT_COPY) return input;
  if (input >= INPUT_EVENT_NEXT && input <= INPUT_STORE_BACK) place_input(p, input);
  if (input >= INPUT_SCENE && input <= INPUT_SCENE_LAST) choose_scene(p, (SceneKind)(input - INPUT_SCENE));
  if (input >= INPUT_MORE && input <= INPUT_MORE_LAST) parameter_step(p, (Parameter)(input - INPUT_MORE), 1);
  if (input >= INPUT_LESS && input <= INPUT_LESS_LAST) parameter_step(p, (Parameter)(input - INPUT_LESS), -1);
  if (input >= INPUT_EDIT && input <= INPUT_EDIT_LAST) edit(p, (Parameter)(input - INPUT_EDIT));
  if (input >= INPUT_CHOOSE && input <= INPUT_CHOOSE_LAST) return choose(p, (int)(input - INPUT_CHOOSE));
  switch (input) {
  case INPUT_PLAY: set_playing(p); break;
  case INPUT_START: player_seek(p, 0); break;
  case INPUT_END: player_seek(p, p->stage.n_steps); break;
  case INPUT_FASTER: set_speed(p, 1); break;
  case INPUT_SLOWER: set_speed(p, -1); break;
  case INPUT_FOCUS_NEXT: move_focus(p, 1); break;
  case INPUT_FOCUS_BACK: move_focus(p, -1); break;
  case INPUT_THEME: p->dark = !p->dark; break;
  case INPUT_PRESENTATION: set_presentation(p, !p->presentation); break;
  case INPUT_FOLD: p->is_folded = !p->is_folded; break;
  case INPUT_MOTION:
    p->reduced_motion = !p->reduced_motion;
    player_say(p, false, p->reduced_motion ? "Reduced motion: tiles do not travel" : "Tiles travel");
    break;
  case INPUT_CLOCK: set_clock(p); break;
  case INPUT_ZOOM_IN: set_zoom(p, 1); break;
  case INPUT_ZOOM_OUT: set_zoom(p, -1); break;
  case INPUT_GUIDE: set_guided(p); break;
  case INPUT_ESCAPE: return escape(p);
  case INPUT_HELP: p->open = p->open == OPEN_HELP ? OPEN_NOTHING : OPEN_HELP; break;
  case INPUT_ENTRY: open_entry(p, -1); break;
  case INPUT_EXPORT: open_formats(p); break;
  default: break;
  }
  return INPUT_NONE;
}

PlayerInput player_key(char character) {
  static const struct {
    char key;
    PlayerInput input;
  } KEYS[] = {{' ', INPUT_PLAY},
              {'+', INPUT_FASTER},
              {'=', INPUT_FASTER},
              {'-', INPUT_SLOWER},
              {'m', INPUT_MAX_NEXT},
              {'M', INPUT_MAX_BACK},
              {'s', INPUT_SKIP_NEXT},
              {'S', INPUT_SKIP_BACK},
              {'w', INPUT_STORE_NEXT},
              {'W', INPUT_STORE_BACK},
              {'x', INPUT_EDIT + PARAMETER_PRESET},
              {'t', INPUT_THEME},
              {'p', INPUT_PRESENTATION},
              {'r', INPUT_MOTION},
              {'k', INPUT_CLOCK},
              {'j', INPUT_GUIDE},
              {'J', INPUT_STORY},
              {'?', INPUT_HELP},
              {':', INPUT_ENTRY},
              {'y', INPUT_COPY},
              {'d', INPUT_DESCRIBE},
              {'e', INPUT_EXPORT},
              {'v', INPUT_EXPORT_SVG},
              {'P', INPUT_EXPORT_PDF},
              {'f', INPUT_FULLSCREEN},
              {'F', INPUT_FOLD},
              {'K', INPUT_NOTES},
              {'l', INPUT_SIDE},
              {'q', INPUT_QUIT}};
  for (int k = 0; k < SCENE_COUNT; k++)
    if (scene_key((SceneKind)k) == character) return (PlayerInput)(INPUT_SCENE + k);
  for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
    if (KEYS[k].key == character) return KEYS[k].input;
  for (int k = 0; character && k < PARAMETER_COUNT; k++) {
    if (PARAMETERS[k].more == character) return (PlayerInput)(INPUT_MORE + k);
    if (PARAMETERS[k].less == character) return (PlayerInput)(INPUT_LESS + k);
  }
  return INPUT_NONE;
}

const KeyHelp KEY_HELP[] = {
    {"Space, j", "play, pause; guided play, which stops at each thing that is new"},
    {"J", "the story: somebody leads, and asks first"},
    {"Right, Left", "one operation on, back"},
    {"Page Down, Page Up", "one tile on, back"},
    {"Down, Up", "one row of tiles on, back"},
    {"Shift + Down, Up", "one pass on, back"},
    {"Home, End", "to the start, to the end"},
    {"m, s, w", "to the next new maximum, skipped tile, write-back (capital: the one before)"},
    {"+, -", "faster, slower"},
    {"1 to 9, 0, z, Z, Q, E",
     "scenes: all, tiles, hierarchy, softmax, causal, charts, timeline, code, race, warp, decode, pipeline, zoom, "
     "serving (6: the next chart)"},
    {"x", "whole problems to choose from"},
    {"a  n  h  b  g", "algorithm, N, head dimension d, data type, GPU: the next (capital: the one before)"},
    {"]  )  }", "the block, B_r, B_c doubled ( [  (  {  halved )"},
    {"u, i", "SRAM, heads doubled (capital: halved)"},
    {"c, o", "causal or not; softmax without the maximum: it overflows"},
    {"Tab", "to a parameter: Up, Down step it, Return or a digit types it, Escape leaves it"},
    {"Wheel, Return, Backspace", "in pipeline and zoom: a level in, out; elsewhere the wheel steps"},
    {"Return or :", "type any parameters, such as  block=16 gpu=h200 sram=96K"},
    {"y, Ctrl+V", "copy the one-line state (and print it), take one"},
    {"e", "save: the screen as PNG, SVG (v) or PDF (P), the run as WebP, GIF or PNG files"},
    {"d", "print this step in words"},
    {"t, p, f", "theme, presentation, full screen"},
    {"F, K", "the controls folded to a row, or unfolded; the speaker's page, in a window of its own"},
    {"r, k", "reduced motion; a step a beat, or the model's time, of the race too"},
    {"l; . and ,", "lessons: the list, or the one that is open; on and back in it (Tab: into its answer)"},
    {"?, q", "these keys, quit (Escape: leaves what is open, presentation, then asks)"},
    {NULL, NULL},
};
