/* tilewalk view: the viewer's window. Where it is left out of the build, one line that says what to install. */
#define _POSIX_C_SOURCE 200809L /* _exit */
#include <unistd.h>

#include "viz/cli/command.h"
#include "viz/story/story_file.h"
#ifdef TILEWALK_WINDOW
#include "viz/text/print.h"
#include "viz/window/lesson_panel.h"
#include "viz/window/settings.h"
#include "viz/window/window.h"
#endif

typedef struct {
  Request request;
  ChartRequest picture; /* --size, --theme */
  bool presentation, fullscreen, reduced_motion;
  long long n_frames;
  char lesson[REQUEST_NAME_BYTES], story[REQUEST_NAME_BYTES];
  bool restart, no_story;
#ifdef TILEWALK_WINDOW
  Player player; /* what it works with */
  LessonPanel panel;
#endif
} ViewOptions;

static Status set_story(void *target, const char *value, Error *error) {
  ViewOptions *o = target;
  if (strlen(value) >= sizeof o->story) return error_refuse(error, "the name of the story is too long");
  snprintf(o->story, sizeof o->story, "%s", strcmp(value, "1") == 0 ? STORY_USUAL : value);
  return STATUS_OK;
}

#ifdef TILEWALK_WINDOW
/* One line, on the screen as well: who starts the viewer from a menu sees no terminal. */
static void warn(Io *io, Player *player, const Error *warning) {
  text_say(io->err, "tilewalk view: %s\n", warning->message);
  player_say(player, true, "%s", warning->message);
}

/* How the player and the window are now. */
static Settings settings_of(const Player *p, const WindowOptions *how) {
  Settings s = {p->dark, p->presentation, p->reduced_motion, how->knows_story, (int64_t)player_events_per_s(p), "", 0};
  snprintf(s.size, sizeof s.size, "%dx%d", how->width, how->height);
  return s;
}

/* As the window was last time, except where an option says otherwise. */
static void open_settings(const ViewOptions *o, Io *io, Player *p, WindowOptions *how) {
  Settings s;
  Error warning = {0};
  if (o->n_frames)
    s = (Settings){0}; /* measuring is the same for everyone */
  else if (settings_load(&s, &warning))
    warn(io, p, &warning);
  p->dark = o->picture.theme_given ? o->picture.dark : s.dark;
  p->presentation = o->presentation || s.presentation;
  p->reduced_motion = o->reduced_motion || s.reduced_motion;
  player_set_speed(p, (double)s.events_per_s);
  how->knows_story = s.knows_story;
  settings_size(&s, &how->width, &how->height);
  if (o->picture.width || !how->width) {
    how->width = o->picture.width ? o->picture.width : WINDOW_DEFAULT_WIDTH;
    how->height = o->picture.width ? o->picture.height : WINDOW_DEFAULT_HEIGHT;
  }
}

static void close_settings(const Settings *began, const Player *p, const WindowOptions *how, Io *io) {
  Error warning = {0};
  const Settings ended = settings_of(p, how);
  if (settings_update(began, &ended, &warning))
    text_say(io->err, "tilewalk view: the window's settings are not kept: %s\n", warning.message);
}

static StoryPlayer *open_story(const char *name, Error *error) {
  Lesson *story = story_open(name, error);
  return story ? story_player_open(story, 0, &LESSON_LIMITS, error) : NULL;
}
static StoryPlayer *open_usual_story(Error *error) { return open_story(STORY_USUAL, error); }

/* The first time, where nothing else is asked for. One that cannot be told is no reason not to open the window. */
static bool wants_story(const ViewOptions *o, const WindowOptions *how) {
  static const Request nothing;
  return !how->knows_story && !o->no_story && !o->n_frames && !*o->lesson && !*o->story &&
         memcmp(&o->request, &nothing, sizeof nothing) == 0;
}

/* With a lesson beside the scene, which says what is shown, or the list of them to be opened. --seed is the learner's
 * where a lesson is named. */
static Status run_with_lessons(ViewOptions *o, Player *player, WindowOptions *how, Io *io, Error *error) {
  const bool has_lesson = *o->lesson != '\0';
  const LessonSessionOptions options = {.seed = (uint64_t)o->request.seed,
                                        .has_seed = has_lesson && o->request.seed != 0,
                                        .restart = has_lesson && o->restart};
  LessonPanel *const panel = &o->panel;
  Status status = lesson_panel_open(panel, has_lesson ? o->lesson : NULL, &options, io->err, error);
  const SidePanel side = lesson_panel_side(panel);
  how->side = &side;
  if (!status) lesson_panel_start(panel, player);
  how->open_story = open_usual_story;
  if (!status && *o->story && !(how->story = open_story(o->story, error))) status = error->status;
  if (!status && wants_story(o, how)) {
    how->story = open_usual_story(NULL);
    how->knows_story = true;
  }
  if (!status) status = window_run(player, how, io->out, error);
  story_player_close(how->story);
  lesson_panel_close(panel);
  return status;
}

/* What SDL and X11 hold cannot be freed without a display, so nothing is: the program ends here. */
static void on_lost_display(const char *state) {
  fflush(NULL);
  text_say(stderr, "tilewalk view: the display went away; to go on where it was: tilewalk view --state '%s'\n", state);
  fflush(NULL);
  _exit(EXIT_BAD_REQUEST);
}

static int run_view(void *options, Io *io, Error *error) {
  ViewOptions *o = options;
  WindowOptions how = {.fullscreen = o->fullscreen,
                       .n_frames = o->n_frames,
                       .started_s = window_clock_s(),
                       .on_lost_display = on_lost_display};
  Player *const player = &o->player;
  Status status = player_open(player, &o->request, error);
  if (!status) {
    open_settings(o, io, player, &how);
    const Settings began = settings_of(player, &how);
    status = run_with_lessons(o, player, &how, io, error);
    if (!status && !o->n_frames) close_settings(&began, player, &how, io);
  }
  player_free(player);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}
#else
static int run_view(void *options, Io *io, Error *error) {
  (void)options;
  (void)io;
  error_refuse(error,
               "this tilewalk was built without SDL2, which the window needs: install libsdl2-dev (Debian, Ubuntu: "
               "apt-get install libsdl2-dev) and build again; 'tilewalk render' draws the same scenes to files");
  return EXIT_BAD_REQUEST;
}
#endif

static const Option LESSON_OPTIONS[] = {
    OPTION_ROW("lesson", "NAME",
               "A lesson beside the scene, by number, name or file (tilewalk lesson lists them). It sets what is "
               "shown; --seed is then the learner's, as in tilewalk lesson.",
               OPTION_TEXT(ViewOptions, lesson, "the name of the lesson"), .choices = "@lessons"),
    OPTION_ROW("story", "[=NAME]", "A story first: why-fast, or another name or file (tilewalk tour --story --list).",
               .set = set_story),
    OPTION_SWITCH(
        "no-story",
        "No story on the first start: without it, a window that is asked for nothing else begins with why-fast, "
        "once.",
        OPTION_FLAG(ViewOptions, no_story)),
    OPTION_SWITCH("restart", "Begin the lesson again, instead of going on.", OPTION_FLAG(ViewOptions, restart)),
    {0},
};

static const Option WINDOW_OPTIONS[] = {
    OPTION_SWITCH("presentation", "Larger text and nothing beside the scene, for a projector.",
                  OPTION_FLAG(ViewOptions, presentation)),
    OPTION_SWITCH("fullscreen", "Fill the screen.", OPTION_FLAG(ViewOptions, fullscreen)),
    OPTION_SWITCH("reduced-motion", "Tiles do not travel between steps.", OPTION_FLAG(ViewOptions, reduced_motion)),
    OPTION_ROW("frames", "COUNT", "Measure: draw that many frames, one event each, print how long they took, and quit.",
               OPTION_NUMBER(ViewOptions, n_frames, "the number of frames", 1, 1000000)),
    {0},
};

static const OptionSet SETS[] = {
    {"Scene", QUESTION_SCENE_OPTIONS, offsetof(ViewOptions, request)},
    {"Lesson", LESSON_OPTIONS, 0},
    {"Window", WINDOW_OPTIONS, 0},
    {"Picture", SIZE_OPTIONS, offsetof(ViewOptions, picture)},
    QUESTION_OPTION_SETS(ViewOptions, request),
    {0},
};

const Command COMMAND_VIEW = {
    .name = "view",
    .group = "see",
    .first = "scene story lesson algorithm N d causal",
    .summary = "a window in which attention runs tile by tile",
    .usage = "[--scene SCENE] [--step STEP] [OPTION...]",
    .description =
        "Starts paused. Play, the way through the run, algorithm, N and the scenes have the mouse: click, drag "
        "or turn the wheel; point at a tile to see its ranges and bytes. All else is typed after Return or a "
        "colon (block=16 gpu=h200 sram=96K), or has a key:\n\n"
        "Space plays; J is the story. Left, Right, Page Up, Page Down, Up, Down, with Shift Up and Down, Home and "
        "End go by operation, tile, row of tiles, pass and run; m, s, w go to the next new maximum, skipped tile "
        "and write-back (a capital: the one before); + and - are faster and slower. 1 "
        "to 6 choose the scene; a and n are the next algorithm and N (a capital: the one before); c is causal or "
        "not.\n\n"
        "e saves what is on the screen into the present folder (v: SVG, P: PDF); films of a run are made by "
        "'tilewalk render'. y copies and prints the one-line state, which --state takes, and Ctrl+V takes one. A "
        "point says the step in words, d prints more of them; K is the speaker's page; l lessons; t, p, f theme, "
        "presentation and full screen; r reduced motion. Escape leaves what is open; q quits.\n\n"
        "Theme, presentation, speed, motion and size are kept in $XDG_CONFIG_HOME/tilewalk/view.conf (~/.config "
        "without it). Without -N, -d or a block the problem is N = 64, d = 16, causal, in tiles of 8 x 8.",
    .examples = "  # walk through FlashAttention-2\n"
                "  tilewalk view\n\n"
                "  # standard attention on a projector\n"
                "  tilewalk view --algorithm standard --presentation --fullscreen\n\n"
                "  # somebody leads: why is FlashAttention fast?\n"
                "  tilewalk view --story\n\n"
                "  # a lesson, with its questions beside what they are about\n"
                "  tilewalk view --lesson the-loop\n\n"
                "  # exactly what someone else saw\n"
                "  tilewalk view --state 'algorithm=fa2 N=64 d=16 causal=1 block=8 scene=walk step=40'\n",
    .options_bytes = sizeof(ViewOptions),
    .sets = SETS,
    .run = run_view,
};
