#include "viz/scene/narration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/line_words.h"
#include "viz/text/number.h"

/* ---- The sentences --------------------------------------------------------------------------------------------
 *
 * {X} the blocks, {line} the program's statement, {bytes} of the event, {name} what it moves, {read} {written} of it so
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

#define COMES    "{X} comes back from HBM: {bytes}."
#define LOAD     "Load {X} from HBM: {bytes}."
#define NTH_LOAD "Load {load} of {loads} of this block; {read} of {name} so far."
#define STORE    "Store {line}: {bytes}."
#define SO_FAR   "{total} of {whole} have moved so far."
#define EVERY    "Every row of {Left} meets every row of {Right}."
#define IN_VAIN  "No row sees a key here: computed in vain."
#define KEEPS    "Row {row} keeps {kept} of {cols} scores."
#define MASKED   "A masked score becomes {masked}."
#define MAX_IS   "max({Old} {old}, best score {best}) = {new}."
#define UNTIL    "{New} = {new}, until a larger score comes."
#define SKIP     "Skip {skip} of {skips}, {outer}: no row sees these keys."

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
     "Kernel {reader} loads it; {written} of {name} written so far."},
    {LINE_STORE, {NEED_READ_BY_KERNEL}, STORE, "Kernel {reader} loads it."},
    {LINE_STORE, {NEED_NEVER_LOADED_LATER, NEED_ONLY_STORE, NEED_WRITTEN}, STORE,
     "Its only store, and no load follows: {written} of {size} of {name}."},
    {LINE_STORE, {NEED_NEVER_LOADED_LATER, NEED_ONLY_STORE}, STORE,
     "Its only store, and no load follows."},
    {LINE_STORE, {NEED_NEVER_LOADED_LATER, NEED_LAST_STORE}, STORE,
     "The last of its {stores} stores; no load follows."},
    {LINE_STORE, {NEED_LOADED_LATER}, STORE, "Loads of this block still to come: {more}."},
    {LINE_STORE, {NEED_STORES_KNOWN}, STORE, "Store {store} of {stores} of this block."},
    {LINE_STORE, {0}, STORE, SO_FAR},

    {LINE_PRODUCT, {NEED_VAIN}, "{line}.", "No row sees a key here: {flops} in vain."},
    {LINE_PRODUCT, {NEED_HIDDEN, NEED_SCORES}, "{line}.",
     "{flops} for {scores} scores; the mask hides {hidden} of them."},
    {LINE_PRODUCT, {NEED_PAIRS, NEED_SCORES, NEED_ON_CHIP}, EVERY,
     "{rows} × {cols} scores from {flops}; they never leave the chip."},
    {LINE_PRODUCT, {NEED_PAIRS, NEED_SCORES}, EVERY, "{rows} × {cols} scores from {flops}."},
    {LINE_PRODUCT, {NEED_AREA, NEED_ON_CHIP}, "{line}.",
     "{flops} for {rows} × {cols} pairs; it never leaves the chip."},
    {LINE_PRODUCT, {NEED_AREA}, "{line}.", "{flops} for {rows} × {cols} pairs."},
    {LINE_PRODUCT, {0}, "{line}.", "It takes {flops}."},

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
    {LINE_MASK, {0}, "{line}.", MASKED},

    {LINE_MAXIMUM, {NEED_WITHOUT_MAX}, "The maximum is left out: {New} is {new}.",
     "The best score of row {row} here is {best}."},
    {LINE_MAXIMUM, {NEED_UNSEEN, NEED_KEPT, NEED_MAXIMUM},
     "Row {row} sees no key here: {New} stays {new}.",
     "{line}."},
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
    {LINE_MAXIMUM, {NEED_VAIN}, "{line}.", IN_VAIN},
    {LINE_MAXIMUM, {0}, "{line}.", "A maximum for each of {rows} rows."},

    {LINE_SCALE, {NEED_DIVIDED, NEED_DIVISOR}, "{line}.",
     "{Total} was divided before; row {row}: times {div}."},
    {LINE_SCALE, {NEED_NO_KEYS, NEED_PART}, "{line}.",
     "Row {row} has seen no key of part {part} yet: nothing to scale."},
    {LINE_SCALE, {NEED_NO_KEYS}, "{line}.", "Row {row} has seen no key yet: nothing to scale."},
    {LINE_SCALE, {NEED_FACTOR_ONE}, "{line}.", "Row {row}: times 1, nothing changes."},
    {LINE_SCALE, {NEED_FACTOR, NEED_SUM}, "{line}.",
     "Row {row}: times {factor}; {Sum} goes from {was} to {sum}."},
    {LINE_SCALE, {NEED_FACTOR}, "{line}.", "Row {row}: times {factor}."},
    {LINE_SCALE, {NEED_VAIN}, "{line}.", IN_VAIN},
    {LINE_SCALE, {0}, "{line}.", "A factor for each of {rows} rows."},

    {LINE_ADD, {NEED_OVERFLOW}, "{line}.", "{bad} of {cols} exponentials of row {row} overflow {dtype}."},
    {LINE_ADD, {NEED_VAIN}, "{line}.", IN_VAIN},
    {LINE_ADD, {NEED_UNSEEN, NEED_SUM_STAYS}, "{line}.",
     "Row {row} sees no key here: {Sum} stays {sum}."},
    {LINE_ADD, {NEED_UNSEEN}, "{line}.", "Row {row} sees no key here; tile {tile} of {tiles}."},
    {LINE_ADD, {NEED_ALL_KEYS, NEED_SUM_IS_NOW, NEED_PART}, "{line}.",
     "Row {row} has seen all {seen} keys of part {part}: {Sum} = {sum}."},
    {LINE_ADD, {NEED_ALL_KEYS, NEED_SUM_IS_NOW}, "{line}.",
     "Row {row} has seen all its {seen} keys: {Sum} = {sum}."},
    {LINE_ADD, {NEED_FIRST_KEYS, NEED_SUM_IS_NOW, NEED_PART}, "{line}.",
     "First keys of row {row} in part {part}: {Sum} = {sum}."},
    {LINE_ADD, {NEED_FIRST_KEYS, NEED_SUM_IS_NOW}, "{line}.",
     "First keys of row {row}: {Sum} = {sum}; {left} keys to come."},
    {LINE_ADD, {NEED_FACTOR, NEED_SUM}, "{line}.",
     "Row {row}, part {part} of {parts}: times {factor}; {Sum} becomes {sum}."},
    {LINE_ADD, {NEED_SUM}, "{line}.",
     "Row {row}: {Sum} goes from {was} to {sum}; {left} keys to come."},
    {LINE_ADD, {NEED_AREA}, "{line}.", "Tile {tile} of {tiles} is added to {Total}."},
    {LINE_ADD, {0}, "{line}.", "Addition {tile} of {tiles} to {Total}."},

    {LINE_DIVIDE, {NEED_BROKEN}, "{line}.", "Row {row} of {Total} is not a number; {Div} = {div}."},
    {LINE_DIVIDE, {NEED_EMPTY_ROW}, "{line}.", "Row {row} sees no key: its {Total} is 0."},
    {LINE_DIVIDE, {NEED_UNFINISHED, NEED_DIVISOR}, "{line}.",
     "Row {row}: {Div} = {div}; {added} of {tiles} tiles are added."},
    {LINE_DIVIDE, {NEED_UNFINISHED}, "{line}.",
     "{added} of {tiles} tiles are added."},
    {LINE_DIVIDE, {NEED_FINISHED, NEED_DIVISOR}, "{line}.",
     "Row {row}: {Div} = {div}; all {tiles} additions to {Total} are done."},
    {LINE_DIVIDE, {NEED_FINISHED}, "{line}.", "All {tiles} additions to {Total} are done."},
    {LINE_DIVIDE, {NEED_DIVISOR}, "{line}.", "Row {row}: {Div} = {div}."},
    {LINE_DIVIDE, {0}, "{line}.", SO_FAR},

    {LINE_SET, {NEED_VAIN}, "{line}.", IN_VAIN},
    {LINE_SET, {NEED_SUM_IS_NOW}, "{line}.", "Row {row}: {Sum} = {sum}."},
    {LINE_SET, {NEED_UNSEEN}, "{line}.", "Row {row} sees no key here."},
    {LINE_SET, {NEED_SEEN}, "{line}.", "Row {row} sees {kept} of {cols} keys here."},
    {LINE_SET, {NEED_AREA}, "{line}.", "{rows} × {cols} values."},
    {LINE_SET, {0}, "{line}.", SO_FAR},

    {LINE_SKIP, {NEED_STORES_SPARED}, SKIP,
     "So far {unread} were not loaded, {unwritten} not stored."},
    {LINE_SKIP, {0}, SKIP, "So far {unread} were not loaded."},

    {LINE_SHAPES, {0}, "{line}.", SO_FAR},
};
// clang-format on

static bool holds(const Facts *f, const Sentence *s) {
  for (int k = 0; k < NARRATION_NEEDS_MAX; k++)
    if (!f->has[s->needs[k]]) return false;
  return true;
}

static const Sentence *choose(const Facts *f) {
  const Sentence *s = SENTENCES; /* LINE_SHAPES: whatever the line */
  while ((s->shape != LINE_SHAPES && s->shape != f->line.shape) || !holds(f, s)) s++;
  return s;
}

/* ---- The values in them --------------------------------------------------------------------------------------- */

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

typedef struct {
  const Snapshot *now;
  const Facts *facts;
  const char *word; /* what stands in braces */
  size_t n;
} Asked;

static bool is(const Asked *a, const char *word) { return strlen(word) == a->n && memcmp(a->word, word, a->n) == 0; }

static bool put_count(const Asked *a, char *text, size_t size) {
  const Facts *f = a->facts;
  const Event *e = &f->event;
  const struct {
    const char *word;
    int64_t count;
  } COUNTS[] = {{"load", f->loads_before + 1},
                {"loads", f->loads_all},
                {"more", f->loads_all - f->loads_before},
                {"store", f->stores_before + 1},
                {"stores", f->stores_all},
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
                {"bad", f->overflowed}};
  for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++)
    if (is(a, COUNTS[k].word)) {
      snprintf(text, size, "%" PRId64, COUNTS[k].count);
      return true;
    }
  return false;
}

static bool put_bytes(const Asked *a, char *text, size_t size) {
  const Snapshot *s = a->now;
  const Facts *f = a->facts;
  const struct {
    const char *word;
    Wide bytes;
  } BYTES[] = {{"bytes", f->event.bytes},
               {"read", f->read},
               {"written", f->written},
               {"size", f->size},
               {"unread", s->spared_bytes - s->spared_write_bytes},
               {"unwritten", s->spared_write_bytes},
               {"total", s->total_bytes},
               {"whole", s->whole_bytes}};
  for (size_t k = 0; k < sizeof BYTES / sizeof *BYTES; k++)
    if (is(a, BYTES[k].word)) {
      snprintf(text, size, "%s", number_bytes(BYTES[k].bytes).text);
      return true;
    }
  return false;
}

static bool put_value(const Asked *a, char *text, size_t size) {
  const Facts *f = a->facts;
  const struct {
    const char *word;
    double value;
  } REALS[] = {{"old", f->old},        {"best", f->best}, {"new", f->result}, {"factor", f->factor},
               {"was", f->sum_before}, {"sum", f->sum},   {"div", f->divisor}};
  for (size_t k = 0; k < sizeof REALS / sizeof *REALS; k++)
    if (is(a, REALS[k].word)) {
      put_real(text, size, REALS[k].value);
      return true;
    }
  return false;
}

static bool put_name(const Asked *a, char *text, size_t size) {
  const Facts *f = a->facts;
  const LineFacts *l = &f->line;
  const struct {
    const char *word;
    int name;
  } NAMES[] = {{"Old", l->old},     {"Best", l->best},   {"New", l->result}, {"Sum", l->sum},
               {"Total", l->total}, {"Div", l->divisor}, {"Left", l->left},  {"Right", l->right}};
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
    if (is(a, NAMES[k].word)) {
      if (NAMES[k].name >= 0) line_put_name(f->schedule, NAMES[k].name, &f->event, text, size);
      return true;
    }
  return false;
}

static void put_inputs(const Schedule *s, char *text, size_t size) {
  int n = 0;
  for (int k = 0; k < s->n_names; k++) {
    bool is_known = !s->names[k].is_input;
    for (int before = 0; before < k; before++)
      is_known = is_known || (s->names[before].is_input && line_same_base(s, before, k));
    if (is_known) continue;
    if (n++) strncat(text, ", ", size - strlen(text) - 1);
    line_put_base(s, k, text, size);
  }
}

static const char *kernel_name(const Schedule *s, int kernel) { return kernel >= 0 ? s->kernels[kernel].name : ""; }

/* Where a loop that skips tiles stands: "row block 3, part 2". */
static void put_outer(const Facts *f, char *text, size_t size) {
  const bool by_row = f->schedule->ops[f->line.op].dim == DIM_J;
  snprintf(text, size, by_row ? "row block %" PRId64 : "column block %" PRId64, by_row ? f->event.i : f->event.j);
  if (f->has[NEED_PART]) snprintf(text + strlen(text), size - strlen(text), ", part %d", f->event.split + 1);
}

/* A constant of the text. */
static void put_number(char *text, size_t size, double value) {
  if (isinf(value))
    put_real(text, size, value);
  else
    snprintf(text, size, "%s", number_double(value, 4).text);
}

static void put_words(const Asked *a, char *text, size_t size) {
  const Facts *f = a->facts;
  const Schedule *s = f->schedule;
  const ProgramOp *op = &s->ops[f->line.op];
  if (is(a, "X")) line_put_blocks(s, &f->event, text, size);
  if (is(a, "line")) line_put_statement(s, &f->event, STATEMENT_WORDS, text, size);
  if (is(a, "name") && f->line.first >= 0) line_put_moved_name(s, f->line.first, text, size);
  if (is(a, "outer")) put_outer(f, text, size);
  if (is(a, "masked") && op->value) put_number(text, size, line_value(s, op->value - 1, NULL));
  if (is(a, "masked") && !op->value) put_number(text, size, -INFINITY);
  if (is(a, "kernel")) snprintf(text, size, "%s", kernel_name(s, op->kernel));
  if (is(a, "writer")) snprintf(text, size, "%s", kernel_name(s, f->writer));
  if (is(a, "reader")) snprintf(text, size, "%s", kernel_name(s, f->reader));
  if (is(a, "flops")) snprintf(text, size, "%s", number_flops(f->event.flops).text);
  if (is(a, "dtype")) snprintf(text, size, "%s", dtype_name(a->now->problem.shape.dtype));
  if (is(a, "steps")) snprintf(text, size, "%s", number_count(a->now->n_steps).text);
  if (is(a, "inputs")) put_inputs(s, text, size);
  if (is(a, "across"))
    snprintf(text, size, a->now->gpu.l2_bytes > 0 ? "across the SRAM boundary" : "between HBM and SRAM");
}

static void expand(const Snapshot *now, const Facts *facts, const char *from, char *to, size_t size) {
  size_t used = 0;
  to[0] = '\0';
  while (*from && used + 1 < size) {
    const char *end = *from == '{' ? strchr(from, '}') : NULL;
    if (!end) {
      to[used++] = *from++;
      to[used] = '\0';
      continue;
    }
    const Asked a = {now, facts, from + 1, (size_t)(end - from - 1)};
    if (!put_count(&a, to + used, size - used) && !put_bytes(&a, to + used, size - used) &&
        !put_value(&a, to + used, size - used) && !put_name(&a, to + used, size - used))
      put_words(&a, to + used, size - used);
    used += strlen(to + used);
    from = end + 1;
  }
}

void narrate(const Snapshot *now, Narration *said) {
  Facts f;
  facts_at(now, &f);
  const Sentence *s = choose(&f);
  expand(now, &f, s->what, said->what, sizeof said->what);
  expand(now, &f, s->why, said->why, sizeof said->why);
}
