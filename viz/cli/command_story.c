/* tilewalk tour --story: somebody leads you through a run, and asks first. As text, as a picture of a beat,
 * as a film. */

#include "viz/cli/film.h"
#include "viz/cli/command.h"
#include "viz/story/story_file.h"
#include "viz/lesson/lesson_library.h"
#include "viz/export/surface.h"
#include "viz/story/story_page.h"

enum { FRAMES_PER_SECOND = 30, ASK_SECONDS = 4, USUAL_STORY_BYTES = 256 };

typedef struct {
  OutputRequest output;
  ChartRequest picture;
  char name[USUAL_STORY_BYTES];
  long long N, beat, part, rate;
  bool lint, list, ask;
  /* what it draws with: */
  Lesson *story;
  StoryTold *told;
  const Theme *theme;
  StoryScene scene;
  StoryMoment moment;
  int open; /* the beat of `scene`, from 1; 0: none */
  double starts[STORY_BEATS_MAX + 1];
  Error why; /* of a frame */
} Story;

static Status set_name(void *target, const char *value, Error *error) {
  Story *o = target;
  if (*o->name || !*value || strlen(value) >= sizeof o->name)
    return error_refuse(error, "name one story, or the file of one; `tilewalk tour --story --list` has them");
  strcpy(o->name, value);
  return STATUS_OK;
}

/* ---- Stories ----------------------------------------------------------------------------------------------- */

static void print_story(void *io, const char *name, const char *title) {
  text_say(((Io *)io)->out, "%-16s %s\n", name, quote_text(title).text);
}

/* Every size, every caption, every moment. */
static Status lint(Story *o, Io *io, Error *error) {
  int beats = 0, size = 0;
  for (; story_size(o->story, size) || size == 0; size++) {
    StoryTold *told = story_tell(o->story, story_size(o->story, size), &LESSON_LIMITS, error);
    if (!told) return error->status;
    Status status = STATUS_OK;
    for (int b = 0; b < told->n && !status; b++, beats++) {
      status = story_scene_open(&o->scene, o->story, told, b, error);
      if (!status) status = story_scene_check(&o->scene, o->story, error);
      story_scene_free(&o->scene);
    }
    free(told);
    if (status) return status;
  }
  fprintf(io->out, "%d beats at %d sizes: every caption holds, every moment comes, every part that is lit is there\n",
          beats / size, size);
  return STATUS_OK;
}

/* ---- In a terminal ----------------------------------------------------------------------------------------- */

static void print_beat(const StoryTold *told, int b, bool answered, Io *io) {
  const StoryBeat *beat = &told->beats[b];
  const LessonQuestion *q = &beat->question;
  if (!answered) text_say(io->out, "%s%d of %d  %s\n", b ? "\n" : "", b + 1, told->n, beat->caption);
  if (beat->asks && !answered) text_say(io->out, "        %s\n", q->prompt);
  for (int k = 0; k < q->n_choices && !answered; k++) text_say(io->out, "        %c  %s\n", 'a' + k, q->choice[k]);
  if (beat->asks && answered)
    text_say(io->out, "        %s.%s%s\n", q->answer, *beat->because ? " " : "", beat->because);
}

/* Reads a prediction and says whether it is right. */
static bool ask(const StoryBeat *beat, Io *io) {
  char line[ANSWER_TEXT_BYTES];
  fprintf(io->out, "        > ");
  fflush(io->out);
  if (!fgets(line, sizeof line, stdin)) return false;
  line[strcspn(line, "\n")] = '\0';
  const int letter = (line[0] | 0x20) - 'a';
  const bool is_letter = line[0] && !line[1] && letter >= 0 && letter < beat->question.n_choices;
  if (*line) text_say(io->out, "        %s. ", story_judge(beat, is_letter ? beat->question.choice[letter] : line));
  return true;
}

static void tell(const StoryTold *told, bool asks, Io *io) {
  text_say(io->out, "%s  (N = %jd)\n\n", told->title, told->N);
  for (int b = 0; b < told->n; b++) {
    print_beat(told, b, false, io);
    if (asks && told->beats[b].asks && !ask(&told->beats[b], io)) return;
    print_beat(told, b, true, io);
  }
}

/* ---- As pictures ------------------------------------------------------------------------------------------- */

static Status show_beat(Story *o, int beat, Error *error) {
  if (o->open == beat + 1) return STATUS_OK;
  if (o->open) story_scene_free(&o->scene);
  o->open = beat + 1;
  return story_scene_open(&o->scene, o->story, o->told, beat, error);
}

static void draw_page(cairo_t *cr, double width, double height, const void *data) {
  const Story *o = data;
  story_page_draw(&o->scene, &o->moment, cr, width, height, o->theme, NULL);
}

static double rate_of(const Story *o) { return o->rate ? (double)o->rate : FRAMES_PER_SECOND; }

/* The question first, then the beat, then what was right. */
static void draw_frame(cairo_t *cr, double width, double height, uint64_t frame, void *data) {
  Story *o = data;
  const double at = (double)frame / rate_of(o);
  int beat = 0;
  while (beat + 1 < o->told->n && at >= o->starts[beat + 1]) beat++;
  if (o->why.status || show_beat(o, beat, &o->why)) return;
  const StoryBeat *b = &o->told->beats[beat];
  const double t = at - o->starts[beat];
  char said[STORY_LINE_BYTES + LESSON_OPTION_BYTES];
  snprintf(said, sizeof said, "%s. %s", b->question.answer, b->because);
  o->moment = (StoryMoment){.asking = b->asks && t < ASK_SECONDS};
  o->moment.part = o->moment.asking ? 0 : fmin(1, (t - (b->asks ? ASK_SECONDS : 0)) / b->moments.seconds);
  if (b->asks && o->moment.part >= 1)
    o->moment.asking = true, o->moment.said = said, o->moment.typed = b->question.answer;
  story_scene_show(&o->scene, o->moment.part);
  draw_page(cr, width, height, o);
}

static bool go_on(uint64_t frame, uint64_t n_frames, void *data) {
  (void)frame, (void)n_frames;
  return !((Story *)data)->why.status;
}

static Status save_film(Story *o, Io *io, Error *error) {
  for (int b = 0; b < o->told->n; b++)
    o->starts[b + 1] =
        o->starts[b] + o->told->beats[b].moments.seconds + (o->told->beats[b].asks ? 2 * ASK_SECONDS : 0);
  const Animation film = {.n_frames = (uint64_t)ceil(o->starts[o->told->n] * rate_of(o)),
                          .frame_ms = (int)lround(1000 / rate_of(o)),
                          .frames_per_s = rate_of(o),
                          .title = o->told->title,
                          .draw = draw_frame,
                          .go_on = go_on,
                          .data = o};
  const Status status = film_save(o->output.output, &o->picture, "story", &film, io, error);
  return o->why.status ? error_pass(error, &o->why) : status;
}

static Status save_beat(Story *o, Error *error) {
  const int beat = o->beat ? (int)o->beat - 1 : 0;
  if (beat >= o->told->n) return error_refuse(error, "the story has %d beats, no beat %lld", o->told->n, o->beat);
  const Status status = show_beat(o, beat, error);
  if (status) return status;
  o->moment = (StoryMoment){.asking = o->ask && o->told->beats[beat].asks,
                            .help = o->ask ? "Space goes on, ← goes back, Escape leaves the story." : NULL,
                            .part = (double)o->part / 100};
  story_scene_show(&o->scene, o->moment.part);
  return surface_save(o->output.output, o->picture.width ? o->picture.width : 1280,
                      o->picture.height ? o->picture.height : 720, draw_page, o,
                      &(SurfaceMetadata){o->told->title, o->told->beats[beat].state}, error);
}

/* ---- The command ------------------------------------------------------------------------------------------- */

static int run_story(void *options, Io *io, Error *error) {
  Story *o = options;
  Status status = *o->output.output ? animation_or_picture(o->output.output, error) : STATUS_OK;
  if (!status) status = chart_request_check(&o->picture, &o->output, error);
  if (status) return EXIT_BAD_REQUEST;
  if (o->list) return story_list(print_story, io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
  o->story = story_open(*o->name ? o->name : STORY_USUAL, error);
  if (!o->story) return EXIT_BAD_REQUEST;
  o->told = o->lint ? NULL : story_tell(o->story, o->N, &LESSON_LIMITS, error);
  o->theme = o->picture.dark ? &theme_dark : &theme_light;
  if (o->lint)
    status = lint(o, io, error);
  else if (!o->told)
    status = error->status;
  else if (!*o->output.output)
    tell(o->told, text_is_terminal(io->out) && text_is_terminal(stdin), io);
  else
    status = animation_is_named(o->output.output) ? save_film(o, io, error) : save_beat(o, error);
  if (o->open) story_scene_free(&o->scene);
  free(o->told);
  story_free(o->story);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const Option STORY_OPTIONS[] = {
    OPTION_ROW("size-of-run", "TOKENS", "Tell it at this N, one of the story's sizes. Default: the story's usual one.",
               .letter = 'N', OPTION_NUMBER(Story, N, "the story's size", 1, 1 << 20)),
    OPTION_ROW("beat", "K", "Which beat a picture shows, from 1.",
               OPTION_NUMBER(Story, beat, "the beat", 1, STORY_BEATS_MAX)),
    OPTION_ROW("part", "PERCENT", "How far the beat is in the picture: 0 (default) to 100.",
               OPTION_NUMBER(Story, part, "the part of the beat", 0, 100)),
    OPTION_SWITCH("ask", "The picture has the card with the beat's question.", OPTION_FLAG(Story, ask)),
    OPTION_ROW("fps", "FRAMES", "Frames a second of a film, to 60 (also --rate). Default 30.", .also = "rate",
               OPTION_NUMBER(Story, rate, "frames a second", 1, 60)),
    OPTION_SWITCH(
        "lint",
        "Check it: at each size every caption holds, every moment comes, wrong answers are wrong, and what is lit is "
        "there.",
        OPTION_FLAG(Story, lint)),
    OPTION_SWITCH("list", "The stories that come with Tilewalk.", OPTION_FLAG(Story, list)),
    {0},
};

static const OptionSet SETS[] = {
    {"Story", STORY_OPTIONS, 0},
    {"Output", OUTPUT_FILE_OPTIONS, offsetof(Story, output)},
    {"Picture", SIZE_OPTIONS, offsetof(Story, picture)},
    {0},
};

const Command COMMAND_STORY = {
    .name = "tour --story",
    .old = "story",
    .summary = "somebody leads you: why FlashAttention is fast, in six beats",
    .usage = "[NAME|FILE] [OPTION...]",
    .description =
        "Tells a story beat by beat: a picture, one sentence, and a question before it plays. In a terminal it asks, "
        "and says what is right; with -o it saves a picture of one beat, or with a .webp, .gif or .mp4 (by ffmpeg) the "
        "whole film. Every "
        "number is computed, and a story of whose captions one does not hold is not told. A story is a "
        "lesson that is shown; lessons/README.md says how to write one.",
    .examples = "  # why is FlashAttention fast?\n"
                "  tilewalk tour --story\n\n"
                "  # one beat as a picture, and with its question\n"
                "  tilewalk tour --story --beat 4 --part 60 -o beat.png\n"
                "  tilewalk tour --story --beat 2 --ask -o ask.png\n\n"
                "  # the whole of it as a film\n"
                "  tilewalk tour --story --fps 60 -o why-fast.mp4\n\n"
                "  # does every caption hold, at every size?\n"
                "  tilewalk tour --story --lint\n",
    .options_bytes = sizeof(Story),
    .sets = SETS,
    .set_positional = set_name,
    .run = run_story,
};
