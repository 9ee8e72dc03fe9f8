/* tilewalk render from the command line: files of every kind, and what it refuses. */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

static ProgramRun run;
static char folder[64];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/tilewalk-render-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static void render(const char *format, const char *name) {
  char arguments[512], file[128];
  snprintf(file, sizeof file, "%s/%s", folder, name);
  snprintf(arguments, sizeof arguments, "render %s -o '%s'", format, file);
  program_run(&run, arguments);
}

/* The whole file; the caller frees. NULL: there is none. */
static unsigned char *read_back(const char *name, size_t *n) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *in = fopen(path, "rb");
  if (!in) return NULL;
  unsigned char *bytes = malloc(1 << 24);
  assert_non_null(bytes);
  *n = fread(bytes, 1, 1 << 24, in);
  fclose(in);
  return bytes;
}

static int count(const unsigned char *bytes, size_t n, const char *what) {
  const size_t length = strlen(what);
  int found = 0;
  for (size_t k = 0; k + length <= n; k++) found += memcmp(bytes + k, what, length) == 0;
  return found;
}

static uint32_t big_endian(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Every scene becomes a PNG of the size asked for that carries its state. */
TEST(test_scenes) {
  static const char *const SCENES[] = {"main", "tiles", "hierarchy", "softmax", "causal",   "timeline",
                                       "code", "piles", "warp",      "decode",  "pipeline", "ring"};
  for (int k = 0; k < 10; k++) {
    char options[128];
    size_t n;
    snprintf(options, sizeof options, "--scene %s --step 40 --size 640x360 %s", SCENES[k],
             k % 2 ? "--theme dark" : "--presentation");
    render(options, "scene.png");
    assert_int_equal(run.exit_status, 0);
    assert_string_equal(run.out, "");
    unsigned char *bytes = read_back("scene.png", &n);
    assert_non_null(bytes);
    assert_memory_equal(bytes, "\x89PNG", 4);
    assert_int_equal(big_endian(bytes + 16), 640);
    assert_int_equal(big_endian(bytes + 20), 360);
    assert_int_equal(count(bytes, n, "algorithm=fa2 N=64 d=16 causal=1 block=8"), 1);
    assert_int_equal(count(bytes, n, "step=40"), 1);
    free(bytes);
  }
}

/* The state in a file makes the same file again. */
TEST(test_state_restores) {
  size_t n, m;
  render("--algorithm fa1 -N 96 -d 32 --block 16 --scene softmax --step 77 --row 3 --without-max", "one.svg");
  assert_int_equal(run.exit_status, 0);
  render("--state 'algorithm=fa1 N=96 d=32 block=16 scene=softmax step=77 row=3 without-max=1'", "two.svg");
  assert_int_equal(run.exit_status, 0);
  unsigned char *one = read_back("one.svg", &n), *two = read_back("two.svg", &m);
  assert_true(one && two && n == m);
  assert_memory_equal(one, two, n);
  assert_int_equal(count(one, n, "algorithm=fa1 N=96 d=32 block=16 scene=softmax step=77 row=3 without-max=1") > 0, 1);
  free(one);
  free(two);
}

TEST(test_describe) {
  program_run(&run, "render --step 40 --describe");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "FlashAttention-2, N_q 64, N_k 64, d 16, causal: step 40 of 276."));
  assert_non_null(strstr(run.out, "Moved so far: "));
  assert_non_null(strstr(run.out, "In SRAM: "));
}

/* What the timeline shows is described too. */
TEST(test_describe_timeline) {
  /* longest first: the fifth row block is the fourth of eight CTAs, whose 5 tiles take 5 x 6 steps, one for the mask
   * and three at the ends */
  program_run(&run, "render --scene timeline --step 131 --describe");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "8 CTAs on 108 SMs"));
  assert_non_null(strstr(run.out, "Shown is CTA 4"));
  assert_non_null(strstr(run.out, "it takes 34 steps"));
}

/* A sequence has one file a frame, and nothing else. */
TEST(test_sequence) {
  size_t n;
  render("--scene code --size 480x270 --frames 10:20:4", "frame-%03d.png");
  assert_int_equal(run.exit_status, 0);
  for (int k = 0; k < 6; k++) {
    char name[32];
    snprintf(name, sizeof name, "frame-%03d.png", k);
    unsigned char *bytes = read_back(name, &n);
    assert_int_equal(bytes != NULL, k < 4); /* steps 10, 14, 18 and 20 */
    free(bytes);
  }
}

/* The clock of several algorithms is the bytes of the one that moves most, so at its end all are done. Standard moves
 * 4 N d + 4 N^2 elements of 2 bytes, 40 KiB; FlashAttention-2's 22 KiB are in the tests of its schedule. What scenes
 * were called before leads to those of today. */
TEST(test_piles) {
  render("--algorithm fa2,standard --step 580 --describe", "piles.png");
  assert_int_equal(run.exit_status, 0);
  assert_non_null(strstr(run.out, "fa2 carried 22 KiB, standard carried 40 KiB."));
  render("--scene race --algorithm fa2,standard --step 400 --describe", "piles.png");
  assert_non_null(strstr(run.out, "fa2 is at 100%, standard is at"));
  render("--state 'scene=charts chart=roofline zoom=1' --describe", "piles.png");
  assert_non_null(strstr(run.out, "vermillion lies between"));
  render("--scene zoom --describe", "warp.png");
  assert_non_null(strstr(run.out, "bank"));
}

#ifdef TILEWALK_WEBP
/* From step 121 to 122 V[3] is loaded: three pictures on the way and the one at its end, each of them another, and
 * those that --step draws. */
TEST(test_motion_between_steps) {
  unsigned char *frames[4];
  size_t n[4];
  render("--scene hierarchy --size 640x360 --frames 121:122 --sub-frames 4", "move-%d.png");
  assert_int_equal(run.exit_status, 0);
  for (int k = 0; k < 4; k++) {
    char name[32];
    snprintf(name, sizeof name, "move-%d.png", k);
    frames[k] = read_back(name, &n[k]);
    assert_non_null(frames[k]);
  }
  for (int k = 0; k < 3; k++) assert_false(n[k] == n[k + 1] && memcmp(frames[k], frames[k + 1], n[k]) == 0);
  for (int k = 0; k < 4; k++) free(frames[k]);
  render("--scene hierarchy --size 640x360 --step 121.25", "between.png");
  assert_int_equal(run.exit_status, 0);
  unsigned char *between = read_back("between.png", &n[0]);
  assert_int_equal(count(between, n[0], "step=121.25"), 1);
  free(between);
}

/* 24 events in strides of 2: 13 frames, each different from the one before. */
TEST(test_webp) {
  size_t n;
  render("--scene code --size 480x270 --frames 0:24:2", "run.webp");
  assert_int_equal(run.exit_status, 0);
  unsigned char *bytes = read_back("run.webp", &n);
  assert_memory_equal(bytes, "RIFF", 4);
  assert_memory_equal(bytes + 8, "WEBP", 4);
  assert_int_equal(count(bytes, n, "ANMF"), 13);
  free(bytes);
}
#endif

#ifdef TILEWALK_GIF
TEST(test_gif) {
  size_t n;
  render("--scene tiles --size 480x270 --frames 0:24:2", "run.gif");
  assert_int_equal(run.exit_status, 0);
  unsigned char *bytes = read_back("run.gif", &n);
  assert_memory_equal(bytes, "GIF89a", 6);
  assert_int_equal(bytes[6] | bytes[7] << 8, 480);
  assert_int_equal(bytes[n - 1], ';'); /* the trailer: the file is whole */
  int frames = 0;                      /* graphic control extensions: 21 F9 04 flags delay */
  for (size_t k = 0; k + 4 < n; k++) frames += bytes[k] == 0x21 && bytes[k + 1] == 0xf9 && bytes[k + 2] == 4;
  assert_int_equal(frames, 13);
  free(bytes);
  /* Without --frames the whole run of 276 events, each in four frames; the 28 skips, 7 to 1 in a row, in seven. */
  render("--scene tiles --size 480x270", "run.gif");
  bytes = read_back("run.gif", &n);
  frames = 0;
  for (size_t k = 0; k + 4 < n; k++) frames += bytes[k] == 0x21 && bytes[k + 1] == 0xf9 && bytes[k + 2] == 4;
  assert_int_equal(frames, 4 * (276 - 28 + 7) + 1);
  free(bytes);
}
#endif

/* What cannot be is refused in one line, and nothing is written. */
TEST(test_refused) {
  static const struct {
    const char *options, *name, *words;
  } BAD[] = {
      {"--step 277", "a.png", "beyond the end"},
      {"--scene tile", "a.png", "is no scene"},
      {"", "a.txt", "must end in"},
      {"--frames 0:20", "a.png", "--frames makes many pictures"},
      {"--sub-frames 4", "a.png", "--sub-frames is for animations"},
      {"--sub-frames 0", "a.webp", "between 1 and 60"},
      {"--q-scale 0", "a.png", "between 1 and 1000"},
      {"--frames 20:0", "a.webp", "no range of steps"},
      {"--frames x", "a.webp", "no range of steps"},
      {"--frames 0:20:0", "a.gif", "no range of steps"},
      {"--step 12.5x", "a.png", "is no step"},
      {"--size 5x5", "a.png", "each side"},
      {"--size 5x5", "a.gif", "each side"},
      {"-N 64K -d 128 --block 64 --frames 0::1", "a.webp", "larger stride"},
      {"", "none/a.png", "none"},
      {"--frames 0:3", "none/a-%d.png", "none"},
      {"--frames 0:3", "none/a.webp", "none"},
  };
  for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
    size_t n;
    render(BAD[k].options, BAD[k].name);
    assert_int_equal(run.exit_status, 2);
    if (!strstr(run.err, BAD[k].words)) fail_msg("'%s' %s: %s", BAD[k].options, BAD[k].name, run.err);
    assert_ptr_equal(strchr(run.err, '\n'), run.err + strlen(run.err) - 1);
    assert_null(read_back(BAD[k].name, &n));
  }
  program_run(&run, "render");
  assert_int_equal(run.exit_status, 2);
  assert_non_null(strstr(run.err, "nowhere to draw to"));
}

GROUP(make_folder, remove_folder)
