/* tilewalk render: any scene at any step to a file, or a run of steps as an animation, without a display. */

#include "viz/cli/command.h"
#include "viz/cli/film.h"
#include "viz/cli/program_notes.h"
#include "viz/export/surface.h"
#include "viz/scene/scene_cache.h"
#include "viz/scene/speaker.h"

/* What is seen in one beat: from a step on, n steps. */
typedef struct {
  uint64_t step, length;
} Beat;

typedef struct {
  Request request;
  OutputRequest output;
  ChartRequest picture;
  bool presentation, describe, speaker;
  bool ranged;                 /* --frames was there */
  int64_t from, until, stride; /* of --frames; until -1: the end; stride 0: about 150 frames */
  int64_t frame_ms;
  int64_t sub_frames; /* of each step; 0: 1 */
  /* what it works with: */
  Stage stage;
  Snapshot now;
  SceneKind scene;
  SceneView view;
  const Theme *theme;
  char footer[REQUEST_STATE_BYTES];
  uint64_t each; /* frames a beat */
  Beat *beats;
  uint64_t n_beats;
} Render;

enum { DEFAULT_FRAMES = 150, SHORT_STEPS = 400, IN_BETWEENS = 4, DESCRIPTION_BYTES = 4096 };

/* ---- Options --------------------------------------------------------------------------------------------- */

/* "A:B", "A:B:STRIDE"; B may be left out. */
static Status set_frames(void *target, const char *value, Error *error) {
  Render *r = target;
  long long at[3] = {0, -1, 0}; /* first, last, stride */
  bool is_bad = false;
  int n = 0;
  Error inner = {0};
  for (const char *p = value; !is_bad; n++) {
    const Number part = number_text("%.*s", (int)strcspn(p, ":"), p);
    is_bad = n == 3 || ((n == 2 || *part.text) && options_count("", part.text, n == 2, INT64_MAX, &at[n], &inner));
    p += strcspn(p, ":");
    if (!*p++) break;
  }
  if (is_bad || n < 1 || (at[1] >= 0 && at[1] < at[0]))
    return error_refuse(
        error, "'%s' is no range of steps; give FIRST:LAST or FIRST:LAST:STRIDE, such as 0:140:2; LAST may be left out",
        quote_text(value).text);
  r->from = at[0], r->until = at[1], r->stride = at[2];
  r->ranged = true;
  return STATUS_OK;
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

static void show_moment(Render *r, uint64_t step, double fraction) {
  Request shown = r->request;
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
  if (r->speaker) {
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

/* The beats from the first step to the last: of `stride` steps, or with a stride of 1 all skips in a row together. */
static Status fill_beats(Render *r, uint64_t first, uint64_t last, uint64_t stride, Error *error) {
  const uint64_t most = (last - first) / stride + 3;
  if (most > ANIMATION_FRAMES_MAX + 3u)
    return error_set(error, STATUS_TOO_LARGE,
                     "%ju steps; an animation has at most %d frames. A larger stride takes fewer: --frames "
                     "0:END:STRIDE",
                     most - 2, ANIMATION_FRAMES_MAX);
  r->beats = calloc((size_t)most, sizeof *r->beats);
  if (!r->beats) return error_no_memory(error, "for %ju steps", most);
  for (uint64_t step = first; step < last;) {
    uint64_t length = r->each > 1 && stride == 1 ? stage_beat(&r->stage, step) : stride;
    if (length > last - step) length = last - step;
    r->beats[r->n_beats++] = (Beat){step, length};
    step += length;
  }
  r->beats[r->n_beats++] = (Beat){last, 0};
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
  const uint64_t end = r->stage.n_steps, first = (uint64_t)r->from < end ? (uint64_t)r->from : end,
                 last = r->ranged && r->until >= 0 && (uint64_t)r->until < end ? (uint64_t)r->until : end;
  const bool is_short =
      last - first <= SHORT_STEPS && !r->stride; /* then every step is seen, and the way to the next */
  const uint64_t stride = r->stride ? (uint64_t)r->stride : is_short ? 1 : (last - first) / DEFAULT_FRAMES + 1;
  r->each = r->sub_frames ? (uint64_t)r->sub_frames : is_short || stride == 1 ? IN_BETWEENS : 1;
  if (fill_beats(r, first, last, stride, error)) return error->status;
  show_moment(r, first, 0);
  const int beat_ms = r->each > 1 ? 360 : 125; /* a step is to be seen happening, or to pass */
  const int frame_ms = beat_ms / (int)r->each < 20 ? 20 : beat_ms / (int)r->each;
  const Animation film = {.n_frames = (r->n_beats - 1) * r->each + 1,
                          .frame_ms = r->frame_ms ? (int)r->frame_ms : frame_ms,
                          .title = *r->picture.title ? r->picture.title : "Tilewalk",
                          .state = r->footer,
                          .draw = draw_frame,
                          .data = r};
  const Status status = film_save(r->output.output, &r->picture, "render", &film, io, error);
  if (!status) say_if_large(r->output.output, film.n_frames, io);
  return status;
}

/* "-.svg": the picture goes to the output, and nothing else does. */
static bool goes_to_output(const Render *r) { return strncmp(r->output.output, "-.", 2) == 0; }

static Status save_still(Render *r, Io *io, Error *error) {
  const int width = r->picture.width ? r->picture.width : 1280, height = r->picture.height ? r->picture.height : 720;
  char title[sizeof r->picture.title + 16];
  snprintf(title, sizeof title, "Tilewalk: %s", *r->picture.title ? r->picture.title : scene_title(r->scene));
  const SurfaceMetadata metadata = {title, r->footer};
  return surface_put(r->output.output, io->out, width, height, draw_still, r, &metadata, error);
}

/* ---- The command ----------------------------------------------------------------------------------------- */

static Status check_options(const Render *r, Error *error) {
  const bool animated = *r->output.output && animation_is_named(r->output.output);
  if (!*r->output.output && !r->describe)
    return error_refuse(
        error, "nowhere to draw to: give -o FILE.png, .svg, .pdf, .webp, .gif or .mp4, or --describe for words");
  if (!*r->output.output && (r->ranged || r->picture.given || r->picture.theme_given || r->presentation || r->speaker))
    return error_refuse(
        error,
        "--size, --theme, --title, --presentation, --speaker and --frames are for pictures; name one with -o FILE.png");
  if (*r->output.output && animation_or_picture(r->output.output, error)) return error->status;
  if (goes_to_output(r) && (animated || r->describe))
    return error_refuse(error, "one picture goes to the output: name -.png, -.svg or -.pdf, and --describe apart");
  if (r->sub_frames && !animated)
    return error_refuse(
        error, "--sub-frames is for animations: name a .webp, .gif or .mp4, or a series such as frame-%%04d.png");
  if (r->ranged && !animated)
    return error_refuse(
        error, "--frames makes many pictures: name a .webp, .gif or .mp4, or a series such as frame-%%04d.png");
  return STATUS_OK;
}

static Status prepare(Render *r, Error *error) {
  question_choose_small(&r->request);
  if (check_options(r, error)) return error->status;
  r->theme = r->picture.dark ? &theme_dark : &theme_light;
  r->view = (SceneView){
      .presentation = r->presentation, .title = *r->picture.title ? r->picture.title : NULL, .memo = memo_new()};
  if (r->request.n_algorithms > 1) r->scene = SCENE_PILES; /* several are to be seen beside each other */
  if (*r->request.scene) scene_from_name(r->request.scene, &r->scene);
  return request_stage(&r->request, &r->stage, error);
}

static int run_render(void *options, Io *io, Error *error) {
  Render *r = options;
  Status status = prepare(r, error);
  if (!status) program_notes(r->request.algorithms, r->request.n_algorithms, io);
  if (!status) show_moment(r, (uint64_t)r->request.step, r->request.step_thousandths / 1000.0);
  if (!status && *r->output.output)
    status = animation_is_named(r->output.output) ? save_animation(r, io, error) : save_still(r, io, error);
  if (!status && r->describe) {
    char text[DESCRIPTION_BYTES];
    show_moment(r, (uint64_t)r->request.step, 0);
    text_put(io->out, scene_describe(r->scene, &r->now, r->view.memo, text, sizeof text));
  }
  stage_free(&r->stage);
  memo_free(r->view.memo);
  free(r->beats);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const Option RENDER_OPTIONS[] = {
    OPTION_SWITCH("presentation", "Larger text and nothing beside the scene, for a projector.",
                  OPTION_FLAG(Render, presentation)),
    OPTION_SWITCH("speaker", "The speaker's page of the step: what it says, what comes next, and the scene, small.",
                  OPTION_FLAG(Render, speaker)),
    OPTION_SWITCH("describe", "Print the step in words.", OPTION_FLAG(Render, describe)),
    OPTION_ROW("frames", "A:B:STRIDE",
               "Steps A to B for an animation. Default: the whole run; of a long one about 150 steps.",
               .set = set_frames),
    OPTION_ROW("sub-frames", "COUNT",
               "Frames of an animation for each step, in which tiles are seen on their way. Default 4, of long runs 1.",
               OPTION_NUMBER(Render, sub_frames, "the number of frames a step", 1, 60)),
    OPTION_ROW("frame-ms", "MS",
               "How long an animation shows each frame. Default: a step in 360, or 125 where tiles are not seen on "
               "their way.",
               OPTION_NUMBER(Render, frame_ms, "the milliseconds of a frame", 10, 60000)),
    {0},
};

static const OptionSet SETS[] = {
    {"Scene", QUESTION_SCENE_OPTIONS, offsetof(Render, request)},
    {"Rendering", RENDER_OPTIONS, 0},
    {"Output", OUTPUT_FILE_OPTIONS, offsetof(Render, output)},
    {"Picture", PICTURE_OPTIONS, offsetof(Render, picture)},
    QUESTION_OPTION_SETS(Render, request),
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
    .options_bytes = sizeof(Render),
    .sets = SETS,
    .run = run_render,
};
