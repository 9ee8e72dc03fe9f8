/* Rules of backends: what the parser takes and refuses, by its line; conditions against a slow judge of their text. */
#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "viz/request/backend_rules.h"

#define HEAD "library L\nversion 1\nsource here\n"

static Backend b;

TEST(refused_with_the_line) {
  static const char *const BAD[] = {
      " => :0: library, version and source are not all given",
      HEAD " => :3: no order says which kernel is tried first",
      "libary x\n => :1: 'libary' is no statement",
      HEAD "needs d <= 1 : x\n => :4: needs belongs to a kernel",
      HEAD "kernel a runs fa2 : x\nneeds d <= x : y\n => :5: 'x' is no number",
      HEAD "kernel a runs fa2 : x\nneeds e <= 1 : y\n => :5: 'e' is no fact",
      HEAD "kernel a runs fa2 : x\nneeds d ~ 1 : y\n => :5: '~' is no comparison",
      HEAD "kernel a runs fa2 : x\nneeds dtype < fp16 : y\n => :5: words are compared by",
      HEAD "kernel a runs fa2 : x\nneeds d == dtype : y\n => :5: 'dtype' is a number where a word is compared",
      HEAD "kernel a runs fa2 : x\nneeds d == 1 or : y\n => :5: ':' is too long, or no name",
      HEAD "kernel a runs fa2 : x\nneeds d == 1 2 : y\n => :5: '2' stands where and, or, when",
      HEAD "kernel a runs fa2 : x\nneeds d == 1\n => :5: '' stands where ':' and a reason should",
      HEAD "kernel a runs fa2 : x\nneeds d == 1 :\n => :5: the line ends where a text should be",
      HEAD "kernel a runs fa2 : x\nkernel a runs fa2 : x\n => :5: the kernel 'a' is there already",
      HEAD "kernel a walks fa2 : x\n => :4: 'walks' stands where 'runs KERNEL' should",
      HEAD "kernel a runs fa2 when d == 1 : x\n => :4: a kernel has no 'when'",
      HEAD "order a : x\n => :4: there is no kernel 'a' above this order",
      HEAD "order : x\n => :4: order names no kernel",
      HEAD "becomes mask tensor : x\n => :4: 'tensor' stands where '=' should",
      HEAD "uses a b\n => :4: 'b' follows the name of the rules",
      HEAD "kernel abcdefghijklmnopqrstuvwxyz runs fa2 : x\n => :4: 'abcdefghijklmnopqrstuvwxyz' is too long",
      HEAD "kernel \xc3\xa4 runs fa2 : x\n => :4: a byte that is no ASCII text",
  };
  EACH_SAYS (row, BAD) {
    assert_int_not_equal(backend_parse(ALL_OF(row.text), "", &b, fresh_error()), STATUS_OK);
    assert_begins(row.says);
  }
}

static void parse(const char *text) { must(backend_parse(ALL_OF(text), "t", &b, fresh_error())); }

/* The first of the order that needs nothing else; changes in the order of the file; unknown facts hold nowhere. */
TEST(judged) {
  parse(HEAD "assume cudnn = 5 : old\n"
             "becomes mask = tensor when window > 0 : windows\n"
             "becomes kv_heads = heads when mask == tensor : repeated\n"
             "kernel fast runs fa2 : f   # a comment\n"
             "needs mask != tensor : no tensors\n"
             "needs d multiple-of 8 and d <= 64 or d == 3 when sm >= 80 : sizes\n"
             "kernel slow runs standard : s\n"
             "order slow fast when cudnn > 5 : new\n"
             "order fast slow : old\n");
  CallFacts f = {0};
  call_number(&f, CALL_SM, 90);
  call_number(&f, CALL_D, 72);
  call_number(&f, CALL_HEADS, 8);
  call_number(&f, CALL_KV_HEADS, 2);
  call_number(&f, CALL_WINDOW, 0);
  call_word(&f, CALL_MASK, "causal");
  backend_apply(&b, &f);
  assert_true(b.rules[0].changed && !b.rules[1].changed && !b.rules[2].changed);
  assert_string_equal(backend_order(&b, &f)->why, "old");
  assert_int_equal(backend_refusal(&b, 0, &f, 0), 4); /* 72 is a multiple of 8, and more than 64 */
  assert_int_equal(backend_refusal(&b, 1, &f, 0), -1);
  call_number(&f, CALL_D, 3);
  assert_int_equal(backend_refusal(&b, 0, &f, 0), -1);
  call_number(&f, CALL_D, 72);
  call_number(&f, CALL_SM, 75);
  assert_int_equal(backend_refusal(&b, 0, &f, 0), -1); /* asked for from sm80 on */
  call_number(&f, CALL_WINDOW, 100);
  backend_apply(&b, &f);
  assert_true(!b.rules[0].changed && b.rules[1].changed && b.rules[2].changed);
  assert_true(f.value[CALL_KV_HEADS].number == 8);
  assert_int_equal(backend_refusal(&b, 0, &f, 0), 3);
}

/* Random conditions of d against numbers, judged once more from the text: and binds tighter than or. */
TEST(conditions_against_slow_code) {
  static const char *const OPS[] = {"==", "!=", "<=", ">=", "<", ">"};
  Rand r = {17};
  for (int n = 0; n < 2000; n++) {
    char text[512] = HEAD "kernel a runs fa2 : x\nneeds ";
    const int64_t d = rand_in(&r, 0, 4), terms = rand_in(&r, 1, 6);
    bool any = false, all = true;
    for (int64_t t = 0; t < terms; t++) {
      const int64_t op = rand_in(&r, 0, 5), value = rand_in(&r, 0, 4);
      const bool holds[] = {d == value, d != value, d <= value, d >= value, d<value, d> value};
      const bool is_or = t > 0 && rand_in(&r, 0, 1);
      if (t > 0) strcat(text, is_or ? "or " : "and ");
      snprintf(text + strlen(text), sizeof text - strlen(text), "d %s %d ", OPS[op], (int)value);
      if (is_or) any |= all, all = true;
      all &= holds[op];
    }
    any |= all;
    strcat(text, ": y\norder a : z\n");
    parse(text);
    CallFacts f = {0};
    call_number(&f, CALL_D, (double)d);
    assert_true((backend_refusal(&b, 0, &f, 0) < 0) == any);
  }
}
