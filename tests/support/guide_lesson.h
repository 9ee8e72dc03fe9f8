/* The lesson of the author's guide, as it stands there, for the tests that run it. */
#ifndef TILEWALK_TESTS_SUPPORT_GUIDE_LESSON_H
#define TILEWALK_TESTS_SUPPORT_GUIDE_LESSON_H

#include <stdio.h>
#include <string.h>

/* The first lesson of lessons/README.md, under 30 lines; it lasts until the next call. */
static inline const char *guide_lesson(void) {
  static char guide[1 << 16];
  FILE *file = fopen("lessons/README.md", "r");
  assert_non_null(file);
  guide[fread(guide, 1, sizeof guide - 1, file)] = '\0';
  fclose(file);
  char *begin = strstr(guide, "````markdown\n"), *end = begin ? strstr(begin + 13, "````\n") : NULL;
  assert_non_null(end);
  *end = '\0';
  int n_lines = 0;
  for (const char *p = begin + 13; p < end; p++) n_lines += *p == '\n';
  assert_true(n_lines < 30);
  return begin + 13;
}

#endif
