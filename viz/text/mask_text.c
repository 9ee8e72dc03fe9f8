#include "viz/text/mask_text.h"

#include <stdio.h>
#include <string.h>

#include "sim/problem/pattern.h"
#include "viz/text/number.h"

const char *mask_text(const Shape *s, char *text, size_t size) {
  static const char PAINTED[] = "painted:";
  char causal[32] = "", window[128] = "", pattern[160] = "";
  if (s->causal) snprintf(causal, sizeof causal, s->top_left ? ", causal from the top left" : ", causal");
  if (s->window) snprintf(window, sizeof window, ", window %s", number_count(wide(s->window)).text);
  if (s->sided) snprintf(window, sizeof window, ", window %jd,%jd", s->left, s->right);
  if (s->pattern && strncmp(s->pattern->name, PAINTED, sizeof PAINTED - 1) == 0)
    snprintf(pattern, sizeof pattern, ", painted in blocks of %jd", s->pattern->block);
  else if (s->pattern)
    snprintf(pattern, sizeof pattern, ", %.150s", s->pattern->name);
  char all[sizeof causal + sizeof window + sizeof pattern];
  snprintf(all, sizeof all, "%s%s%s", causal, window, pattern);
  snprintf(text, size, "%s", *all ? all + 2 : "");
  return text;
}
