#ifndef TILEWALK_SIM_BASE_TEXT_ADD_H
#define TILEWALK_SIM_BASE_TEXT_ADD_H

#include <stddef.h>

/* Adds a printf-style text to the end of text[size], which holds a text; what does not fit is cut. */
void text_add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
