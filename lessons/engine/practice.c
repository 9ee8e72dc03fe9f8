#include "lessons/engine/practice.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/ascii.h"

bool lesson_skill(const Lesson *l, int ask, char name[PRACTICE_NAME_BYTES]) {
  const LessonAsk *a = &l->asks[ask];
  const bool is_numbered = ascii_is_digit(l->name[0]) && ascii_is_digit(l->name[1]) && l->name[2] == '-';
  if (!is_numbered || a->is_prediction || a->kind == LESSON_WORK || a->fixed.text) return false;
  snprintf(name, PRACTICE_NAME_BYTES, "%d/%s", atoi(l->name), a->id);
  return true;
}

void lesson_leave(Lesson *l, int ask) {
  size_t n = 0;
  for (size_t k = 0; k < l->n_blocks; k++) {
    const LessonBlock b = l->blocks[k];
    if (b.kind == LESSON_SETUP || (b.kind == LESSON_ASK && b.ask == ask)) l->blocks[n++] = b, l->blocks[n - 1].ask = 0;
  }
  l->asks[0] = l->asks[ask];
  l->n_blocks = n;
  l->n_asks = 1;
  l->n_tasks = 0;
}

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
