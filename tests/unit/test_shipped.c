/* All shipped programs: right, counted as they are walked, found at any step, told in a line; whatever their names are.
 */
#include "tests/support/test.h"

#include <ctype.h>
#include <time.h>

#include "sim/algorithms/language/read.h"
#include "sim/algorithms/shipped.h"
#include "sim/numbers/program_check.h"
#include "tests/support/rand.h"

TEST(all_are_right) {
  for (int k = 0; k < N_PROGRAMS; k++) {
    const ProgramVerdict v = program_verdict(SCHEDULES[k], NULL);
    assert_true(v.is_right && v.is_tried);
    assert_true(v.error <= 1e-13);
  }
}

/* A source, a line of what it teaches, one page. */
TEST(each_is_a_page_with_its_source) {
  char names[512];
  assert_int_equal(N_PROGRAMS, 22);
  assert_string_equal(shipped_names(SHIPPED_ALL, " and ", names, sizeof names), "standard, fa1, fa2 and fa2-split");
  assert_string_equal(shipped_names(SHIPPED_SPLITS, " and ", names, sizeof names), "fa2-split");
  for (int k = 0; k < N_PROGRAMS; k++) {
    const Schedule *s = SCHEDULES[k];
    assert_true(*s->source && *s->summary && s->n_lines <= 39);
  }
}

static Plan random_plan(const Schedule *s, Rand *r) {
  Shape shape = {.N_q = rand_in(r, 1, 40), .N_k = rand_in(r, 1, 40), .d = rand_in(r, 4, 9), .d_v = rand_in(r, 1, 4)};
  Tiling tiling = {
      .B_r = rand_in(r, 1, 13), .B_c = rand_in(r, 1, 13), .n_splits = rand_in(r, 1, 4), .lse = rand_in(r, 0, 1)};
  Plan plan;
  shape.causal = rand_in(r, 0, 1);
  if (rand_in(r, 0, 2) == 0) shape.window = rand_in(r, 1, 30);
  if (rand_in(r, 0, 1)) shape.heads = 6, shape.kv_heads = 2;
  if (s->diagonal) shape.N_k = shape.N_q, tiling.B_c = tiling.B_r, shape.window = 0, shape.causal = true;
  must(plan_make(&plan, &shape, &tiling, fresh_error()) || schedule_takes(s, &plan, fresh_error()));
  return plan;
}

TEST(events_add_up_and_are_found) {
  Rand r = {12};
  for (int n = 0; n < 40 * N_PROGRAMS; n++) {
    const Schedule *s = SCHEDULES[n % N_PROGRAMS];
    const Plan plan = random_plan(s, &r);
    Traffic walked = {0}, counted;
    Cursor cursor = {0}, found;
    Event event, again;
    bool overflow = false;
    while (schedule_next(s, &plan, &cursor, &event)) {
      traffic_add(&walked, s, &event);
      if (rand_in(&r, 0, 9)) continue;
      assert_true(schedule_seek(s, &plan, &found, event.step));
      assert_true(schedule_next(s, &plan, &found, &again));
      assert_memory_equal(&event, &again, sizeof event);
    }
    schedule_traffic(s, &plan, &counted, &overflow);
    assert_true(traffic_equal(&walked, &counted));
  }
}

/* Two thousand million tokens in no time; a million backward in under 10 ms. */
TEST(totals_take_no_time) {
  for (int k = 0; k < N_PROGRAMS; k++) {
    const Shape shape = {.N_q = (int64_t)1 << 31, .d = 128, .causal = true};
    Plan plan;
    Traffic t;
    bool overflow = false;
    double ms = 1e3;
    for (int tries = 0; tries < 3 && ms > 10; tries++) {
      const clock_t start = clock();
      must(plan_make(&plan, &shape, &(Tiling){.B_r = 64, .B_c = 64, .n_splits = 1}, NULL));
      schedule_traffic(SCHEDULES[k], &plan, &t, &overflow);
      ms = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
    }
    assert_true(ms <= 10);
    assert_true(t.steps > 0 && !overflow);
  }
}

/* ---- Other names -------------------------------------------------------------------------------------------- */

/* The same text with all letters of tensors replaced: dQ_i by Xdq_i, m' by Xm'. */
static void rename_all(const Program *p, const char *text, char *out) {
  size_t n = 0;
  for (const char *at = text; *at;) {
    size_t length = 0;
    while (isalpha((unsigned char)at[length])) length++;
    bool is_name = false;
    for (int k = 0; k < p->n_names && length; k++)
      is_name |= strcspn(p->names[k].text, "_'") == length && strncmp(p->names[k].text, at, length) == 0;
    const bool is_power = length == 1 && at[0] == 'e' && at[1] == '^';
    if (is_name && !is_power && (at == text || !isalpha((unsigned char)at[-1])) && (at == text || at[-1] != '_'))
      out[n++] = 'X';
    if (length == 0) length = 1;
    memcpy(out + n, at, length);
    n += length;
    at += length;
  }
  out[n] = '\0';
}

static bool declares(const char *text) { return strstr(text, "\ninput ") != NULL; }

static const char IMPLIED[] = "input Q_i: B_r x d\ninput K_j: B_c x d\ninput V_j: B_c x d_v\n";

TEST(names_mean_nothing) {
  Rand r = {3};
  Program *p = malloc(sizeof *p);
  assert_non_null(p);
  for (int k = 0; k < N_PROGRAMS; k++) {
    const Schedule *s = SCHEDULES[k];
    char text[2 * PROGRAM_TEXT_BYTES], renamed[3 * PROGRAM_TEXT_BYTES], *kernel;
    strcpy(text, s->text);
    kernel = strstr(text, "\nkernel") + 1;
    const char *body = strchr(text, '\n') + 1; /* words of titles stay */
    if (strncmp(body, "algorithm", 9) == 0) body = strchr(body, '\n') + 1;
    char head[256];
    snprintf(head, sizeof head, "algorithm renamed\n%s%s", declares(text) ? "" : IMPLIED,
             declares(text) ? "" : "output O_i = attention(Q, K, V)\n");
    char whole[2 * PROGRAM_TEXT_BYTES];
    strcpy(whole, head);
    for (char *line = (char *)(uintptr_t)body; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
      if (line >= kernel || strncmp(line, "input", 5) == 0 || strncmp(line, "output", 6) == 0 ||
          strncmp(line, "tensor", 6) == 0)
        strncat(whole, line, strchr(line, '\n') ? (size_t)(strchr(line, '\n') + 1 - line) : strlen(line));
    rename_all(s, whole, renamed);
    must(program_read(p, ALL_OF(renamed), s->name, fresh_error()));
    const ProgramVerdict v = program_verdict(p, NULL);
    if (!v.is_right) fail_msg("%s", v.text);
    for (int n = 0; n < 10; n++) {
      const Plan plan = random_plan(s, &r);
      Cursor a = {0}, b = {0};
      Event x, y;
      while (schedule_next(s, &plan, &a, &x)) {
        assert_true(schedule_next(p, &plan, &b, &y));
        assert_true(x.kind == y.kind && x.bytes == y.bytes && x.flops == y.flops && x.i == y.i && x.j == y.j &&
                    x.head == y.head);
        const char *was = s->tensors[x.tensor].text, *is = p->tensors[y.tensor].text;
        assert_true(s->tensors[x.tensor].is_stats || strcmp(was, is + 1) == 0);
      }
      assert_false(schedule_next(p, &plan, &b, &y));
    }
  }
  free(p);
}
