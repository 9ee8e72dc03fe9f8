/* What the window remembers from one time to the next: theme, presentation, speed, reduced motion, size.
 *
 *     $XDG_CONFIG_HOME/tilewalk/view.conf, else ~/.config/tilewalk/view.conf
 *
 *     # The window of Tilewalk, as it was closed. May be edited or removed.
 *     format = 1
 *     speed = 5
 *     theme = dark
 *     presentation = off
 *     reduced-motion = off
 *     story = seen
 *     size = 1280x720
 *
 * Written whole or not at all (lessons/engine/record.h). It may come from anywhere: it is read as every description
 * file is (sim/base/keyfile.h: bounded, line numbers in messages). One that cannot be read is left as it is. */
#ifndef TILEWALK_VIZ_WINDOW_SETTINGS_H
#define TILEWALK_VIZ_WINDOW_SETTINGS_H

#include <stdint.h>

#include "sim/base/keyfile.h"

enum { SETTINGS_TEXT_BYTES = 256, SETTINGS_LEAST_WIDTH = 320, SETTINGS_LEAST_HEIGHT = 180, SETTINGS_MOST_SIDE = 16384 };

typedef struct {
  int dark, presentation, reduced_motion, knows_story; /* 0 or 1; the story was opened once by itself */
  int64_t events_per_s;                                /* one of the player's speeds; 0: its default */
  char size[KEYFILE_TEXT_BYTES]; /* of the window, in the display's points, "1280x720"; "": the default */
  int64_t format;                /* of the file, while it is read */
} Settings;

/* Width and height, 0 of the default; false: what is written is no size. */
bool settings_size(const Settings *settings, int *width, int *height);

/* Reads a whole file; keys that it does not give keep their defaults. STATUS_BAD_REQUEST, with name and line: *settings
 * is all defaults. */
Status settings_parse(const char *buffer, size_t length, const char *name, Settings *settings, Error *error);

/* The text of a file. */
void settings_text(const Settings *settings, char text[SETTINGS_TEXT_BYTES]);

/* From the user's file; defaults when there is none. An error is a warning: what is wrong with it; *settings is all
 * defaults then. */
Status settings_load(Settings *settings, Error *error);

/* Adds to the user's file what changed between `began` and `ended`, making its folder: read, changed and written under
 * a lock, so that two windows lose nothing to each other. A file that cannot be read is an
 * error and stays as it is. Without a home there is nowhere, which is no error. */
Status settings_update(const Settings *began, const Settings *ended, Error *error);

/* What to keep when the window opened with `began` and closed with `ended`: what was changed in between; the rest as it
 * was loaded, so that an option given once is not for ever. */
Settings settings_merge(const Settings *loaded, const Settings *began, const Settings *ended);

bool settings_equal(const Settings *a, const Settings *b);

#endif
