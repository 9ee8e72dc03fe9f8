/* How C and a page find each other: what a page can call, and what C calls in it. */
#ifndef TILEWALK_VIZ_WEB_WEB_PAGE_H
#define TILEWALK_VIZ_WEB_WEB_PAGE_H

#include <stddef.h>

#ifdef __wasm__
#define EXPORT       __attribute__((visibility("default"), used)) extern
#define IMPORT(name) __attribute__((import_module("page"), import_name(#name))) extern
#else
#define EXPORT       extern
#define IMPORT(name) extern
#endif

/* How wide a line is in the page's font, in pixels; style as in drawing.h. */
IMPORT(measure) double page_measure(double size, int style, const char *text, size_t length);

/* What the browser keeps under a name, ended by a zero, for free(); NULL: nothing. */
IMPORT(load) char *page_load(const char *name);

/* Keeps it; a length of 0 forgets it. Returns 0 when the browser does not. */
IMPORT(keep) int page_keep(const char *name, const void *bytes, size_t length);

#endif
