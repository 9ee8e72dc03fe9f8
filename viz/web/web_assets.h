/* What a page gives to viz/request/assets.h instead of files. */
#ifndef TILEWALK_VIZ_WEB_WEB_ASSETS_H
#define TILEWALK_VIZ_WEB_WEB_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

/* Takes a bundle, from malloc, for good. False: it is not one, or there are too many; it is the caller's then. */
bool web_assets_take(char *bytes, size_t length);

#endif
