#include "viz/scene/narration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/text/number.h"

/* ---- The sentences --------------------------------------------------------------------------------------------
 *
 * {X} the block, {i} {j} {s} its indices, {bytes} of the event; {read} {written} {size} of its tensor so far and in
 * all; {row} the row that is computed, {old} {new} {best} its maximum before, after and in the tile, {factor} {sum}
 * {l0} {l} {masked} {kept} {cols} {bad}; {n} {spared} {allspared} of a gesture of skips; {total} {whole} of the run;
 * {dtype} {flops} {rows} {title}. Of two variants the tile's place chooses one. */

typedef enum {
  SAY_START = 0,
  SAY_END,
  SAY_LOAD_KEPT,
  SAY_LOAD_Q_AGAIN,
  SAY_LOAD_K,
  SAY_LOAD_K_AGAIN,
  SAY_LOAD_V,
  SAY_LOAD_V_AGAIN,
  SAY_LOAD_S,
  SAY_LOAD_P,
  SAY_LOAD_O,
  SAY_LOAD_O_PART,
  SAY_LOAD_STATS,
  SAY_LOAD_STATS_PART,
  SAY_PRODUCT,
  SAY_PRODUCT_STORED,
  SAY_PRODUCT_PARTIAL,
  SAY_MASK,
  SAY_MASK_ALL,
  SAY_MASK_UNKNOWN,
  SAY_MAX_FIRST,
  SAY_MAX_LARGER,
  SAY_MAX_SAME,
  SAY_MAX_HIDDEN,
  SAY_MAX_WITHOUT,
  SAY_MAX_UNKNOWN,
  SAY_MAX_PARTS,
  SAY_RESCALE_FIRST,
  SAY_RESCALE_SHRINKS,
  SAY_RESCALE_NOTHING,
  SAY_RESCALE_WITHOUT,
  SAY_RESCALE_UNKNOWN,
  SAY_ADD_FIRST,
  SAY_ADD,
  SAY_ADD_LAST,
  SAY_ADD_HIDDEN,
  SAY_ADD_OVERFLOW,
  SAY_ADD_UNKNOWN,
  SAY_ADD_PASS,
  SAY_ADD_PART,
  SAY_SKIP,
  SAY_SKIP_MORE,
  SAY_DIVIDE,
  SAY_DIVIDE_AGAIN,
  SAY_DIVIDE_UNKNOWN,
  SAY_DIVIDE_BROKEN,
  SAY_DIVIDE_P,
  SAY_STORE_O,
  SAY_STORE_O_ZERO,
  SAY_STORE_O_AGAIN,
  SAY_STORE_O_PART,
  SAY_STORE_S,
  SAY_STORE_P,
  SAY_STORE_STATS,
  SAY_STORE_STATS_ZERO,
  SAY_STORE_STATS_AGAIN,
  SAY_OTHER,
  SAY_COUNT
} Say;

typedef struct {
  const char *name, *what[NARRATION_VARIANTS], *why[NARRATION_VARIANTS];
} Sentence;

_Static_assert((int)SAY_COUNT <= (int)NARRATION_SITUATIONS_MAX, "a list of situations has room for all of them");

#define ONE(text)                                                                                                      \
  { text, NULL }
#define TWO(a, b)                                                                                                      \
  { a, b }

static const Sentence SENTENCES[SAY_COUNT] = {
    [SAY_START] = {"start", ONE("Nothing has moved yet: Q, K and V lie in HBM."),
                   ONE("{title} is going to move {whole} between HBM and SRAM.")},
    [SAY_END] = {"end", ONE("That was the last step: O is complete in HBM."),
                 ONE("{total} crossed between HBM and SRAM in all.")},
    [SAY_LOAD_KEPT] = {"load what stays", TWO("{X} comes from HBM into SRAM: {bytes}.", "Load {X}: {bytes} from HBM."),
                       TWO("It stays on chip while everything that it meets passes by.",
                           "It is read once, and kept until all its tiles are done.")},
    [SAY_LOAD_Q_AGAIN] = {"load Q again", ONE("{X} comes into SRAM: {bytes}."),
                          ONE("Q comes anew for each column of tiles: {read} read so far, of a Q of {size}.")},
    [SAY_LOAD_K] = {"load K", TWO("{X} comes from HBM into SRAM: {bytes}.", "Load {X}: {bytes} from HBM."),
                    TWO("Tile S[{i},{j}] is Q[{i}] times {X}, so both have to be on chip.",
                        "The rows of Q[{i}] are about to meet these keys.")},
    [SAY_LOAD_K_AGAIN] = {"load K again", TWO("{X} comes into SRAM: {bytes}.", "Load {X}: {bytes} from HBM."),
                          TWO("Every row block asks again: {read} of K read so far, and K has {size}.",
                              "SRAM could not keep it: K has {size}, and {read} of it were read so far.")},
    [SAY_LOAD_V] = {"load V", TWO("{X} comes from HBM into SRAM: {bytes}.", "Load {X}: {bytes} from HBM."),
                    TWO("The weights of this tile will mix its rows into O[{i}].",
                        "Scores say how much of each of these rows goes into O[{i}].")},
    [SAY_LOAD_V_AGAIN] = {"load V again", TWO("{X} comes into SRAM: {bytes}.", "Load {X}: {bytes} from HBM."),
                          TWO("Every row block asks again: {read} of V read so far, and V has {size}.",
                              "The weights of this tile will mix its rows into O[{i}].")},
    [SAY_LOAD_S] = {"load S", ONE("{X} comes back from HBM: {bytes}."),
                    TWO("The pass before left it there. Now each row needs all its scores.",
                        "A score that goes out to HBM and comes back is paid for twice.")},
    [SAY_LOAD_P] = {"load P", ONE("{X} comes back from HBM: {bytes}."),
                    ONE("The weights were written by the pass before: one more round trip.")},
    [SAY_LOAD_O] = {"load O", ONE("{X} comes back from HBM, unfinished: {bytes}."),
                    ONE("Another column of keys has something to add to it: {read} of O read so far.")},
    [SAY_LOAD_O_PART] = {"load a part of O", ONE("Part {s} of O[{i}] comes in: {bytes}."),
                         ONE("Each part has seen only its own keys; now they are put together.")},
    [SAY_LOAD_STATS] = {"load m and l", ONE("m and l of these rows come back: {bytes}."),
                        ONE("They say what O was measured against, and how much was summed.")},
    [SAY_LOAD_STATS_PART] = {"load a part's m and l", ONE("The statistics of part {s} come in: {bytes}."),
                             ONE("They say how much this part of O weighs against the others.")},
    [SAY_PRODUCT] = {"product",
                     TWO("Every row of Q[{i}] meets every key of K[{j}]: {X}.", "{X} = Q[{i}] K[{j}]ᵀ / √d."),
                     TWO("{rows} × {cols} scores from {flops}. They never leave the chip.",
                         "A score says how much a query cares for a key. These stay on chip.")},
    [SAY_PRODUCT_STORED] = {"product to be stored", ONE("Every row of Q[{i}] meets every key of K[{j}]: {X}."),
                            ONE("{rows} × {cols} scores from {flops}. Next they go out to HBM.")},
    [SAY_PRODUCT_PARTIAL] = {"product of a partial tile", ONE("Every row of Q[{i}] meets every key of K[{j}]: {X}."),
                             ONE("The mask cuts through this tile: it is computed whole, and cut next.")},
    [SAY_MASK] = {"mask", ONE("The mask strikes scores out: row {row} keeps {kept} of {cols}."),
                  TWO("A masked score becomes −∞, and e to the power of that is 0.",
                      "Those keys come after the query, or too far before it: weight 0.")},
    [SAY_MASK_ALL] = {"mask a row's whole tile", ONE("Row {row} may see no key of this tile: all of them are masked."),
                      ONE("Other rows of the block do see some, so the tile had to be computed.")},
    [SAY_MASK_UNKNOWN] = {"mask, no row computed", ONE("The mask strikes out part of {X}."),
                          ONE("A masked score becomes −∞, and e to the power of that is 0.")},
    [SAY_MAX_FIRST] = {"first maximum", ONE("The first tile of row {row}: its largest score is {new}."),
                       ONE("All that follows is measured against it, so no exponential can overflow.")},
    [SAY_MAX_LARGER] = {"larger score",
                        TWO("A larger score arrived: {new} > {old}.", "Row {row} has a new maximum: {new}, not {old}."),
                        TWO("What was summed so far was measured against {old}: it shrinks by {factor}.",
                            "All that row {row} has summed must now shrink by {factor}.")},
    [SAY_MAX_SAME] = {"no larger score",
                      TWO("No larger score: {best} here, and m is {old}.",
                          "The best score of this tile is {best}; m stays {old}."),
                      TWO("Nothing to rescale in row {row}.", "What row {row} has summed so far stays as it is.")},
    [SAY_MAX_HIDDEN] = {"no visible score", ONE("Row {row} sees no key of this tile: m stays {old}."),
                        ONE("Nothing to rescale, and nothing to add.")},
    [SAY_MAX_WITHOUT] = {"maximum left out", ONE("The maximum is left out: m stays 0."),
                         ONE("The largest score here is {best}; watch what e to that power does in {dtype}.")},
    [SAY_MAX_UNKNOWN] = {"maximum, no row computed", ONE("Each row looks for a score of this tile above its m."),
                         ONE("Where there is one, all that the row has summed has to shrink.")},
    [SAY_MAX_PARTS] = {"maximum over parts", ONE("Did part {s} see the largest score of these rows?"),
                       ONE("All parts will be measured against one maximum.")},
    [SAY_RESCALE_FIRST] = {"first rescale", ONE("Row {row} has summed nothing yet: l and O are 0."),
                           ONE("From the next tile on, this is where they shrink when m rises.")},
    [SAY_RESCALE_SHRINKS] = {"rescale",
                             TWO("l and O shrink: × e^({old} − {new}) = {factor}.",
                                 "Row {row}: l and O times {factor}."),
                             TWO("Now old and new weights refer to the same {new}, and can be added.",
                                 "It is as if m had been {new} from the start: the result stays exact.")},
    [SAY_RESCALE_NOTHING] = {"nothing to rescale", ONE("No larger score: × 1, nothing to rescale in row {row}."),
                             ONE("Other rows of this tile may have found one, and shrink now.")},
    [SAY_RESCALE_WITHOUT] = {"rescale left out", ONE("Without a maximum there is nothing to rescale: × 1."),
                             ONE("It saves work, and it overflows as soon as scores are large.")},
    [SAY_RESCALE_UNKNOWN] = {"rescale, no row computed",
                             ONE("Rows whose maximum rose shrink: l and O times e^(m − m′)."),
                             ONE("Then old and new weights refer to the same maximum.")},
    [SAY_ADD_FIRST] = {"first weights", ONE("Scores become weights, and mix V[{j}] into O[{i}]."),
                       ONE("The first weights of row {row} sum to l = {l}.")},
    [SAY_ADD] = {"weights",
                 TWO("Scores become weights, and mix V[{j}] into O[{i}].", "P = e^(S − m); O[{i}] += P V[{j}]."),
                 TWO("Row {row}: its weights here sum to {sum}, so l goes from {l0} to {l}.",
                     "Row {row}: l grows from {l0} to {l}; the tile is used up, and forgotten.")},
    [SAY_ADD_LAST] = {"last weights", ONE("The last tile of these rows: V[{j}] is mixed into O[{i}]."),
                      ONE("Row {row} has seen all its keys: l = {l} is final.")},
    [SAY_ADD_HIDDEN] = {"weights all 0", ONE("V[{j}] is mixed into O[{i}], for the rows that see it."),
                        ONE("All weights of row {row} are 0 here: l stays {l}.")},
    [SAY_ADD_OVERFLOW] = {"overflow", ONE("{bad} of {cols} exponentials of row {row} are too large for {dtype}."),
                          ONE("O is not a number any more. This is why the maximum is taken off first.")},
    [SAY_ADD_UNKNOWN] = {"weights, no row computed", ONE("Scores become weights, and mix V[{j}] into O[{i}]."),
                         ONE("Each row's l grows by the sum of its weights; the tile is forgotten.")},
    [SAY_ADD_PASS] = {"weights of an earlier pass", ONE("{X} mixes the rows of V[{j}] into O[{i}]."),
                      ONE("These weights are final: an earlier pass has divided them by l.")},
    [SAY_ADD_PART] = {"a part is added", ONE("Part {s} is added to O[{i}], times e^(its maximum − m)."),
                      ONE("Parts that saw larger scores count for more.")},
    [SAY_SKIP] = {"skip", ONE("S[{i},{j}] is struck out: the mask hides all of it."),
                  ONE("Never loaded, never computed: {allspared} spared so far.")},
    [SAY_SKIP_MORE] = {"more skips", ONE("{n} tiles struck out: the mask hides all of them."),
                       ONE("Never loaded: {spared} here, {allspared} so far.")},
    [SAY_DIVIDE] = {"divide by l", ONE("O[{i}] is divided by l: the weights of each row sum to 1."),
                    ONE("Row {row}: l = {l}. Only now is it an average of the rows of V.")},
    [SAY_DIVIDE_AGAIN] = {"divide by l for now", ONE("O[{i}] is divided by l before it leaves the chip."),
                          ONE("Row {row}: l = {l} so far. When it comes back, this is undone.")},
    [SAY_DIVIDE_UNKNOWN] = {"divide, no row computed", ONE("O[{i}] is divided by l: the weights of each row sum to 1."),
                            ONE("Until here only sums were kept.")},
    [SAY_DIVIDE_BROKEN] = {"divide what overflowed", ONE("O / l of row {row} is not a number."),
                           ONE("An exponential overflowed {dtype} on the way.")},
    [SAY_DIVIDE_P] = {"scores to weights", ONE("{X} = e^(S − m) / l: scores become weights."),
                      ONE("The row is known whole, so m and l are final: nothing is rescaled.")},
    [SAY_STORE_O] = {"store O", ONE("{X} goes out to HBM: {bytes}."),
                     ONE("It is finished, and written once: {written} of {size} so far.")},
    [SAY_STORE_O_ZERO] = {"store O = 0", ONE("{X} = 0 goes out to HBM: {bytes}."),
                          ONE("Between columns of tiles O will wait there, so it has to begin there.")},
    [SAY_STORE_O_AGAIN] = {"store unfinished O", ONE("{X} goes back to HBM: {bytes}."),
                           ONE("The next column of tiles fetches it again: {written} written so far.")},
    [SAY_STORE_O_PART] = {"store a part of O", ONE("Part {s} of O[{i}] goes out to HBM: {bytes}."),
                          ONE("Other parts are computed elsewhere; they meet in the last pass.")},
    [SAY_STORE_S] = {"store S", ONE("{X} goes out to HBM: {bytes}."),
                     TWO("The next pass starts from there: {written} of S are out so far.",
                         "All of S takes {size}. Each pass is a kernel, and leaves its result in HBM.")},
    [SAY_STORE_P] = {"store P", ONE("{X} goes out to HBM: {bytes}."),
                     ONE("It will be read again for P V: {written} of P are out so far.")},
    [SAY_STORE_STATS] = {"store statistics", ONE("m + log l of these rows goes out: {bytes}."),
                         ONE("One number a row says how O was scaled, to whoever needs it later.")},
    [SAY_STORE_STATS_ZERO] = {"store m = −∞, l = 0", ONE("m = −∞ and l = 0 of these rows go out: {bytes}."),
                              ONE("Nothing has been seen yet, and the statistics wait in HBM.")},
    [SAY_STORE_STATS_AGAIN] = {"store m and l", ONE("m and l of these rows go back to HBM: {bytes}."),
                               ONE("They have to travel with O: without them it could not be gone on with.")},
    [SAY_OTHER] = {"other", ONE("{X}: {kind}."), ONE("{total} of {whole} have crossed so far.")},
};

/* ---- Which of them -------------------------------------------------------------------------------------------- */

static bool is_masked(const Snapshot *s) { return s->problem.shape.causal || s->problem.shape.window; }

/* What crosses HBM in both directions in this run waits there between its uses. */
static bool comes_and_goes(const Snapshot *s, int tensor) {
  return s->whole.read[tensor] > 0 && s->whole.write[tensor] > 0;
}

static Wide size_of(const Snapshot *s, int tensor) {
  const SnapshotGrid *g = &s->grid;
  const Wide N_q = wide(g->N_q), N_k = wide(g->N_k), d = wide(g->d), e = wide(g->element_bytes);
  switch (tensor) {
  case TENSOR_K:
  case TENSOR_V: return N_k * d * e;
  case TENSOR_S:
  case TENSOR_P: return N_q * N_k * e;
  case TENSOR_STATS: return N_q * 2 * STATS_BYTES;
  default: return N_q * d * e;
  }
}

static Say say_load(const Snapshot *s) {
  const Event *e = &s->event;
  const bool inner_is_K = !s->grid.column_by_column, again = snapshot_was_loaded(s, e);
  const bool stays = s->grid.n_laps == 1 && !s->grid.at_work;
  switch (e->tensor) {
  case TENSOR_Q: return again ? SAY_LOAD_Q_AGAIN : inner_is_K || stays ? SAY_LOAD_KEPT : SAY_LOAD_Q_AGAIN;
  case TENSOR_K: return !inner_is_K ? SAY_LOAD_KEPT : again ? SAY_LOAD_K_AGAIN : SAY_LOAD_K;
  case TENSOR_V: return !inner_is_K ? SAY_LOAD_KEPT : again ? SAY_LOAD_V_AGAIN : SAY_LOAD_V;
  case TENSOR_S: return SAY_LOAD_S;
  case TENSOR_P: return SAY_LOAD_P;
  case TENSOR_O: return s->problem.tiling.n_splits > 1 ? SAY_LOAD_O_PART : SAY_LOAD_O;
  case TENSOR_STATS: return s->problem.tiling.n_splits > 1 ? SAY_LOAD_STATS_PART : SAY_LOAD_STATS;
  default: return SAY_OTHER;
  }
}

static Say say_store(const Snapshot *s) {
  const Event *e = &s->event;
  const bool returns = comes_and_goes(s, e->tensor), nothing_yet = s->traffic.flops == 0;
  switch (e->tensor) {
  case TENSOR_S: return SAY_STORE_S;
  case TENSOR_P: return SAY_STORE_P;
  case TENSOR_O:
    if (!returns) return SAY_STORE_O;
    if (nothing_yet) return SAY_STORE_O_ZERO;
    if (s->problem.tiling.n_splits > 1) return s->traffic.read[TENSOR_O] > 0 ? SAY_STORE_O : SAY_STORE_O_PART;
    return SAY_STORE_O_AGAIN;
  case TENSOR_STATS:
    if (s->problem.tiling.n_splits > 1 || !returns) return SAY_STORE_STATS;
    return nothing_yet ? SAY_STORE_STATS_ZERO : SAY_STORE_STATS_AGAIN;
  default: return SAY_OTHER;
  }
}

static bool has_row(const Snapshot *s) { return s->row.is_computed && s->row.row >= 0 && s->row.tile >= 0; }

static Say say_max(const Snapshot *s) {
  const SnapshotRow *r = &s->row;
  if (s->event.j < 0) return SAY_MAX_PARTS;
  if (!has_row(s)) return SAY_MAX_UNKNOWN;
  if (r->without_max) return SAY_MAX_WITHOUT;
  if (r->block_max == -INFINITY) return SAY_MAX_HIDDEN;
  if (r->m_old == -INFINITY) return SAY_MAX_FIRST;
  return r->m_new > r->m_old ? SAY_MAX_LARGER : SAY_MAX_SAME;
}

static Say say_rescale(const Snapshot *s) {
  const SnapshotRow *r = &s->row;
  if (!has_row(s)) return SAY_RESCALE_UNKNOWN;
  if (r->without_max) return SAY_RESCALE_WITHOUT;
  if (r->m_old == -INFINITY) return SAY_RESCALE_FIRST;
  return r->m_new > r->m_old ? SAY_RESCALE_SHRINKS : SAY_RESCALE_NOTHING;
}

static Say say_add(const Snapshot *s) {
  const SnapshotRow *r = &s->row;
  if (s->event.j < 0) return SAY_ADD_PART;
  if (s->grid.n_laps > 1) return SAY_ADD_PASS;
  if (!has_row(s)) return SAY_ADD_UNKNOWN;
  if (r->n_overflowed > 0) return SAY_ADD_OVERFLOW;
  if (r->block_max == -INFINITY) return SAY_ADD_HIDDEN;
  const BandRow band = band_row(&s->grid.mask.band, s->grid.B_r, s->grid.B_c, s->event.i);
  if (s->event.j + 1 == band.computed.end) return SAY_ADD_LAST;
  return r->l_old == 0 ? SAY_ADD_FIRST : SAY_ADD;
}

static Say say_divide(const Snapshot *s) {
  const SnapshotRow *r = &s->row;
  if (s->event.tensor == TENSOR_P) return SAY_DIVIDE_P;
  if (!has_row(s) || r->phase < ROW_ACCUMULATED) return SAY_DIVIDE_UNKNOWN;
  for (int64_t k = 0; k < r->n_O; k++)
    if (!isfinite(r->O[k])) return SAY_DIVIDE_BROKEN;
  return comes_and_goes(s, TENSOR_O) && s->grid.column_by_column ? SAY_DIVIDE_AGAIN : SAY_DIVIDE;
}

static Say say_mask(const Snapshot *s) {
  const SnapshotRow *r = &s->row;
  if (!has_row(s)) return SAY_MASK_UNKNOWN;
  return r->n_masked >= r->n_cols ? SAY_MASK_ALL : SAY_MASK;
}

static Say say_of(const Snapshot *s) {
  if (!s->has_event) return SAY_START;
  if (s->step == s->n_steps) return SAY_END;
  switch (s->event.kind) {
  case EVENT_LOAD: return say_load(s);
  case EVENT_STORE: return say_store(s);
  case EVENT_PRODUCT:
    if (s->event.tile == TILE_PARTIAL && is_masked(s)) return SAY_PRODUCT_PARTIAL;
    return s->whole.write[TENSOR_S] > 0 ? SAY_PRODUCT_STORED : SAY_PRODUCT;
  case EVENT_MASK: return say_mask(s);
  case EVENT_NEW_MAX: return say_max(s);
  case EVENT_RESCALE: return say_rescale(s);
  case EVENT_ACCUMULATE: return say_add(s);
  case EVENT_SKIP: return s->skips.n > 1 ? SAY_SKIP_MORE : SAY_SKIP;
  case EVENT_NORMALISE: return say_divide(s);
  default: return SAY_OTHER;
  }
}

int narration_n_situations(void) { return SAY_COUNT; }
const char *narration_situation_name(int situation) { return SENTENCES[situation].name; }
int narration_situation(const Snapshot *snapshot) { return (int)say_of(snapshot); }

/* ---- The numbers in them -------------------------------------------------------------------------------------- */

/* Two decimals; more where those would be 0. */
static void put_real(char *text, size_t size, double value) {
  const char *sign = value < 0 ? "−" : "";
  const double v = fabs(value);
  if (isnan(value))
    snprintf(text, size, "not a number");
  else if (isinf(value))
    snprintf(text, size, "%s∞", sign);
  else if (v >= 1e6 || (v > 0 && v < 0.0005))
    snprintf(text, size, "%s%.2g", sign, v);
  else
    snprintf(text, size, "%s%.*f", sign, v > 0 && v < 0.05 ? 4 : v >= 1000 ? 0 : 2, v);
}

static void put_block(char *text, size_t size, const Event *e) {
  const Tensor t = (Tensor)e->tensor;
  const char *name = t == TENSOR_STATS ? "m, l" : tensor_name(t);
  if ((t == TENSOR_S || t == TENSOR_P) || e->kind == EVENT_PRODUCT)
    snprintf(text, size, "%s[%" PRId64 ",%" PRId64 "]", e->kind == EVENT_PRODUCT ? "S" : name, e->i, e->j);
  else if (e->kind == EVENT_ACCUMULATE)
    snprintf(text, size, "P[%" PRId64 ",%" PRId64 "]", e->i, e->j);
  else
    snprintf(text, size, "%s[%" PRId64 "]", name, t == TENSOR_K || t == TENSOR_V ? e->j : e->i);
}

static void put_value(const Snapshot *s, const char *name, size_t n, char *text, size_t size) {
  const Event *e = &s->event;
  const SnapshotRow *r = &s->row;
  const int t = e->tensor < TENSOR_COUNT ? e->tensor : 0;
  const struct {
    const char *name;
    double value;
  } REALS[] = {
      {"old", r->m_old},   {"new", r->m_new}, {"best", r->block_max}, {"factor", r->factor}, {"sum", r->block_sum},
      {"l0", r->l_scaled}, {"l", r->l}};
  const struct {
    const char *name;
    Wide bytes;
  } BYTES[] = {{"bytes", e->bytes},       {"read", s->traffic.read[t]}, {"written", s->traffic.write[t]},
               {"size", size_of(s, t)},   {"spared", s->skips.bytes},   {"allspared", s->spared_bytes},
               {"total", s->total_bytes}, {"whole", s->whole_bytes}};
  const struct {
    const char *name;
    int64_t count;
  } COUNTS[] = {{"i", e->i >= 0 ? e->i : s->grid.i},
                {"j", e->j >= 0 ? e->j : s->grid.j},
                {"s", e->split},
                {"row", r->row},
                {"cols", has_row(s) ? r->n_cols : e->col1 - e->col0},
                {"rows", e->row1 - e->row0},
                {"kept", r->n_cols - r->n_masked},
                {"bad", r->n_overflowed},
                {"n", s->skips.n}};
#define IS(word) (strlen(word) == n && memcmp(name, word, n) == 0)
  for (size_t k = 0; k < sizeof REALS / sizeof *REALS; k++)
    if (IS(REALS[k].name)) put_real(text, size, REALS[k].value);
  for (size_t k = 0; k < sizeof BYTES / sizeof *BYTES; k++)
    if (IS(BYTES[k].name)) snprintf(text, size, "%s", number_bytes(BYTES[k].bytes).text);
  for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++)
    if (IS(COUNTS[k].name)) snprintf(text, size, "%" PRId64, COUNTS[k].count);
  if (IS("X")) put_block(text, size, e);
  if (IS("dtype")) snprintf(text, size, "%s", dtype_name(s->problem.shape.dtype));
  if (IS("flops")) snprintf(text, size, "%s", number_flops(e->flops).text);
  if (IS("title")) snprintf(text, size, "%s", s->schedule->title);
  if (IS("kind")) snprintf(text, size, "%s", event_kind_name((EventKind)e->kind));
#undef IS
}

static void expand(const Snapshot *s, const char *from, char *to, size_t size) {
  size_t used = 0;
  to[0] = '\0';
  while (*from && used + 1 < size) {
    const char *end = *from == '{' ? strchr(from, '}') : NULL;
    if (!end) {
      to[used++] = *from++;
      to[used] = '\0';
      continue;
    }
    put_value(s, from + 1, (size_t)(end - from - 1), to + used, size - used);
    used += strlen(to + used);
    from = end + 1;
  }
}

static const char *variant(const char *const texts[NARRATION_VARIANTS], const Snapshot *s) {
  const int64_t place = (s->event.i > 0 ? s->event.i : 0) + (s->event.j > 0 ? s->event.j : 0);
  return texts[1] && place % 2 ? texts[1] : texts[0];
}

void narrate(const Snapshot *s, Narration *said) {
  const Sentence *sentence = &SENTENCES[say_of(s)];
  expand(s, variant(sentence->what, s), said->what, sizeof said->what);
  expand(s, variant(sentence->why, s), said->why, sizeof said->why);
}
