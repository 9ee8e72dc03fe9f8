/* What the files of a request share. */
#ifndef TILEWALK_VIZ_REQUEST_REQUEST_PARTS_H
#define TILEWALK_VIZ_REQUEST_REQUEST_PARTS_H

#include "viz/request/request.h"

enum { REQUEST_DEFAULT_N = 4096, REQUEST_DEFAULT_D = 128 };

/* Setters of what the scene `serving` shows, and its check (request_pages.c). Lengths say how long the walk is; a state
 * has + between them. */
Status set_mask(void *target, const char *value, Error *error);
Status set_causal(void *target, const char *value, Error *error);
Status set_window(void *target, const char *value, Error *error);
Status set_algorithm(void *target, const char *value, Error *error);
Status set_lengths(void *target, const char *value, Error *error);
Status set_page(void *target, const char *value, Error *error);
Status set_prefix(void *target, const char *value, Error *error);
Status set_chunk(void *target, const char *value, Error *error);
Status request_pages(Request *request, Error *error);

extern const char *const PACK_NAMES[PACK_COUNT + 1];

#endif
