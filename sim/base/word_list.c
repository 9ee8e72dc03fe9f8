#include "sim/base/word_list.h"

#include <string.h>
#include "sim/base/text_add.h"

int word_list_find(const char *const *names, const char *word) {
  for (int k = 0; names[k]; k++)
    if (strcmp(names[k], word) == 0) return k;
  return -1;
}

const char *word_list_text(const char *const *names, const char *joint, char *text, size_t size) {
  *text = '\0';
  for (int k = 0; names[k]; k++) {
    const char *const before = k == 0 || !joint ? ""
                               : names[k + 1]   ? ","
                                                : joint,
                      *const space = k == 0 ? "" : " ", *const gap = before[0] && before[0] != ',' ? " " : "";
    text_add(text, size, "%s%s%s%s", gap, before, space, names[k]);
  }
  return text;
}
