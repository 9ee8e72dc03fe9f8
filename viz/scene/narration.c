#include "viz/scene/narration.h"

#include "viz/scene/line_words.h"
#include "viz/text/number.h"

/* ---- The sentences --------------------------------------------------------------------------------------------
 *
 * {X} the blocks, {line} the program's statement, {bytes} of the event, {name} what it moves, {read} {moved} of it so
 * far, {size}; {load} of {loads}, {more} to come, {store} of {stores}; {kernel} {writer} {reader}; {i} {j} {part}
 * {parts}; {rows} {cols} {scores} of the tile, {hidden} of them by the mask, {seeing} rows that see a key; {row} the
 * row that is computed: {kept} keys it sees here, {hid} it does not, {seen} with those before, {left} after; its values
 * {old} {best} {new} {factor} {was} {sum} {div} by name {Old} {Best} {New} {Sum} {Div}; {Total} the block that is added
 * to or divided, {tile} of {tiles}, {added}; {skip} of {skips}, {unread} {unwritten}; {flops} {bad} {dtype};
 * {inputs} {steps} {total} {whole} of the run; {across}: what, of two levels or three. */

enum { STATEMENT_WORDS = 12 };

typedef struct {
  LineShape shape;
  Need needs[NARRATION_NEEDS_MAX];
  const char *what, *why;
} Sentence;

#define COMES      "{X} comes back from HBM: {bytes}."
#define LOAD       "Load {X} from HBM: {bytes}."
#define NTH_LOAD   "Load {load} of {loads} of this block; {moved} of {name} so far."
#define STORE      "Store {line}: {bytes}."
#define SO_FAR     "{total} of {whole} have moved so far."
#define EVERY      "Every row of {Left} meets every row of {Right}."
#define IN_VAIN    "No row sees a key here: computed in vain."
#define KEEPS      "Row {row} keeps {kept} of {cols} scores."
#define MASKED     "A masked score becomes {masked}."
#define MAX_IS     "max({Old} {old}, best score {best}) = {new}."
#define UNTIL      "{New} = {new}, until a larger score comes."
#define AS_WRITTEN "{line}."
#define SKIP       "Skip {skip} of {skips}, {outer}: no row sees these keys."

// clang-format off
static const Sentence SENTENCES[] = {
    {LINE_SHAPES, {NEED_START}, "Nothing has moved yet: {inputs} are in HBM.",
     "This run moves {whole} {across}."},
    {LINE_SHAPES, {NEED_END}, "All {steps} steps are done.", "{total} moved {across} in all."},

    {LINE_LOAD, {NEED_STORED_BY_KERNEL}, COMES,
     "Kernel {writer} stored it; load {load} of {loads}."},
    {LINE_LOAD, {NEED_STORED_BEFORE}, COMES,
     "It was stored before; load {load} of {loads} of this block."},
    {LINE_LOAD, {NEED_ONLY_LOAD}, LOAD, "The whole run loads it only once."},
    {LINE_LOAD, {NEED_FIRST_LOAD}, LOAD, "The first of {loads} loads of this block."},
    {LINE_LOAD, {NEED_FOR_ROWS}, "Load {X} again, for row block {i}: {bytes}.", NTH_LOAD},
    {LINE_LOAD, {NEED_FOR_COLUMNS}, "Load {X} again, for column block {j}: {bytes}.",
     NTH_LOAD},
    {LINE_LOAD, {NEED_FOR_PART}, "Load {X} again, for part {part} of {parts}: {bytes}.",
     NTH_LOAD},
    {LINE_LOAD, {NEED_FOR_KERNEL}, "Load {X} again, for kernel {kernel}: {bytes}.",
     NTH_LOAD},
    {LINE_LOAD, {NEED_FOR_LOOP}, "Load {X} again: {bytes}.",
     "An earlier loop loaded it too; load {load} of {loads}."},
    {LINE_LOAD, {0}, LOAD, SO_FAR},

    {LINE_STORE, {NEED_IS_ADD}, "Add to {X} in HBM: {bytes}.", SO_FAR},
    {LINE_STORE, {NEED_READ_BY_KERNEL, NEED_WRITTEN}, STORE,
     "Kernel {reader} loads it; {moved} of {name} written so far."},
    {LINE_STORE, {NEED_READ_BY_KERNEL}, STORE, "Kernel {reader} loads it."},
    {LINE_STORE, {NEED_NEVER_LOADED_LATER, NEED_ONLY_STORE, NEED_WRITTEN}, STORE,
     "Its only store, and no load follows: {moved} of {size} of {name}."},
    {LINE_STORE, {NEED_NEVER_LOADED_LATER, NEED_ONLY_STORE}, STORE,
     "Its only store, and no load follows."},
    {LINE_STORE, {NEED_NEVER_LOADED_LATER, NEED_LAST_STORE}, STORE,
     "The last of its {stores} stores; no load follows."},
    {LINE_STORE, {NEED_LOADED_LATER}, STORE, "Loads of this block still to come: {more}."},
    {LINE_STORE, {NEED_STORES_KNOWN}, STORE, "Store {store} of {stores} of this block."},
    {LINE_STORE, {0}, STORE, SO_FAR},

    {LINE_PRODUCT, {NEED_VAIN}, AS_WRITTEN, "No row sees a key here: {flops} in vain."},
    {LINE_PRODUCT, {NEED_HIDDEN, NEED_SCORES}, AS_WRITTEN,
     "{flops} for {scores} scores; the mask hides {hidden} of them."},
    {LINE_PRODUCT, {NEED_PAIRS, NEED_SCORES, NEED_ON_CHIP}, EVERY,
     "{rows} × {cols} scores from {flops}; they never leave the chip."},
    {LINE_PRODUCT, {NEED_PAIRS, NEED_SCORES}, EVERY, "{rows} × {cols} scores from {flops}."},
    {LINE_PRODUCT, {NEED_AREA, NEED_ON_CHIP}, AS_WRITTEN,
     "{flops} for {rows} × {cols} pairs; it never leaves the chip."},
    {LINE_PRODUCT, {NEED_AREA}, AS_WRITTEN, "{flops} for {rows} × {cols} pairs."},
    {LINE_PRODUCT, {0}, AS_WRITTEN, "It takes {flops}."},

    {LINE_MASK, {NEED_VAIN}, "All {scores} scores of {X} get masked.", IN_VAIN},
    {LINE_MASK, {NEED_UNSEEN, NEED_COUNTED},
     "Row {row} sees no key here: its {cols} scores become {masked}.", "{seeing} of {rows} rows see a key."},
    {LINE_MASK, {NEED_SEEN, NEED_HIDDEN_AFTER}, KEEPS,
     "{hid} keys come after it: their scores become {masked}."},
    {LINE_MASK, {NEED_SEEN, NEED_HIDDEN_BEFORE}, KEEPS,
     "{hid} keys lie before its window: their scores become {masked}."},
    {LINE_MASK, {NEED_SEEN, NEED_HIDDEN_PATTERN}, KEEPS,
     "The pattern hides {hid} keys: their scores become {masked}."},
    {LINE_MASK, {NEED_SEEN}, KEEPS, MASKED},
    {LINE_MASK, {NEED_HIDDEN}, "The mask hides {hidden} of {scores} scores.", MASKED},
    {LINE_MASK, {0}, AS_WRITTEN, MASKED},

    {LINE_MAXIMUM, {NEED_WITHOUT_MAX}, "The maximum is left out: {New} is {new}.",
     "The best score of row {row} here is {best}."},
    {LINE_MAXIMUM, {NEED_UNSEEN, NEED_KEPT, NEED_MAXIMUM},
     "Row {row} sees no key here: {New} stays {new}.",
     AS_WRITTEN},
    {LINE_MAXIMUM, {NEED_FIRST_KEYS, NEED_MAXIMUM, NEED_PART},
     "First keys row {row} sees in part {part}: best score {best}.", UNTIL},
    {LINE_MAXIMUM, {NEED_FIRST_KEYS, NEED_MAXIMUM},
     "First keys row {row} sees: best score {best}.", UNTIL},
    {LINE_MAXIMUM, {NEED_ROSE, NEED_MAXIMUM}, MAX_IS,
     "Row {row} has a larger maximum: {new}, not {old}."},
    {LINE_MAXIMUM, {NEED_KEPT, NEED_MAXIMUM}, MAX_IS,
     "Row {row} has no larger score here: its maximum stays."},
    {LINE_MAXIMUM, {NEED_MAX_OF_TILE}, MAX_IS, "Row {row} keeps the larger."},
    {LINE_MAXIMUM, {NEED_MAX_OF_VALUE, NEED_OVER_PARTS}, "max({Old} {old}, {Best} {best}) = {new}.",
     "Row {row}, part {part} of {parts}."},
    {LINE_MAXIMUM, {NEED_MAX_OF_VALUE}, "max({Old} {old}, {Best} {best}) = {new}.",
     "Row {row} keeps the larger."},
    {LINE_MAXIMUM, {NEED_VAIN}, AS_WRITTEN, IN_VAIN},
    {LINE_MAXIMUM, {0}, AS_WRITTEN, "A maximum for each of {rows} rows."},

    {LINE_SCALE, {NEED_DIVIDED, NEED_DIVISOR}, AS_WRITTEN,
     "{Total} was divided before; row {row}: times {div}."},
    {LINE_SCALE, {NEED_NO_KEYS, NEED_PART}, AS_WRITTEN,
     "Row {row} has seen no key of part {part} yet: nothing to scale."},
    {LINE_SCALE, {NEED_NO_KEYS}, AS_WRITTEN, "Row {row} has seen no key yet: nothing to scale."},
    {LINE_SCALE, {NEED_FACTOR_ONE}, AS_WRITTEN, "Row {row}: times 1, nothing changes."},
    {LINE_SCALE, {NEED_FACTOR, NEED_SUM}, AS_WRITTEN,
     "Row {row}: times {factor}; {Sum} goes from {was} to {sum}."},
    {LINE_SCALE, {NEED_FACTOR}, AS_WRITTEN, "Row {row}: times {factor}."},
    {LINE_SCALE, {NEED_VAIN}, AS_WRITTEN, IN_VAIN},
    {LINE_SCALE, {0}, AS_WRITTEN, "A factor for each of {rows} rows."},

    {LINE_ADD, {NEED_OVERFLOW}, AS_WRITTEN, "{bad} of {cols} exponentials of row {row} overflow {dtype}."},
    {LINE_ADD, {NEED_VAIN}, AS_WRITTEN, IN_VAIN},
    {LINE_ADD, {NEED_UNSEEN, NEED_SUM_STAYS}, AS_WRITTEN,
     "Row {row} sees no key here: {Sum} stays {sum}."},
    {LINE_ADD, {NEED_UNSEEN}, AS_WRITTEN, "Row {row} sees no key here; tile {tile} of {tiles}."},
    {LINE_ADD, {NEED_ALL_KEYS, NEED_SUM_IS_NOW, NEED_PART}, AS_WRITTEN,
     "Row {row} has seen all {seen} keys of part {part}: {Sum} = {sum}."},
    {LINE_ADD, {NEED_ALL_KEYS, NEED_SUM_IS_NOW}, AS_WRITTEN,
     "Row {row} has seen all its {seen} keys: {Sum} = {sum}."},
    {LINE_ADD, {NEED_FIRST_KEYS, NEED_SUM_IS_NOW, NEED_PART}, AS_WRITTEN,
     "First keys of row {row} in part {part}: {Sum} = {sum}."},
    {LINE_ADD, {NEED_FIRST_KEYS, NEED_SUM_IS_NOW}, AS_WRITTEN,
     "First keys of row {row}: {Sum} = {sum}; {left} keys to come."},
    {LINE_ADD, {NEED_FACTOR, NEED_SUM}, AS_WRITTEN,
     "Row {row}, part {part} of {parts}: times {factor}; {Sum} becomes {sum}."},
    {LINE_ADD, {NEED_SUM}, AS_WRITTEN,
     "Row {row}: {Sum} goes from {was} to {sum}; {left} keys to come."},
    {LINE_ADD, {NEED_AREA}, AS_WRITTEN, "Tile {tile} of {tiles} is added to {Total}."},
    {LINE_ADD, {0}, AS_WRITTEN, "Addition {tile} of {tiles} to {Total}."},

    {LINE_DIVIDE, {NEED_BROKEN}, AS_WRITTEN, "Row {row} of {Total} is not a number; {Div} = {div}."},
    {LINE_DIVIDE, {NEED_EMPTY_ROW}, AS_WRITTEN, "Row {row} sees no key: its {Total} is 0."},
    {LINE_DIVIDE, {NEED_UNFINISHED, NEED_DIVISOR}, AS_WRITTEN,
     "Row {row}: {Div} = {div}; {added} of {tiles} tiles are added."},
    {LINE_DIVIDE, {NEED_UNFINISHED}, AS_WRITTEN,
     "{added} of {tiles} tiles are added."},
    {LINE_DIVIDE, {NEED_FINISHED, NEED_DIVISOR}, AS_WRITTEN,
     "Row {row}: {Div} = {div}; all {tiles} additions to {Total} are done."},
    {LINE_DIVIDE, {NEED_FINISHED}, AS_WRITTEN, "All {tiles} additions to {Total} are done."},
    {LINE_DIVIDE, {NEED_DIVISOR}, AS_WRITTEN, "Row {row}: {Div} = {div}."},
    {LINE_DIVIDE, {0}, AS_WRITTEN, SO_FAR},

    {LINE_SET, {NEED_VAIN}, AS_WRITTEN, IN_VAIN},
    {LINE_SET, {NEED_SUM_IS_NOW}, AS_WRITTEN, "Row {row}: {Sum} = {sum}."},
    {LINE_SET, {NEED_UNSEEN}, AS_WRITTEN, "Row {row} sees no key here."},
    {LINE_SET, {NEED_SEEN}, AS_WRITTEN, "Row {row} sees {kept} of {cols} keys here."},
    {LINE_SET, {NEED_AREA}, AS_WRITTEN, "{rows} × {cols} values."},
    {LINE_SET, {0}, AS_WRITTEN, SO_FAR},

    {LINE_SKIP, {NEED_STORES_SPARED}, SKIP,
     "So far {unread} were not loaded, {unwritten} not stored."},
    {LINE_SKIP, {0}, SKIP, "So far {unread} were not loaded."},

    {LINE_SHAPES, {0}, AS_WRITTEN, SO_FAR},
};
// clang-format on

static bool holds(const Facts *f, const Sentence *s) {
  for (int k = 0; k < NARRATION_NEEDS_MAX; k++)
    if (!f->has[s->needs[k]]) return false;
  return true;
}

/* ---- The values in them --------------------------------------------------------------------------------------- */

/* Two decimals; more where those would be 0. */
static void put_real(Phrase to, double value) {
  const char *sign = value < 0 ? "−" : "";
  const double v = fabs(value);
  if (isnan(value))
    phrase_put(to, "not a number");
  else if (isinf(value))
    phrase_put(to, "%s∞", sign);
  else if (v >= 1e6 || (v > 0 && v < 0.0005))
    phrase_put(to, "%s%.2g", sign, v);
  else
    phrase_put(to, "%s%.*f", sign, v > 0 && v < 0.05 ? 4 : v >= 1000 ? 0 : 2, v);
}

/* What stands in braces. */
typedef struct {
  const char *word;
  size_t n;
} Asked;

static bool is(Asked a, const char *word) { return strlen(word) == a.n && memcmp(a.word, word, a.n) == 0; }

/* Its row in a table, which begins with a word; -1. */
static int find(Asked a, const void *rows, size_t row_bytes, int n) {
  for (int k = 0; k < n; k++)
    if (is(a, *(const char *const *)((const char *)rows + (size_t)k * row_bytes))) return k;
  return -1;
}
#define FIND(a, rows) find(a, rows, sizeof *rows, (int)COUNT_OF(rows))

static void put_value(const Facts *f, Asked a, Phrase to) {
  const LineFacts *l = &f->line;
  const Event *e = &f->event;
  const struct {
    const char *word;
    int64_t count;
  } COUNTS[] = {{"load", f->moves.loads_before + 1},
                {"loads", f->moves.loads_all},
                {"more", f->more},
                {"store", f->moves.stores_before + 1},
                {"stores", f->moves.stores_all},
                {"i", e->i},
                {"j", e->j},
                {"part", e->split + 1},
                {"parts", f->n_splits},
                {"rows", f->rows},
                {"cols", f->cols},
                {"scores", f->rows * f->cols},
                {"hidden", f->hidden},
                {"seeing", f->rows_seeing},
                {"row", f->row},
                {"kept", f->keys_here},
                {"hid", f->hidden_from_row},
                {"seen", f->keys_before + f->keys_here},
                {"left", f->keys_left},
                {"tile", f->adds_before + 1},
                {"tiles", f->adds_all},
                {"added", f->adds_before},
                {"skip", f->skip_nth},
                {"skips", f->skip_of},
                {"bad", f->overflowed}},
    NAMES[] = {{"Old", l->old},     {"Best", l->best},   {"New", l->result}, {"Sum", l->sum},
               {"Total", l->total}, {"Div", l->divisor}, {"Left", l->left},  {"Right", l->right}};
  const struct {
    const char *word;
    Wide bytes;
  } BYTES[] = {{"bytes", e->bytes},
               {"moved", f->moved},
               {"size", f->size},
               {"unread", f->now->spared_bytes - f->now->spared_write_bytes},
               {"unwritten", f->now->spared_write_bytes},
               {"total", f->now->total_bytes},
               {"whole", f->now->whole_bytes}};
  const struct {
    const char *word;
    double value;
  } REALS[] = {{"old", f->old},        {"best", f->best}, {"new", f->result}, {"factor", f->factor},
               {"was", f->sum_before}, {"sum", f->sum},   {"div", f->divisor}};
  const int count = FIND(a, COUNTS), bytes = FIND(a, BYTES), real = FIND(a, REALS), name = FIND(a, NAMES);
  if (count >= 0) phrase_put(to, "%jd", COUNTS[count].count);
  if (bytes >= 0) phrase_put(to, "%s", number_bytes(BYTES[bytes].bytes).text);
  if (real >= 0) put_real(to, REALS[real].value);
  if (name >= 0 && NAMES[name].count >= 0) line_put_name(f->schedule, (int)NAMES[name].count, e, to);
}

static void put_inputs(const Schedule *s, Phrase to) {
  int n = 0;
  for (int k = 0; k < s->n_names; k++) {
    bool is_known = !s->names[k].is_input;
    for (int before = 0; before < k; before++)
      is_known = is_known || (s->names[before].is_input && line_same_base(s, before, k));
    if (is_known) continue;
    if (n++) phrase_put(to, ", ");
    line_put_base(s, k, to);
  }
}

static const char *kernel_name(const Schedule *s, int kernel) { return kernel >= 0 ? s->kernels[kernel].name : ""; }

static void put_words(const Facts *f, Asked a, Phrase to) {
  const Snapshot *now = f->now;
  const Schedule *s = f->schedule;
  const ProgramOp *op = &s->ops[f->line.op];
  const double masked =
      is(a, "masked") && op->value ? line_value(s, op->value - 1, NULL) : -INFINITY; /* a constant of the text */
  const struct {
    const char *word, *text;
  } TEXTS[] = {{"kernel", kernel_name(s, op->kernel)},
               {"writer", kernel_name(s, f->writer)},
               {"reader", kernel_name(s, f->reader)},
               {"dtype", dtype_name(now->problem.shape.dtype)},
               {"across", now->gpu.l2_bytes > 0 ? "across the SRAM boundary" : "between HBM and SRAM"}};
  const int text = FIND(a, TEXTS);
  const bool by_row = op->dim == DIM_J; /* where a loop that skips tiles stands: "row block 3, part 2" */
  if (is(a, "X")) line_put_blocks(s, &f->event, to);
  if (is(a, "line")) line_put_statement(s, &f->event, STATEMENT_WORDS, to);
  if (is(a, "name") && f->line.first >= 0) line_put_moved_name(s, f->line.first, to);
  if (is(a, "outer")) phrase_put(to, by_row ? "row block %jd" : "column block %jd", by_row ? f->event.i : f->event.j);
  if (is(a, "outer") && f->has[NEED_PART]) phrase_put(to, ", part %d", f->event.split + 1);
  if (is(a, "masked") && isinf(masked)) put_real(to, masked);
  if (is(a, "masked") && !isinf(masked)) phrase_put(to, "%s", number_double(masked, 4).text);
  if (text >= 0) phrase_put(to, "%s", TEXTS[text].text);
  if (is(a, "flops")) phrase_put(to, "%s", number_flops(f->event.flops).text);
  if (is(a, "steps")) phrase_put(to, "%s", number_count(now->n_steps).text);
  if (is(a, "inputs")) put_inputs(s, to);
}

static void expand(const Facts *f, const char *from, Phrase to) {
  for (*to.text = '\0'; *from; from++) {
    const char *end = *from == '{' ? strchr(from, '}') : NULL;
    if (end) {
      const Asked a = {from + 1, (size_t)(end - from - 1)};
      put_value(f, a, to);
      put_words(f, a, to);
      from = end;
    } else {
      phrase_put(to, "%c", *from);
    }
  }
}

void narrate(const Snapshot *now, Narration *said) {
  Facts f;
  facts_at(now, &f);
  const Sentence *s = SENTENCES; /* LINE_SHAPES: whatever the line */
  while ((s->shape != LINE_SHAPES && s->shape != f.line.shape) || !holds(&f, s)) s++;
  expand(&f, s->what, (Phrase){said->what, sizeof said->what});
  expand(&f, s->why, (Phrase){said->why, sizeof said->why});
}
