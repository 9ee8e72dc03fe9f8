/* Many: whatever the program, the mask and who reads, no counter falls, and at the end all has been read; pages and
 * SMs are as counted by hand. */
#include "tests/support/test.h"
#include "tests/support/own_programs.h"
#include "tests/support/sanitized.h"
#include "tests/support/snapshot_stage.h"
#include "viz/scene/many.h"

static Many many;

static void check_every_step(const char *line) {
  Stage stage = open_line(line);
  Wide read = 0, sent = 0;
  int64_t of_row[MANY_ROWS] = {0}, first_shown = 0;
  for (uint64_t step = 0; step <= stage.n_steps;
       step += step + (uint64_t)ONE_OF < stage.n_steps ? (uint64_t)ONE_OF : 1) {
    Snapshot now;
    stage_snapshot(&stage, step, &now);
    many_make(&many, &now, 0);
    assert_true(many.read_bytes >= read && many.sent_bytes >= sent);
    if (step == 0) assert_true(many.read_bytes == 0 && many.sent_bytes == 0);
    for (int64_t k = 0; k < many.n_shown; k++) {
      const ManyRow *r = &many.rows[k];
      assert_true(many.first_shown != first_shown || r->read >= of_row[k]);
      assert_true(r->read >= 0 && r->read <= r->keys - r->first && r->at <= r->end && r->end <= r->keys);
      of_row[k] = r->read;
    }
    read = many.read_bytes, sent = many.sent_bytes, first_shown = many.first_shown;
  }
  assert_true(many.read_bytes == many.whole_bytes && many.sent_bytes == many.all_bytes);
  stage_free(&stage);
}

/* Of sequences and chunks of every program: tests/unit/test_scene_laws.c. */
TEST(test_no_counter_falls) {
  static const char *const ASKED[] = {"fa2 N=60 causal=1 chunk=24 window=20",  "standard N=1 seq-len-k=60 batch=3",
                                      "fa1 lengths=60,20,37 prefix=17 page=8", "fa2 N=12 seq-len-k=60 heads=4",
                                      "fa2-split N=12 seq-len-k=60 splits=3",  "fa2 N=64 causal=1 ranks=4",
                                      "ring-attention N=64 causal=1 ranks=4",  "fa2 N=64 causal=1 scheme=zigzag",
                                      "fa2 N=64 scheme=striped ranks=8",       "fa2 N=64 causal=1 walk=reversed"};
  EACH (k, ASKED) {
    check_every_step(test_text("d=16 block=8 algorithm=%s", ASKED[k]));
  }
}

/* A chunk has read the tiles that its two row blocks have come to, whichever is first; or column by column as far as
 * K is loaded. */
TEST(test_chunks_read_what_is_walked) {
  static const struct {
    const char *algorithm, *loop; /* from the last block to the first */
  } ROWS[] = {{"fa2", NULL}, {"fa2", "row block i"}, {"fa1", NULL}};
  const Shape shape = {.N_q = 60, .N_k = 60, .d = 16, .causal = true};
  EACH (a, ROWS) {
    char text[2048];
    bool walked[4][8] = {{false}};
    const char *own = schedule_find(ROWS[a].algorithm)->text,
               *rest = ROWS[a].loop ? strstr(own, ROWS[a].loop) + strlen(ROWS[a].loop) : own;
    snprintf(text, sizeof text, ROWS[a].loop ? "%.*s, last first%s" : "%.*s%s", (int)(rest - own), own, rest);
    Program *program = own_program(text);
    const StageConfig config = {.problem = {.shape = shape, .tiling = {.B_r = 8, .B_c = 8}, .machine = machine_paper()},
                                .schedule = program,
                                .pages.chunk = 16};
    Stage stage;
    must(stage_make(&stage, &config, fresh_error()));
    for (uint64_t step = 1; step <= stage.n_steps; step++) {
      Snapshot now;
      stage_snapshot(&stage, step, &now);
      const Event *e = &now.event;
      for (int64_t k = 0; k < 4 && e->j >= 0 && e->kind != EVENT_SKIP; k++)
        walked[k][e->j] |= k == e->i / 2 || now.grid.column_by_column;
      many_make(&many, &now, 0);
      assert_true(many.kind == MANY_CHUNKS && many.n == 4);
      for (int64_t k = 0; k < 4; k++) {
        int64_t read = 0;
        for (int64_t j = 0; j < 2 * k + 2; j++) read += walked[k][j] ? min64(8, many.rows[k].keys - 8 * j) : 0;
        assert_true(many.rows[k].read == read && (!read || many.rows[k].is_there));
      }
    }
    stage_free(&stage);
    free(program);
  }
}

/* 34 + 12 + 21 + 5 pages of 16 tokens; 64 tokens are 4 pages of each, kept once. 32 heads of 8 KV heads: fa2-split
 * packs four as rows of a tile, and in 4 parts 8 CTAs become 32. */
TEST(test_by_hand) {
  static const struct {
    const char *line;
    ManyKind kind;
    int pages, saved, ctas, unsplit;
  } ROWS[] = {{"algorithm=fa2 d=128 block=128 lengths=540,190,330,75 page=16 prefix=64", MANY_SEQUENCES, 60, 12, 4, 4},
              {"algorithm=fa2 d=128 block=128 lengths=540,190,330,75 page=16 prefix=70", MANY_SEQUENCES, 60, 12, 4, 4},
              {"algorithm=fa2 d=128 block=128 lengths=540,190,330,75 page=16", MANY_SEQUENCES, 72, 0, 4, 4},
              {"algorithm=fa2-split N=1 seq-len-k=4096 d=128 heads=32 kv-heads=8 splits=4 block-q=4 block-k=64",
               MANY_SPLITS, 256, 0, 32, 8},
              {"algorithm=fa2 N=1 seq-len-k=4096 d=128 heads=32 kv-heads=8 block-q=1 block-k=64", MANY_SEQUENCES, 256,
               0, 32, 32},
              {"algorithm=fa2 N=1024 d=64 block=128 causal=1", MANY_CHUNKS, 64, 0, 8, 8}};
  EACH (k, ROWS) {
    Stage stage = open_line(ROWS[k].line);
    Snapshot now;
    stage_snapshot(&stage, 1, &now);
    many_make(&many, &now, 0);
    assert_int_equal(many.kind, ROWS[k].kind);
    assert_true(many.pages == (Wide)ROWS[k].pages && many.saved_pages == (Wide)ROWS[k].saved &&
                many.ctas == (Wide)ROWS[k].ctas && many.ctas_unsplit == (Wide)ROWS[k].unsplit);
    stage_free(&stage);
  }
}
