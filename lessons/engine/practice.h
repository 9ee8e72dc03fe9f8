/* Which question to practise next: the weakest of those that are due, what is known again after days.
 *
 *     box     0   1   2   3   4   5
 *     days    0   1   2   4   8  16    until it is asked again
 *
 * Right at the first try, without a hint: one box up. Right later: it stays, and comes again tomorrow. Not right: two
 * boxes down, and it is due at once. (S. Leitner, So lernt man lernen, 1972.) No clock is read here. */
#ifndef TILEWALK_LESSONS_ENGINE_PRACTICE_H
#define TILEWALK_LESSONS_ENGINE_PRACTICE_H

#include <stdint.h>

#include "lessons/engine/lesson.h"

enum { PRACTICE_BOXES = 6, PRACTICE_APART = 2, PRACTICE_NAME_BYTES = LESSON_NAME_BYTES + 4 };

/* Zeros: never asked. */
typedef struct {
  int box;         /* 0 to PRACTICE_BOXES - 1 */
  int64_t due_day; /* days since 1970 */
  int64_t n_asked, n_right;
} PracticeSkill;

typedef enum { PRACTICE_NOT_RIGHT = 0, PRACTICE_WITH_HELP, PRACTICE_RIGHT } PracticeResult;

PracticeSkill practice_answered(PracticeSkill skill, PracticeResult result, int64_t today);

/* What a question of a lesson of the course is called here, "2/factor"; false: it is not practised, for it is not
 * marked, has no numbers of a learner's own, or asks for a file. */
bool lesson_skill(const Lesson *lesson, int ask, char name[PRACTICE_NAME_BYTES]);

/* Leaves of a lesson what that question needs: its setup, and the question. */
void lesson_leave(Lesson *lesson, int ask);

/* The index of the skill to ask: the lowest box of those due, and of equal ones the one due first; where none is due,
 * the one due first. The last PRACTICE_APART asked (recent[0] the last; -1: none) are left out while others are
 * there. */
int practice_next(const PracticeSkill *skills, int n, int64_t today, const int recent[PRACTICE_APART]);

#endif
