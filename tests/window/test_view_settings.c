/* The window's settings: what they say, what is refused, and files that are damaged or cannot be written. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include <sys/stat.h>

#include "tests/support/test.h"

#ifdef TILEWALK_WINDOW
#include "tests/support/scratch.h"
#include "viz/window/settings.h"

static char home[SCRATCH_BYTES], file[160];

static int set_up(void **state) {
  (void)state;
  if (!scratch_folder(home)) return -1;
  snprintf(file, sizeof file, "%s/config/tilewalk/view.conf", home);
  char config[80];
  snprintf(config, sizeof config, "%s/config", home);
  return setenv("XDG_CONFIG_HOME", config, 1);
}

static int tear_down(void **state) {
  (void)state;
  return !scratch_remove(home);
}

static void write_file(const char *text, size_t length) {
  FILE *out = fopen(file, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(text, 1, length, out), length);
  fclose(out);
}

TEST(test_what_is_saved_is_read) {
  const Settings all[] = {{true, false, true, true, 100, "1920x1080", 0},
                          {false, true, false, false, 1, "320x180", 0},
                          {false, false, false, false, 1000000, "16384x16384", 0}};
  Settings s;
  must(settings_load(&s, fresh_error())); /* nothing yet: defaults */
  assert_true(settings_equal(&s, &(Settings){0}));
  EACH (k, all) {
    must(settings_update(&s, &all[k], fresh_error()));
    must(settings_load(&s, fresh_error()));
    assert_true(settings_equal(&s, &all[k]));
  }
  char folder[200];
  struct stat there;
  snprintf(folder, sizeof folder, "%s/config/tilewalk", home);
  assert_int_equal(stat(folder, &there), 0);
  assert_int_equal(there.st_mode & 0777, 0700); /* the XDG specification */
}

static void is_left_alone(const char *why) {
  Error error = {0}, again = {0};
  Settings s;
  struct stat before, after;
  assert_int_equal(stat(file, &before), 0);
  assert_int_not_equal(settings_load(&s, &error), STATUS_OK);
  if (!strstr(error.message, why)) fail_msg("'%s' does not say '%s'", error.message, why);
  assert_null(strchr(error.message, '\n'));
  assert_true(settings_equal(&s, &(Settings){0}));
  assert_int_not_equal(settings_update(&(Settings){0}, &(Settings){.dark = true}, &again), STATUS_OK);
  assert_int_equal(stat(file, &after), 0);
  assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
}

/* One line that names file, line and reason; the file stays, and the defaults hold. */
TEST(test_damaged_files_are_left_alone) {
  static const TextSays DAMAGED[] = {{"theme = purple\n", "there are light, dark"},
                                     {"speed = 5\nspeed = 6\n", "view.conf:2"},
                                     {"size = 10x10\n", "size"},
                                     {"speed = -1\n", "speed"},
                                     {"colour = red\n", "colour"},
                                     {"presentation = on\n\x01\n", "view.conf:2"},
                                     {"size = 99999999999999999999x720\n", "size"},
                                     {"speed = 5 apples\n", "speed"},
                                     {"# By another.\nformat = 2\ncolours = many\n", "view.conf"}};
  settings_update(&(Settings){0}, &(Settings){.dark = true}, fresh_error());
  EACH (k, DAMAGED) {
    write_file(DAMAGED[k].text, strlen(DAMAGED[k].text));
    is_left_alone(DAMAGED[k].says);
  }
}

/* What is no file of settings is neither read nor written. */
TEST(test_what_is_of_no_use_is_left_alone) {
  Settings s;
  must(settings_update(&(Settings){0}, &(Settings){.presentation = true}, fresh_error()));
  char *large = malloc(200000);
  assert_non_null(large);
  memset(large, '#', 200000);
  write_file(large, 200000);
  free(large);
  is_left_alone("larger than");
  write_file("format = 1\ntheme = dark\n", 24);
  must(settings_load(&s, fresh_error()));
  assert_true(s.dark);
  assert_int_equal(unlink(file), 0);
  assert_int_equal(mkfifo(file, 0600), 0); /* which nobody writes: it must not be waited for */
  is_left_alone("no plain file");
}

/* A home that cannot be written, a full disk, and no home at all. */
TEST(test_places_that_refuse) {
  Settings s;
  char config[80];
  snprintf(config, sizeof config, "%s/config", home);
  FILE *out = fopen(config, "w"); /* a file where the folder should be */
  assert_non_null(out);
  fclose(out);
  assert_int_equal(settings_update(&(Settings){0}, &(Settings){.dark = true}, fresh_error()), STATUS_BAD_REQUEST);
  assert_null(strchr(test_error.message, '\n'));
  must(settings_load(&s, fresh_error()));
  unlink(config);
  const uid_t user = geteuid();
  assert_int_equal(chmod(home, 0555), 0);
  if (user == 0) assert_int_equal(seteuid(65534), 0); /* root may write anywhere */
  must_refuse(settings_update(&(Settings){0}, &(Settings){.dark = true}, fresh_error()), STATUS_BAD_REQUEST,
              "cannot make the folder");
  assert_int_equal(seteuid(user), 0);
  setenv("XDG_CONFIG_HOME", "relative", 1); /* not allowed, and so as if it were not there */
  unsetenv("HOME");
  must(settings_update(&(Settings){0}, &(Settings){.dark = true}, fresh_error()));
  must(settings_load(&s, fresh_error()));
  assert_int_not_equal(access("relative", F_OK), 0);
}

/* Two windows that close one after the other: each adds what was changed in it. */
TEST(test_two_windows_lose_nothing) {
  Settings s;
  const Settings began = {false, false, false, false, 5, "1280x720", 0},
                 one = {true, false, false, false, 5, "1280x720", 0},
                 two = {false, false, false, false, 50, "1600x900", 0},
                 both = {true, false, false, false, 50, "1600x900", 0};
  must(settings_update(&began, &one, fresh_error()));
  must(settings_update(&began, &two, fresh_error()));
  must(settings_load(&s, fresh_error()));
  assert_true(settings_equal(&s, &both));
}

/* What was given as an option for once is not kept; what was changed in the window is. */
TEST(test_only_changes_are_kept) {
  const Settings loaded = {true, false, false, false, 5, "1280x720", 0},
                 began = {true, true, false, false, 5, "1920x1080", 0};
  Settings kept = settings_merge(&loaded, &began, &began);
  assert_true(settings_equal(&kept, &loaded));
  const Settings ended = {false, true,        true, false,
                          50,    "1600x1080", 0}, /* its width alone: the size is of one window */
      expected = {false, false, true, false, 50, "1600x1080", 0};
  kept = settings_merge(&loaded, &began, &ended);
  assert_true(settings_equal(&kept, &expected));
}

EACH_TEST(set_up, tear_down)
#else
int main(void) { return 77; } /* a build without SDL2 has no settings */
#endif
