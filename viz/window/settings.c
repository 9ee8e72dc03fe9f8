#include "viz/window/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/record.h"
#include "sim/base/keyfile.h"

enum { FORMAT = 1 };

/* ---- The form -------------------------------------------------------------------------------------------- */

typedef struct {
  char format[KEYFILE_TEXT_BYTES], theme[KEYFILE_TEXT_BYTES], presentation[KEYFILE_TEXT_BYTES],
      speed[KEYFILE_TEXT_BYTES], reduced_motion[KEYFILE_TEXT_BYTES], size[KEYFILE_TEXT_BYTES],
      story[KEYFILE_TEXT_BYTES];
} Written;

static const KeyfileField FIELDS[] = {
    {"format", KEYFILE_TEXT, offsetof(Written, format), false, 0, 0, "1", NULL},
    {"theme", KEYFILE_TEXT, offsetof(Written, theme), false, 0, 0, "light or dark", NULL},
    {"presentation", KEYFILE_TEXT, offsetof(Written, presentation), false, 0, 0, "on or off", NULL},
    {"speed", KEYFILE_TEXT, offsetof(Written, speed), false, 0, 0, "events a second", NULL},
    {"reduced-motion", KEYFILE_TEXT, offsetof(Written, reduced_motion), false, 0, 0, "on or off", NULL},
    {"size", KEYFILE_TEXT, offsetof(Written, size), false, 0, 0, "width x height of the window", NULL},
    {"story", KEYFILE_TEXT, offsetof(Written, story), false, 0, 0, "seen or unseen", NULL},
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
  const bool is_good[N_FIELDS] = {!*written.format || strcmp(written.format, "1") == 0,
                                  take_word(written.theme, "light", "dark", &s.dark),
                                  take_word(written.presentation, "off", "on", &s.presentation),
                                  take_speed(written.speed, &s.events_per_s),
                                  take_word(written.reduced_motion, "off", "on", &s.reduced_motion),
                                  take_size(written.size, &s.width, &s.height),
                                  take_word(written.story, "unseen", "seen", &s.knows_story)};
  for (int k = 0; k < N_FIELDS; k++)
    if (!is_good[k])
      return keyfile_refuse(name, notes[k].line, error, "this is no %s; it must be %s", FIELDS[k].name, FIELDS[k].help);
  *settings = s;
  return STATUS_OK;
}

const char *settings_text(const Settings *s, char text[SETTINGS_TEXT_BYTES]) {
  char size[64] = "";
  if (s->width) snprintf(size, sizeof size, "size = %dx%d\n", s->width, s->height);
  snprintf(
      text, SETTINGS_TEXT_BYTES,
      "# The window of Tilewalk, as it was closed. May be edited or removed.\nformat = %d\ntheme = %s\npresentation = "
      "%s\nspeed = %.0f\nreduced-motion = %s\n%s%s",
      FORMAT, s->dark ? "dark" : "light", s->presentation ? "on" : "off", s->events_per_s > 0 ? s->events_per_s : 5,
      s->reduced_motion ? "on" : "off", size, s->knows_story ? "story = seen\n" : "");
  return text;
}

/* ---- The user's file ------------------------------------------------------------------------------------- */

/* What the file says; defaults when there is none, and with an error that says what is wrong with it. */
static Status look(const char *path, Settings *settings, Error *error) {
  char *text = NULL;
  size_t length = 0;
  *settings = (Settings){0};
  Status status = record_read(path, KEYFILE_MAX_BYTES, &text, &length, error);
  if (!status && text) status = settings_parse(text, length, strrchr(path, '/') + 1, settings, error);
  free(text);
  return status;
}

Status settings_load(Settings *settings, Error *error) {
  char path[RECORD_PATH_BYTES];
  *settings = (Settings){0};
  return record_path("XDG_CONFIG_HOME", ".config", "view.conf", path) ? look(path, settings, error) : STATUS_OK;
}

Status settings_update(const Settings *began, const Settings *ended, Error *error) {
  char path[RECORD_PATH_BYTES], text[SETTINGS_TEXT_BYTES];
  RecordLock lock;
  Settings now;
  if (settings_equal(began, ended) || !record_path("XDG_CONFIG_HOME", ".config", "view.conf", path)) return STATUS_OK;
  Status status = record_lock(&lock, path, true, error);
  if (status) return status;
  status = look(path, &now, error);
  const Settings kept = settings_merge(&now, began, ended);
  settings_text(&kept, text);
  if (!status && !settings_equal(&kept, &now)) status = record_write(&lock, text, strlen(text), error);
  record_unlock(&lock);
  return status;
}

/* ---- What changed ---------------------------------------------------------------------------------------- */

bool settings_equal(const Settings *a, const Settings *b) {
  return a->dark == b->dark && a->presentation == b->presentation && a->reduced_motion == b->reduced_motion &&
         a->events_per_s == b->events_per_s && a->width == b->width && a->height == b->height &&
         a->knows_story == b->knows_story;
}

Settings settings_merge(const Settings *loaded, const Settings *began, const Settings *ended) {
  Settings s = *loaded;
  if (ended->dark != began->dark) s.dark = ended->dark;
  if (ended->presentation != began->presentation) s.presentation = ended->presentation;
  if (ended->reduced_motion != began->reduced_motion) s.reduced_motion = ended->reduced_motion;
  if (ended->events_per_s != began->events_per_s) s.events_per_s = ended->events_per_s;
  if (ended->knows_story != began->knows_story) s.knows_story = ended->knows_story;
  if (ended->width != began->width || ended->height != began->height) {
    s.width = ended->width;
    s.height = ended->height;
  }
  return s;
}
