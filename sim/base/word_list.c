#include "sim/base/word_list.h"

#include <stdbool.h>
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
    const bool joins = k && joint, by_word = joins && !names[k + 1] && *joint != ',';
    text_add(text, size, "%s%s%s%s", by_word ? " " : joins ? "," : "", by_word ? joint : "", k ? " " : "", names[k]);
  }
  return text;
}
