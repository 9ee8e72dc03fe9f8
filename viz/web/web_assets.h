/* What a page gives to viz/request/assets.h instead of files. */
#ifndef TILEWALK_VIZ_WEB_WEB_ASSETS_H
#define TILEWALK_VIZ_WEB_WEB_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

/* Takes a bundle, from malloc, for good. False: it is not one, or there are too many; it is the caller's then. */
bool web_assets_take(char *bytes, size_t length);

/* Writes a file that is read as if it had come with a bundle, and before those; another text in its place replaces it.
 * False: no memory, or too long a name. */
enum { WEB_WRITTEN_MAX = 2 };
bool web_assets_write(int place, const char *name, const char *text);

#endif
