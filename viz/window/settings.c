#include "viz/window/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "lessons/engine/record.h"
#include "sim/base/text_add.h"

/* ---- The form -------------------------------------------------------------------------------------------- */

static const char *const THEMES[] = {"light", "dark", NULL}, *const SWITCH[] = {"off", "on", NULL},
                         *const STORY[] = {"unseen", "seen", NULL};

static const KeyfileField FIELDS[] = {
    {"format", KEYFILE_COUNT, offsetof(Settings, format), false, 1, 1, "1", NULL},
    {"speed", KEYFILE_COUNT, offsetof(Settings, events_per_s), false, 1, 1000000, "events a second", NULL},
    {"theme", KEYFILE_WORD, offsetof(Settings, dark), false, 0, 0, "light or dark", THEMES},
    {"presentation", KEYFILE_WORD, offsetof(Settings, presentation), false, 0, 0, "on or off", SWITCH},
    {"reduced-motion", KEYFILE_WORD, offsetof(Settings, reduced_motion), false, 0, 0, "on or off", SWITCH},
    {"story", KEYFILE_WORD, offsetof(Settings, knows_story), false, 0, 0, "seen or unseen", STORY},
    {"size", KEYFILE_TEXT, offsetof(Settings, size), false, 0, 0, "width x height of the window", NULL},
};
enum { N_FIELDS = sizeof FIELDS / sizeof *FIELDS, SIZE = N_FIELDS - 1 };

bool settings_size(const Settings *s, int *width, int *height) {
  int end = 0;
  *width = *height = 0;
  return !*s->size ||
         (sscanf(s->size, "%5dx%5d%n", width, height, &end) == 2 && !s->size[end] && *width >= SETTINGS_LEAST_WIDTH &&
          *height >= SETTINGS_LEAST_HEIGHT && *width <= SETTINGS_MOST_SIDE && *height <= SETTINGS_MOST_SIDE);
}

Status settings_parse(const char *buffer, size_t length, const char *name, Settings *settings, Error *error) {
  Settings read = {0};
  KeyfileNote notes[N_FIELDS] = {0};
  int width, height;
  *settings = read;
  const Status status = keyfile_parse_unsourced(buffer, length, name, FIELDS, N_FIELDS, &read, notes, error);
  if (status) return status;
  if (!settings_size(&read, &width, &height))
    return keyfile_refuse(name, notes[SIZE].line, error, "this is no size; it must be %s", FIELDS[SIZE].help);
  read.format = 0;
  *settings = read;
  return STATUS_OK;
}

void settings_text(const Settings *s, char text[SETTINGS_TEXT_BYTES]) {
  snprintf(text, SETTINGS_TEXT_BYTES,
           "# The window of Tilewalk, as it was closed. May be edited or removed.\nformat = 1\n"
           "speed = %d\n",
           s->events_per_s > 0 ? (int)s->events_per_s : 5);
  for (int k = 0; k < N_FIELDS; k++)
    if (FIELDS[k].kind != KEYFILE_COUNT && *keyfile_text(&FIELDS[k], s))
      text_add(text, SETTINGS_TEXT_BYTES, "%s = %s\n", FIELDS[k].name, keyfile_text(&FIELDS[k], s));
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
  static const size_t BYTES[] = {
      [KEYFILE_TEXT] = KEYFILE_TEXT_BYTES, [KEYFILE_WORD] = sizeof(int), [KEYFILE_COUNT] = sizeof(int64_t)};
  Settings kept = *loaded;
  for (const KeyfileField *f = FIELDS; f < FIELDS + N_FIELDS; f++)
    if (memcmp((const char *)began + f->offset, (const char *)ended + f->offset, BYTES[f->kind]) != 0)
      memcpy((char *)&kept + f->offset, (const char *)ended + f->offset, BYTES[f->kind]);
  return kept;
}
