#include "viz/window/settings.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lessons/engine/record.h"
#include "sim/base/text_add.h"
#include "sim/base/keyfile.h"

/* ---- The form -------------------------------------------------------------------------------------------- */

typedef struct {
  Settings s;
  int64_t format, events_per_s;
  char size[KEYFILE_TEXT_BYTES];
} Written;

static const char *const THEMES[] = {"light", "dark", NULL}, *const SWITCH[] = {"off", "on", NULL},
                         *const STORY[] = {"unseen", "seen", NULL};

static const KeyfileField FIELDS[] = {
    {"format", KEYFILE_COUNT, offsetof(Written, format), false, 1, 1, "1", NULL},
    {"theme", KEYFILE_WORD, offsetof(Written, s.dark), false, 0, 0, "light or dark", THEMES},
    {"presentation", KEYFILE_WORD, offsetof(Written, s.presentation), false, 0, 0, "on or off", SWITCH},
    {"speed", KEYFILE_COUNT, offsetof(Written, events_per_s), false, 1, 1000000, "events a second", NULL},
    {"reduced-motion", KEYFILE_WORD, offsetof(Written, s.reduced_motion), false, 0, 0, "on or off", SWITCH},
    {"story", KEYFILE_WORD, offsetof(Written, s.knows_story), false, 0, 0, "seen or unseen", STORY},
    {"size", KEYFILE_TEXT, offsetof(Written, size), false, 0, 0, "width x height of the window", NULL},
};
enum { N_FIELDS = sizeof FIELDS / sizeof *FIELDS, SIZE = N_FIELDS - 1 };

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
  *settings = (Settings){0};
  const Status status = keyfile_parse_unsourced(buffer, length, name, FIELDS, N_FIELDS, &written, notes, error);
  if (status) return status;
  if (!take_size(written.size, &written.s.width, &written.s.height))
    return keyfile_refuse(name, notes[SIZE].line, error, "this is no size; it must be %s", FIELDS[SIZE].help);
  *settings = written.s;
  settings->events_per_s = (int)written.events_per_s;
  return STATUS_OK;
}

void settings_text(const Settings *s, char text[SETTINGS_TEXT_BYTES]) {
  snprintf(text, SETTINGS_TEXT_BYTES,
           "# The window of Tilewalk, as it was closed. May be edited or removed.\nformat = 1\n"
           "speed = %d\n",
           s->events_per_s > 0 ? s->events_per_s : 5);
  const Written written = {.s = *s};
  for (int k = 0; k < N_FIELDS; k++)
    if (FIELDS[k].kind == KEYFILE_WORD)
      text_add(text, SETTINGS_TEXT_BYTES, "%s = %s\n", FIELDS[k].name, keyfile_text(&FIELDS[k], &written));
  if (s->width) text_add(text, SETTINGS_TEXT_BYTES, "size = %dx%d\n", s->width, s->height);
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

bool settings_equal(const Settings *a, const Settings *b) { return memcmp(a, b, sizeof *a) == 0; }

Settings settings_merge(const Settings *loaded, const Settings *began, const Settings *ended) {
  const size_t members = sizeof *loaded / sizeof(int);
  Settings kept = *loaded;
  int *now = (int *)&kept;
  const int *before = (const int *)began, *after = (const int *)ended;
  for (size_t k = 0; k < members; k++)
    if (after[k] != before[k]) now[k] = after[k];
  if (ended->width != began->width) kept.height = ended->height; /* a size is of one window */
  if (ended->height != began->height) kept.width = ended->width;
  return kept;
}
