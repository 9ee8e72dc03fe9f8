/* The parts of a CUDA source that can be left out alone: declarations at file, namespace and class scope. This is a
 * scanner of brackets, not a parser: clang says which parts do not compile (cuda_compile.c), and those are blanked. */
#ifndef TILEWALK_VIZ_COMPILE_SOURCE_CUT_H
#define TILEWALK_VIZ_COMPILE_SOURCE_CUT_H

#include <stdbool.h>
#include <stddef.h>

/* In the order in which they are given up. */
enum { SOURCE_HOST = 0, SOURCE_DEVICE, SOURCE_KERNEL };

typedef struct {
  size_t begin, head, end; /* head: where the body or the semicolon is */
  int kind;
} SourcePart;

/* Lists up to `most` parts; those inside another come before it. Returns how many. */
int source_parts(const char *text, size_t length, SourcePart *parts, int most);

/* What a function is called; false: the part is none. */
bool source_name(const char *text, const SourcePart *part, char *name, size_t size);
/* Whether it is a function of the host that has that word, outside comments. */
bool source_calls(const char *text, const SourcePart *part, const char *name);

/* Blanks a part in place: newlines, and lines of the preprocessor but for pragmas, stay. */
void source_blank(char *text, size_t length, const SourcePart *part);

#endif
