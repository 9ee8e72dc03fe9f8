/* Which skill is practised next: the weakest of those due, what is known after days, nothing twice in a row. */
#include "lessons/engine/practice.h"
#include "tests/support/test.h"

enum { N = 15 };

static const int NONE[PRACTICE_APART] = {-1, -1};

TEST(a_skill_climbs_falls_and_waits) {
  static const int DAYS[] = {1, 2, 4, 8, 16, 16};
  PracticeSkill s = {0};
  for (int k = 0; k < 6; k++) {
    s = practice_answered(s, PRACTICE_RIGHT, 100);
    assert_int_equal(s.due_day, 100 + DAYS[k]);
  }
  assert_int_equal(s.box, 5);
  s = practice_answered(s, PRACTICE_WITH_HELP, 200);
  assert_int_equal(s.box, 5);
  assert_int_equal(s.due_day, 201);
  s = practice_answered(s, PRACTICE_NOT_RIGHT, 300);
  assert_int_equal(s.box, 3);
  assert_int_equal(s.due_day, 300);
  for (int k = 0; k < 3; k++) { /* two boxes back at most */
    s = practice_answered(s, PRACTICE_NOT_RIGHT, 300);
    assert_int_equal(s.box, k == 0);
  }
  assert_int_equal(s.n_asked, 11);
  assert_int_equal(s.n_right, 6);
}

TEST(the_weakest_that_is_due_comes_first) {
  PracticeSkill s[4] = {
      {.box = 3, .due_day = 9}, {.box = 1, .due_day = 10}, {.box = 0, .due_day = 11}, {.box = 1, .due_day = 8}};
  assert_int_equal(practice_next(s, 4, 10, NONE), 3); /* box 1, due before the other; box 0 waits until tomorrow */
  assert_int_equal(practice_next(s, 4, 11, NONE), 2);
  assert_int_equal(practice_next(s, 4, 7, NONE), 3); /* nothing is due: the first that will be */
  assert_int_equal(practice_next(s, 4, 10, (const int[]){3, 1}), 0);
  assert_int_equal(practice_next(s, 1, 10, (const int[]){0, 0}), 0); /* one skill alone comes again */
  assert_int_equal(practice_next(s, 2, 10, (const int[]){1, 0}), 0);
}

/* A learner who knows twelve skills, and three in one of four tries: in 30 days of ten questions the three are asked
 * most, each other at least twice, and none twice in a row. */
TEST(weak_skills_are_asked_more) {
  PracticeSkill s[N] = {0};
  int recent[PRACTICE_APART] = {-1, -1}, asked[N] = {0}, n = 0;
  for (int day = 0; day < 30; day++)
    for (int k = 0; k < 10; k++, n++) {
      const int next = practice_next(s, N, day, recent);
      assert_in_range(next, 0, N - 1);
      assert_true(next != recent[0] && next != recent[1]);
      const bool weak = next % 5 == 2;
      s[next] = practice_answered(s[next], weak && n % 4 ? PRACTICE_NOT_RIGHT : PRACTICE_RIGHT, day);
      asked[next]++;
      recent[1] = recent[0];
      recent[0] = next;
    }
  for (int k = 0; k < N; k++) {
    assert_true(asked[k] >= 2);
    for (int w = 2; w < N; w += 5)
      if (k % 5 != 2) assert_true(asked[k] < asked[w]);
  }
}
