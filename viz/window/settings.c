#define _POSIX_C_SOURCE 200809L /* lstat */
#include "viz/window/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/keyfile.h"
#include "sim/base/quote.h"
#include "viz/request/assets.h"
#include "viz/export/output.h"

enum { PATH_BYTES = 4096, SET_ASIDE_MAX = 100 };

/* ---- The form -------------------------------------------------------------------------------------------- */

typedef struct {
  char theme[KEYFILE_TEXT_BYTES], presentation[KEYFILE_TEXT_BYTES], speed[KEYFILE_TEXT_BYTES],
      reduced_motion[KEYFILE_TEXT_BYTES], size[KEYFILE_TEXT_BYTES];
} Written;

static const KeyfileField FIELDS[] = {
    {"theme", KEYFILE_TEXT, offsetof(Written, theme), false, 0, 0, "light or dark"},
    {"presentation", KEYFILE_TEXT, offsetof(Written, presentation), false, 0, 0, "on or off"},
    {"speed", KEYFILE_TEXT, offsetof(Written, speed), false, 0, 0, "events a second"},
    {"reduced-motion", KEYFILE_TEXT, offsetof(Written, reduced_motion), false, 0, 0, "on or off"},
    {"size", KEYFILE_TEXT, offsetof(Written, size), false, 0, 0, "width x height of the window"},
};
enum { N_FIELDS = sizeof FIELDS / sizeof *FIELDS };

/* One of two words; "" leaves *out alone. */
static bool take_word(const char *value, const char *no, const char *yes, bool *out) {
  if (strcmp(value, yes) == 0)
    *out = true;
  else if (strcmp(value, no) == 0)
    *out = false;
  else
    return !*value;
  return true;
}

static bool take_speed(const char *value, double *out) {
  char *end = NULL;
  const long speed = strtol(value, &end, 10);
  if (!*value) return true;
  if (*end || speed < 1 || speed > 1000000) return false;
  *out = (double)speed;
  return true;
}

static bool take_size(const char *value, int *width, int *height) {
  char *end = NULL;
  if (!*value) return true;
  const long w = strtol(value, &end, 10);
  if (*end != 'x') return false;
  const long h = strtol(end + 1, &end, 10);
  if (*end || w < SETTINGS_LEAST_WIDTH || h < SETTINGS_LEAST_HEIGHT || w > SETTINGS_MOST_SIDE || h > SETTINGS_MOST_SIDE)
    return false;
  *width = (int)w;
  *height = (int)h;
  return true;
}

Status settings_parse(const char *buffer, size_t length, const char *name, Settings *settings, Error *error) {
  Written written = {0};
  KeyfileNote notes[N_FIELDS] = {0};
  Settings s = {0};
  *settings = (Settings){0};
  const Status status = keyfile_parse(buffer, length, name, FIELDS, N_FIELDS, &written, notes, error);
  if (status) return status;
  const bool is_good[N_FIELDS] = {
      take_word(written.theme, "light", "dark", &s.dark), take_word(written.presentation, "off", "on", &s.presentation),
      take_speed(written.speed, &s.events_per_s), take_word(written.reduced_motion, "off", "on", &s.reduced_motion),
      take_size(written.size, &s.width, &s.height)};
  for (int k = 0; k < N_FIELDS; k++)
    if (!is_good[k])
      return keyfile_refuse(name, notes[k].line, error, "this is no %s; it must be %s", FIELDS[k].name, FIELDS[k].help);
  *settings = s;
  return STATUS_OK;
}

const char *settings_text(const Settings *s, char text[SETTINGS_TEXT_BYTES]) {
  char size[64] = "";
  if (s->width) snprintf(size, sizeof size, "size = %dx%d\n", s->width, s->height);
  snprintf(text, SETTINGS_TEXT_BYTES,
           "# The window of Tilewalk, as it was closed. May be edited or removed.\ntheme = %s\npresentation = "
           "%s\nspeed = %.0f\nreduced-motion = %s\n%s",
           s->dark ? "dark" : "light", s->presentation ? "on" : "off", s->events_per_s > 0 ? s->events_per_s : 5,
           s->reduced_motion ? "on" : "off", size);
  return text;
}

/* ---- Where ----------------------------------------------------------------------------------------------- */

/* False: there is no home. The XDG specification has relative paths ignored. */
static bool find_path(char path[PATH_BYTES]) {
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  int length = -1;
  if (config && config[0] == '/')
    length = snprintf(path, PATH_BYTES, "%s/tilewalk/view.conf", config);
  else if (home && home[0] == '/')
    length = snprintf(path, PATH_BYTES, "%s/.config/tilewalk/view.conf", home);
  return length > 0 && length < PATH_BYTES - 32;
}

static Status make_folders(const char *path, Error *error) {
  char part[PATH_BYTES];
  for (size_t k = 1; path[k]; k++) {
    if (path[k] != '/') continue;
    snprintf(part, sizeof part, "%.*s", (int)k, path);
    if (mkdir(part, 0700) != 0 && errno != EEXIST && errno != EROFS)
      return error_set(error, STATUS_BAD_REQUEST,
                       "the window's settings cannot be kept: the folder %s cannot be made (%s)", quote(part, k).text,
                       strerror(errno));
  }
  return STATUS_OK;
}

/* Renames the file to the first free name beside it, and says so with the reason. */
static Status set_aside(const char *path, const char *reason, Error *error) {
  char other[PATH_BYTES + 32];
  struct stat there;
  for (int k = 1; k <= SET_ASIDE_MAX; k++) {
    snprintf(other, sizeof other, "%s.damaged-%d", path, k);
    if (lstat(other, &there) == 0) continue;
    if (rename(path, other) != 0) break;
    return error_set(error, STATUS_BAD_REQUEST,
                     "the window's settings are damaged (%s); they were set aside as %.300s, and the defaults are used",
                     reason, other);
  }
  return error_set(error, STATUS_BAD_REQUEST,
                   "the window's settings are damaged (%s) and cannot be set aside; the defaults are used", reason);
}

Status settings_load(Settings *settings, Error *error) {
  char path[PATH_BYTES], *buffer = NULL;
  size_t length = 0;
  struct stat there;
  Error inner = {0};
  *settings = (Settings){0};
  if (!find_path(path) || stat(path, &there) != 0) return STATUS_OK; /* nothing yet */
  if (!S_ISREG(there.st_mode)) return set_aside(path, "this is no file", error);
  const char *name = strrchr(path, '/') + 1;
  Status status = file_read(path, KEYFILE_MAX_BYTES, &buffer, &length, &inner);
  if (!status) status = settings_parse(buffer, length, name, settings, &inner);
  free(buffer);
  if (status == STATUS_NO_MEMORY) return error_set(error, status, "%s", inner.message);
  return status ? set_aside(path, inner.message, error) : STATUS_OK;
}

Status settings_save(const Settings *settings, Error *error) {
  char path[PATH_BYTES], text[SETTINGS_TEXT_BYTES];
  FileWrite file;
  if (!find_path(path)) return STATUS_OK;
  if (make_folders(path, error) || file_write_begin(&file, path, error)) return error->status;
  fputs(settings_text(settings, text), file.stream);
  return file_write_commit(&file, error);
}

/* ---- What changed ---------------------------------------------------------------------------------------- */

bool settings_equal(const Settings *a, const Settings *b) {
  return a->dark == b->dark && a->presentation == b->presentation && a->reduced_motion == b->reduced_motion &&
         a->events_per_s == b->events_per_s && a->width == b->width && a->height == b->height;
}

Settings settings_merge(const Settings *loaded, const Settings *began, const Settings *ended) {
  Settings s = *loaded;
  if (ended->dark != began->dark) s.dark = ended->dark;
  if (ended->presentation != began->presentation) s.presentation = ended->presentation;
  if (ended->reduced_motion != began->reduced_motion) s.reduced_motion = ended->reduced_motion;
  if (ended->events_per_s != began->events_per_s) s.events_per_s = ended->events_per_s;
  if (ended->width != began->width || ended->height != began->height) {
    s.width = ended->width;
    s.height = ended->height;
  }
  return s;
}
