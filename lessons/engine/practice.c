#include "lessons/engine/practice.h"

#include <stdbool.h>

PracticeSkill practice_answered(PracticeSkill s, PracticeResult result, int64_t today) {
  static const int DAYS[PRACTICE_BOXES] = {0, 1, 2, 4, 8, 16};
  s.n_asked++;
  s.n_right += result == PRACTICE_RIGHT;
  if (result == PRACTICE_RIGHT && s.box < PRACTICE_BOXES - 1) s.box++;
  if (result == PRACTICE_NOT_RIGHT) s.box = s.box > 2 ? s.box - 2 : 0;
  s.due_day = today + (result == PRACTICE_RIGHT ? DAYS[s.box] : result == PRACTICE_WITH_HELP);
  return s;
}

static bool is_before(const PracticeSkill *a, const PracticeSkill *b, int64_t today) {
  const bool a_due = a->due_day <= today, b_due = b->due_day <= today;
  if (a_due != b_due) return a_due;
  if (a_due && a->box != b->box) return a->box < b->box;
  if (a_due && (a->n_asked > 0) != (b->n_asked > 0)) return a->n_asked > 0; /* not known, before not seen */
  return a->due_day < b->due_day;
}

int practice_next(const PracticeSkill *skills, int n, int64_t today, const int recent[PRACTICE_APART]) {
  int best = -1;
  for (int k = 0; k < n; k++) {
    bool is_recent = false;
    for (int r = 0; r < PRACTICE_APART && r < n - 1; r++) is_recent = is_recent || recent[r] == k;
    if (!is_recent && (best < 0 || is_before(&skills[k], &skills[best], today))) best = k;
  }
  return best;
}
