/* What a page gives to viz/request/assets.h instead of files. */
#ifndef TILEWALK_VIZ_WEB_WEB_ASSETS_H
#define TILEWALK_VIZ_WEB_WEB_ASSETS_H

#include <stdbool.h>

/* Writes a file that is read before those that the page fetched; another text in its place replaces it. False: no
 * memory. */
enum { WEB_WRITTEN_MAX = 2 };
bool web_assets_write(int place, const char *name, const char *text);

#endif
