/* A film of frames as a file, for the commands that save one. */
#ifndef TILEWALK_VIZ_CLI_FILM_H
#define TILEWALK_VIZ_CLI_FILM_H

#include "viz/cli/chart_file.h"
#include "viz/export/animation.h"

/* Saves a film of the size that was asked for, with a bar of progress on stderr; SIGINT stops it. Of *film, go_on may
 * be NULL. */
Status film_save(const char *path, const ChartRequest *how, const char *what, const Animation *film, const Io *io,
                 Error *error);

#endif
