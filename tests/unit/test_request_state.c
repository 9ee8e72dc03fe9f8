/* The one-line state: what is asked for comes back as it was, and a step is whole or a part of one. */
#include "tests/support/test.h"
#include "viz/request/request.h"

static Status read_line(Request *r, const char *line, Error *error) {
  *r = (Request){0};
  *error = (Error){0};
  return request_read(r, line, false, error);
}

/* These lines are in the order that a state has, so each is its own state. */
TEST(a_state_comes_back) {
  static const char *const LINES[] = {
      "algorithm=fa2 N=64 d=16 causal=1 block=8 scene=walk step=40",
      "algorithm=fa1 N=48 d=8 block-q=8 block-k=16 scene=softmax step=33 seed=3",
      "algorithm=fa2 N=64 d=16 block=8 scene=walk step=7.25",
      "algorithm=fa2 N=64 d=16 block=8 scene=walk step=7.5",
      "algorithm=fa2 N=64 d=16 block=8 scene=walk step=7.125",
      "algorithm=fa2 N=64 d=16 block=8 scene=walk",
      "algorithm=fa2 N=64 d=16 window=-1,16 block=8 scene=walk",
      "algorithm=fa2 N=64 d=16 window=16,0 block=8 scene=walk",
      "algorithm=fa2 N=1 d=16 block=8 scene=many lengths=100+200+64",
      "algorithm=fa2-split N=64 d=16 block=8 splits=2 lse=1 sram=65536 scene=walk",
  };
  EACH (k, LINES) {
    Request r;
    char text[REQUEST_STATE_BYTES];
    must(read_line(&r, LINES[k], fresh_error()));
    assert_string_equal(question_state(&r, text), LINES[k]);
  }
  Request served; /* one query of each: the default of N is for those alone that name no lengths */
  char text[REQUEST_STATE_BYTES];
  must(read_line(&served, "algorithm=fa2 d=16 scene=many lengths=100+200", fresh_error()));
  assert_string_equal(question_state(&served, text), "algorithm=fa2 N=1 d=16 scene=many lengths=100+200");
  must(read_line(&served, "algorithm=all N=64 d=16", fresh_error()));
  assert_string_equal(question_state(&served, text), "algorithm=standard,fa1,fa2,fa2-split N=64 d=16");
}

TEST(a_step_is_whole_or_thousandths) {
  static const struct {
    const char *line;
    int64_t step;
    int thousandths;
  } STEPS[] = {{"step=122", 122, 0}, {"step=122.25", 122, 250}, {"step=0.001", 0, 1}, {"step=1.9", 1, 900}};
  static const char *const WRONG[] = {"step=1.", "step=.5", "step=1.2345", "step=1.2x", "step=1.2.3", "step=-1.5"};
  Request r;
  EACH (k, STEPS) {
    must(read_line(&r, STEPS[k].line, fresh_error()));
    assert_int_equal(r.step, STEPS[k].step);
    assert_int_equal(r.step_thousandths, STEPS[k].thousandths);
  }
  EACH (k, WRONG) assert_true(read_line(&r, WRONG[k], fresh_error()) == STATUS_BAD_REQUEST);
}
