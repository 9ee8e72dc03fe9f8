/* tilewalk render: any scene at any step to a file, or a run of steps as an animation, without a display. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/cli/command.h"
#include "viz/request/request.h"
#include "viz/cli/chart_file.h"
#include "viz/cli/program_notes.h"
#include "viz/export/animation.h"
#include "viz/export/surface.h"
#include "viz/scene/scene_cache.h"
#include "viz/scene/scene.h"
#include "viz/scene/speaker.h"
#include "viz/text/number.h"
#include "viz/text/print.h"
#include "viz/text/progress.h"

typedef struct {
  Request request;
  OutputRequest output;
  ChartRequest picture;
  bool presentation, describe, speaker;
  bool ranged;                 /* --frames was there */
  int64_t first, last, stride; /* of --frames; last -1: the end; stride 0: about 150 frames */
  int64_t frame_ms;
  int64_t sub_frames; /* of each step; 0: 1 */
} RenderOptions;

enum { DEFAULT_FRAMES = 150, SHORT_STEPS = 400, IN_BETWEENS = 4, DESCRIPTION_BYTES = 4096 };

/* ---- Options --------------------------------------------------------------------------------------------- */

/* "A:B", "A:B:STRIDE"; B may be left out. */
static Status set_frames(void *target, const char *value, Error *error) {
  RenderOptions *o = target;
  char parts[3][32] = {"", "", ""};
  int n = 0;
  const char *p = value;
  for (; n < 3; n++) {
    const size_t length = strcspn(p, ":");
    if (length >= sizeof parts[n]) break;
    memcpy(parts[n], p, length);
    if (!*(p += length)) break;
    p++;
  }
  Error inner = {0};
  long long first = 0, last = -1, stride = 0;
  const bool bad =
      *p || n < 1 || n > 2 || (*parts[0] && options_count("first", parts[0], 0, INT64_MAX, &first, &inner)) ||
      (*parts[1] && options_count("last", parts[1], 0, INT64_MAX, &last, &inner)) ||
      (n == 2 && options_count("stride", parts[2], 1, INT64_MAX, &stride, &inner)) || (last >= 0 && last < first);
  if (bad)
    return error_refuse(
        error, "'%s' is no range of steps; give FIRST:LAST or FIRST:LAST:STRIDE, such as 0:140:2; LAST may be left out",
        quote_text(value).text);
  o->first = first;
  o->last = last;
  o->stride = stride;
  o->ranged = true;
  return STATUS_OK;
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

/* What is seen in one beat: from a step on, n steps. */
typedef struct {
  uint64_t step, length;
} Beat;

typedef struct {
  const RenderOptions *options;
  Stage stage;
  Snapshot now;
  SceneKind scene;
  SceneView view;
  const Theme *theme;
  char footer[REQUEST_STATE_BYTES];
  uint64_t first, stride, last;
  uint64_t each; /* frames a beat */
  Beat *beats;
  uint64_t n_beats;
  Progress progress;
  const volatile sig_atomic_t *interrupted;
} Render;

static void show_moment(Render *r, uint64_t step, double fraction) {
  Request shown = r->options->request;
  const SceneMoment moment = scene_moment(step, step < r->stage.n_steps ? fraction : 0);
  stage_snapshot(&r->stage, moment.step, &r->now);
  r->view.phase = moment.phase;
  shown.step = (int64_t)(step < r->stage.n_steps ? step : r->stage.n_steps);
  shown.step_thousandths = (int)lround(1000 * fraction);
  snprintf(shown.scene, sizeof shown.scene, "%s", scene_name(r->scene));
  question_state(&shown, r->footer);
}

static void draw_still(cairo_t *cr, double width, double height, const void *data) {
  const Render *r = data;
  if (r->options->speaker) {
    const SpeakerPage page = {&r->stage, r->scene, &r->now, r->view, -1, r->footer};
    speaker_draw(&page, cr, width, height, r->theme);
    return;
  }
  scene_draw(r->scene, &r->now, &r->view, cr, width, height, r->theme);
}

/* Frame number `frame` of one every 1 / each of a beat: a step is a beat, and so are skips in a row. */
static void draw_frame(cairo_t *cr, double width, double height, uint64_t frame, void *data) {
  Render *r = data;
  const uint64_t each = r->each, beat = frame / each, part = frame % each;
  const Beat *at = &r->beats[beat < r->n_beats ? beat : r->n_beats - 1];
  const double steps = (double)at->length * (double)part / (double)each;
  show_moment(r, at->step + (uint64_t)steps, at->length > 0 ? steps - floor(steps) : 0);
  draw_still(cr, width, height, r);
}

static bool go_on(uint64_t frame, uint64_t n_frames, void *data) {
  Render *r = data;
  progress_update(&r->progress, frame, n_frames, progress_clock_s());
  return !*r->interrupted;
}

/* The beats from the first step to the last: of `stride` steps, or with a stride of 1 all skips in a row together. */
static Status fill_beats(Render *r, Error *error) {
  const uint64_t most = (r->last - r->first) / r->stride + 3;
  if (most > ANIMATION_FRAMES_MAX + 3u)
    return error_set(error, STATUS_TOO_LARGE,
                     "%" PRIu64 " steps; an animation has at most %d frames. A larger stride takes fewer: --frames "
                     "0:END:STRIDE",
                     most - 2, ANIMATION_FRAMES_MAX);
  r->beats = calloc((size_t)most, sizeof *r->beats);
  if (!r->beats) return error_set(error, STATUS_NO_MEMORY, "no memory for %" PRIu64 " steps", most);
  for (uint64_t step = r->first; step < r->last;) {
    uint64_t length = r->each > 1 && r->stride == 1 ? stage_beat(&r->stage, step) : r->stride;
    if (length > r->last - step) length = r->last - step;
    r->beats[r->n_beats++] = (Beat){step, length};
    step += length;
  }
  r->beats[r->n_beats++] = (Beat){r->last, 0};
  return STATUS_OK;
}

/* Who mails it or puts it on a page should know. */
static void say_if_large(const char *path, uint64_t n_frames, Io *io) {
  FILE *file = fopen(path, "rb");
  const long n_bytes = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
  if (file) fclose(file);
  if (n_bytes > 5000000)
    text_say(io->err,
             "tilewalk render: %s: %s, %llu frames; a larger stride (--frames 0::4) or a smaller --size is less\n",
             path, number_bytes_decimal(wide(n_bytes)).text, (unsigned long long)n_frames);
}

static Status save_animation(Render *r, Io *io, Error *error) {
  const RenderOptions *o = r->options;
  const uint64_t end = r->stage.n_steps;
  r->first = (uint64_t)o->first < end ? (uint64_t)o->first : end;
  r->last = o->ranged && o->last >= 0 && (uint64_t)o->last < end ? (uint64_t)o->last : end;
  const uint64_t n_steps = r->last - r->first;
  const bool is_short = n_steps <= SHORT_STEPS && !o->stride; /* then every step is seen, and the way to the next */
  r->stride = o->stride ? (uint64_t)o->stride : is_short ? 1 : n_steps / DEFAULT_FRAMES + 1;
  r->each = o->sub_frames ? (uint64_t)o->sub_frames : is_short || r->stride == 1 ? IN_BETWEENS : 1;
  if (fill_beats(r, error)) return error->status;
  const uint64_t n_frames = (r->n_beats - 1) * r->each + 1;
  const TextStyle style = text_style_for(io->err);
  r->progress = progress_new(io->err, &style, text_is_terminal(io->err), "render", progress_clock_s());
  r->interrupted = io_catch_interrupt(io);
  show_moment(r, r->first, 0);
  const int beat_ms = r->each > 1 ? 360 : 125; /* a step is to be seen happening, or to pass */
  const int frame_ms = beat_ms / (int)r->each < 20 ? 20 : beat_ms / (int)r->each;
  const Animation animation = {.width = o->picture.width ? o->picture.width : 1280,
                               .height = o->picture.height ? o->picture.height : 720,
                               .n_frames = n_frames,
                               .frame_ms = o->frame_ms ? (int)o->frame_ms : frame_ms,
                               .title = *o->picture.title ? o->picture.title : "Tilewalk",
                               .state = r->footer,
                               .draw = draw_frame,
                               .go_on = go_on,
                               .data = r};
  const Status status = animation_save(o->output.output, &animation, error);
  progress_end(&r->progress);
  if (!status) say_if_large(o->output.output, n_frames, io);
  return status;
}

/* "-.svg": the picture goes to the output, and nothing else does. */
static bool goes_to_output(const RenderOptions *o) { return strncmp(o->output.output, "-.", 2) == 0; }

static Status save_still(Render *r, Io *io, Error *error) {
  const RenderOptions *o = r->options;
  const int width = o->picture.width ? o->picture.width : 1280, height = o->picture.height ? o->picture.height : 720;
  char title[sizeof o->picture.title + 16];
  snprintf(title, sizeof title, "Tilewalk: %s", *o->picture.title ? o->picture.title : scene_title(r->scene));
  const SurfaceMetadata metadata = {title, r->footer};
  return surface_put(o->output.output, io->out, width, height, draw_still, r, &metadata, error);
}

/* ---- The command ----------------------------------------------------------------------------------------- */

static Status check_options(const RenderOptions *o, Error *error) {
  const bool animated = *o->output.output && animation_is_named(o->output.output);
  if (!*o->output.output && !o->describe)
    return error_refuse(
        error, "nowhere to draw to: give -o FILE.png, .svg, .pdf, .webp, .gif or .mp4, or --describe for words");
  if (!*o->output.output && (o->ranged || o->picture.given || o->presentation || o->speaker))
    return error_refuse(
        error,
        "--size, --theme, --title, --presentation, --speaker and --frames are for pictures; name one with -o FILE.png");
  if (*o->output.output && animation_or_picture(o->output.output, error)) return error->status;
  if (goes_to_output(o) && (animated || o->describe))
    return error_refuse(error, "one picture goes to the output: name -.png, -.svg or -.pdf, and --describe apart");
  if (o->sub_frames && !animated)
    return error_refuse(
        error, "--sub-frames is for animations: name a .webp, .gif or .mp4, or a series such as frame-%%04d.png");
  if (o->ranged && !animated)
    return error_refuse(
        error, "--frames makes many pictures: name a .webp, .gif or .mp4, or a series such as frame-%%04d.png");
  return STATUS_OK;
}

static Status prepare(RenderOptions *o, Render *r, Error *error) {
  question_choose_small(&o->request);
  if (check_options(o, error)) return error->status;
  r->options = o;
  r->theme = *o->picture.theme ? theme_named(o->picture.theme) : &theme_light;
  r->view = (SceneView){
      .presentation = o->presentation, .title = *o->picture.title ? o->picture.title : NULL, .memo = memo_new()};
  if (o->request.n_algorithms > 1) r->scene = SCENE_PILES; /* several are to be seen beside each other */
  if (*o->request.scene) scene_from_name(o->request.scene, &r->scene);
  return request_stage(&o->request, o->request.without_max, 0, &r->stage, error);
}

static int run_render(void *options, Io *io, Error *error) {
  RenderOptions *o = options;
  Render *r = calloc(1, sizeof *r);
  if (!r) return error_set(error, STATUS_NO_MEMORY, "no memory for a scene"), EXIT_BAD_REQUEST;
  Status status = prepare(o, r, error);
  if (!status) program_notes(o->request.algorithms, o->request.n_algorithms, io);
  if (!status) show_moment(r, (uint64_t)o->request.step, o->request.step_thousandths / 1000.0);
  if (!status && *o->output.output)
    status = animation_is_named(o->output.output) ? save_animation(r, io, error) : save_still(r, io, error);
  if (!status && o->describe) {
    char text[DESCRIPTION_BYTES];
    show_moment(r, (uint64_t)o->request.step, 0);
    text_put(io->out, scene_describe(r->scene, &r->now, r->view.memo, text, sizeof text));
  }
  stage_free(&r->stage);
  memo_free(r->view.memo);
  free(r->beats);
  free(r);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const Option RENDER_OPTIONS[] = {
    OPTION_SWITCH("presentation", "Larger text and nothing beside the scene, for a projector.",
                  OPTION_FLAG(RenderOptions, presentation)),
    OPTION_SWITCH("speaker", "The speaker's page of the step: what it says, what comes next, and the scene, small.",
                  OPTION_FLAG(RenderOptions, speaker)),
    OPTION_SWITCH("describe", "Print the step in words.", OPTION_FLAG(RenderOptions, describe)),
    OPTION_ROW("frames", "A:B:STRIDE",
               "Steps A to B for an animation. Default: the whole run; of a long one about 150 steps.",
               .set = set_frames),
    OPTION_ROW("sub-frames", "COUNT",
               "Frames of an animation for each step, in which tiles are seen on their way. Default 4, of long runs 1.",
               OPTION_NUMBER(RenderOptions, sub_frames, "the number of frames a step", 1, 60)),
    OPTION_ROW("frame-ms", "MS",
               "How long an animation shows each frame. Default: a step in 360, or 125 where tiles are not seen on "
               "their way.",
               OPTION_NUMBER(RenderOptions, frame_ms, "the milliseconds of a frame", 10, 60000)),
    {0},
};

static const OptionSet SETS[] = {
    {"Scene", QUESTION_SCENE_OPTIONS, offsetof(RenderOptions, request)},
    {"Rendering", RENDER_OPTIONS, 0},
    {"Output", OUTPUT_FILE_OPTIONS, offsetof(RenderOptions, output)},
    {"Picture", PICTURE_OPTIONS, offsetof(RenderOptions, picture)},
    QUESTION_OPTION_SETS(RenderOptions, request),
    {0},
};

const Command COMMAND_RENDER = {
    .name = "render",
    .group = "see",
    .first = "output scene step frames algorithm N d causal",
    .summary = "a picture of any step, or a film of a run",
    .usage = "[--scene SCENE] [--step STEP] [OPTION...] -o FILE",
    .description =
        "Draws what the viewer shows, without a display. The suffix of FILE decides: .png, .svg and .pdf "
        "are one step, .webp, .gif and .mp4 (by ffmpeg) the whole run, and a name such as frame-%04d.png one file per "
        "frame. "
        "Without -N, -d or a block the problem is N = 64, d = 16, causal, in tiles of 8 x 8. Every file "
        "carries the state that made it.",
    .examples = "  # everything on one screen, after 100 events\n"
                "  tilewalk render --step 100 -o main.png\n\n"
                "  # the score matrix for a slide, with text that stays text\n"
                "  tilewalk render --scene walk --step 130 --presentation --title 'Tile by tile' -o tiles.svg\n\n"
                "  # the CTAs of an H200 in time, wave by wave\n"
                "  tilewalk render --scene time --kernel fa3_overlap -N 4096 -d 128 --gpu h100 -o time.png\n\n"
                "  # the run as an animation\n"
                "  tilewalk render --scene walk --frames 0:288:2 -o run.webp\n\n"
                "  # ten steps slowly: the tiles travel\n"
                "  tilewalk render --scene walk --frames 100:110 --sub-frames 5 --frame-ms 40 -o slow.gif\n\n"
                "  # a picture to the output, for another program\n"
                "  tilewalk render --step 40 -o -.png | wc -c\n\n"
                "  # what happens, in words\n"
                "  tilewalk render --step 40 --describe\n",
    .options_bytes = sizeof(RenderOptions),
    .sets = SETS,
    .run = run_render,
};
