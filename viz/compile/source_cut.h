/* The device's half of a CUDA source: functions of the host are blanked, line numbers stay.
 *
 * A function at file or namespace scope stays when its head has __global__, __device__ or constexpr, or the name of a
 * macro that this file defines to have one. Types, variables, macros and templates of device code stay. This is a
 * scanner of brackets, not a parser: it never adds text. */
#ifndef TILEWALK_VIZ_COMPILE_SOURCE_CUT_H
#define TILEWALK_VIZ_COMPILE_SOURCE_CUT_H

#include <stddef.h>

/* Blanks in place text[0..length); newlines stay. Returns how many functions and declarations went. */
int source_cut(char *text, size_t length);

#endif
