#include "tests/support/claims.h"

#include "tests/support/claims_asked.h"
#include "tests/support/claims_moves.h"
#include "tests/support/claims_scores.h"
#include "tests/support/claims_sums.h"

/* ---- The list
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct {
  const char *pattern;
  bool (*holds)(const Said *said);
  bool needs_event;
} Claim;

/* The more particular first: the first that matches is what is said. */
static const Claim CLAIMS[] = {
    {"Row {}, part {} of {}: times {}; {} becomes {}.", c_part_added, true},
    {"Row {}, part {} of {}.", c_row_part, true},
    {"Nothing has moved yet: {} are in HBM.", c_start, false},
    {"This run moves {} between HBM and SRAM.", c_whole, false},
    {"This run moves {} across the SRAM boundary.", c_whole, false},
    {"All {} steps are done.", c_end, true},
    {"{} moved between HBM and SRAM in all.", c_crossed, true},
    {"{} moved across the SRAM boundary in all.", c_crossed, true},
    {"{} of {} have moved so far.", c_so_far, true},
    {"{} comes back from HBM: {}.", c_comes_back, true},
    {"Load {} from HBM: {}.", c_load, true},
    {"Kernel {} stored it; load {} of {}.", c_stored_by, true},
    {"It was stored before; load {} of {} of this block.", c_stored_before, true},
    {"The whole run loads it only once.", c_once, true},
    {"The first of {} loads of this block.", c_first_of, true},
    {"Load {} again, for row block {}: {}.", c_again_row, true},
    {"Load {} again, for column block {}: {}.", c_again_column, true},
    {"Load {} again, for part {} of {}: {}.", c_again_part, true},
    {"Load {} again, for kernel {}: {}.", c_again_kernel, true},
    {"Load {} again: {}.", c_again, true},
    {"Load {} of {} of this block; {} of {} so far.", c_nth_load_read, true},
    {"An earlier loop loaded it too; load {} of {}.", c_earlier_loop, true},
    {"Add to {} in HBM: {}.", c_add_in_HBM, true},
    {"Kernel {} loads it; {} of {} written so far.", c_read_by_written, true},
    {"Kernel {} loads it.", c_read_by, true},
    {"Loads of this block still to come: {}.", c_to_come, true},
    {"Its only store, and no load follows: {} of {} of {}.", c_only_store_of, true},
    {"Its only store, and no load follows.", c_only_store, true},
    {"The last of its {} stores; no load follows.", c_last_store, true},
    {"Store {} of {} of this block.", c_nth_store, true},
    {"Store {}: {}.", c_store, true},
    {"Every row of {} meets every row of {}.", c_every, true},
    {"No row sees a key here: computed in vain.", c_in_vain, true},
    {"No row sees a key here: {} in vain.", c_flops_in_vain, true},
    {"{} for {} scores; the mask hides {} of them.", c_flops_hidden, true},
    {"{} × {} scores from {}; they never leave the chip.", c_scores_on_chip, true},
    {"{} × {} scores from {}.", c_scores, true},
    {"{} for {} × {} pairs; it never leaves the chip.", c_pairs_on_chip, true},
    {"{} for {} × {} pairs.", c_pairs, true},
    {"{} × {} values.", c_values, true},
    {"All {} scores of {} get masked.", c_mask_all, true},
    {"Row {} sees no key here: its {} scores become {}.", c_mask_row, true},
    {"Row {} keeps {} of {} scores.", c_keeps, true},
    {"{} of {} rows see a key.", c_rows_see, true},
    {"{} keys come after it: their scores become {}.", c_after, true},
    {"{} keys lie before its window: their scores become {}.", c_ahead, true},
    {"The pattern hides {} keys: their scores become {}.", c_blocks, true},
    {"A masked score becomes {}.", c_masked, true},
    {"The mask hides {} of {} scores.", c_mask_hides, true},
    {"The maximum is left out: {} is {}.", c_max_left_out, true},
    {"The best score of row {} here is {}.", c_best, true},
    {"Row {} sees no key here: {} stays {}.", c_stays_unseen, true},
    {"First keys row {} sees in part {}: best score {}.", c_first_max_part, true},
    {"First keys row {} sees: best score {}.", c_first_max, true},
    {"{} = {}, until a larger score comes.", c_until_larger, true},
    {"max({} {}, best score {}) = {}.", c_max_tile, true},
    {"Row {} has a larger maximum: {}, not {}.", c_larger, true},
    {"Row {} has no larger score here: its maximum stays.", c_not_larger, true},
    {"A maximum for each of {} rows.", c_rows, true},
    {"{} was divided before; row {}: times {}.", c_was_divided, true},
    {"Row {} has seen no key of part {} yet: nothing to scale.", c_no_key_yet_part, true},
    {"Row {} has seen no key yet: nothing to scale.", c_no_key_yet, true},
    {"Row {}: times 1, nothing changes.", c_times_1, true},
    {"Row {}: times {}; {} goes from {} to {}.", c_times_from_to, true},
    {"Row {}: times {}.", c_times, true},
    {"A factor for each of {} rows.", c_rows, true},
    {"{} of {} exponentials of row {} overflow {}.", c_overflow, true},
    {"Row {} sees no key here; tile {} of {}.", c_unseen_tile, true},
    {"Row {} has seen all {} keys of part {}: {} = {}.", c_all_part, true},
    {"Row {} has seen all its {} keys: {} = {}.", c_all, true},
    {"First keys of row {} in part {}: {} = {}.", c_first_part, true},
    {"First keys of row {}: {} = {}; {} keys to come.", c_first, true},
    {"Row {}: {} goes from {} to {}; {} keys to come.", c_from_to, true},
    {"Tile {} of {} is added to {}.", c_tile_added, true},
    {"Addition {} of {} to {}.", c_added, true},
    {"Row {} of {} is not a number; {} = {}.", c_not_a_number, true},
    {"Row {} sees no key: its {} is 0.", c_empty_row, true},
    {"Row {}: {} = {}; {} of {} tiles are added.", c_divide_for_now, true},
    {"{} of {} tiles are added.", c_are_added, true},
    {"Row {}: {} = {}; all {} additions to {} are done.", c_divide_done, true},
    {"All {} additions to {} are done.", c_done, true},
    {"Row {}: {} = {}.", c_value, true},
    {"Row {} sees no key here.", c_unseen, true},
    {"Row {} sees {} of {} keys here.", c_sees, true},
    {"Row {} keeps the larger.", c_row, true},
    {"Skip {} of {}, row block {}, part {}: no row sees these keys.", c_skip_part, true},
    {"Skip {} of {}, row block {}: no row sees these keys.", c_skip_row, true},
    {"Skip {} of {}, column block {}: no row sees these keys.", c_skip_column, true},
    {"So far {} were not loaded, {} not stored.", c_spared_both, true},
    {"So far {} were not loaded.", c_spared, true},
    {"max({} {}, {} {}) = {}.", c_max_value, true},
    {"It takes {}.", c_flops, true},
};
enum { N_CLAIMS = sizeof CLAIMS / sizeof *CLAIMS };

int claims_count(void) { return N_CLAIMS; }
const char *claim_pattern(int claim) { return CLAIMS[claim].pattern; }

/* {} takes as little as it can. */
static bool match(const char *pattern, const char *text, char v[VALUES][VALUE_BYTES], int n) {
  while (*pattern && strncmp(pattern, "{}", 2) != 0)
    if (*pattern++ != *text++) return false;
  if (!*pattern) return !*text;
  pattern += 2;
  for (size_t length = 1; length < VALUE_BYTES && length <= strlen(text); length++) {
    snprintf(v[n], VALUE_BYTES, "%.*s", (int)length, text);
    if (match(pattern, text + length, v, n + 1)) return true;
  }
  return false;
}

int claim_of(const char *text) {
  char v[VALUES][VALUE_BYTES];
  for (int k = 0; k < N_CLAIMS; k++)
    if (match(CLAIMS[k].pattern, text, v, 0)) return k;
  return -1;
}

/* A line of the program, or a statement of it: the same without subscripts here and indices there, and each name with
 * the indices of its blocks. */
static void plain(const char *from, bool is_program, char *to) {
  static const struct {
    const char *written, *printed;
  } SIGNS[] = {{"sqrt(d)", "√d"}, {"^T", "ᵀ"},    {" - ", " − "}, {"-inf", "−∞"},
               {"inf", "∞"},      {" x ", " × "}, {"'", "′"}};
  while (*from) {
    bool replaced = false;
    for (size_t k = 0; is_program && k < sizeof SIGNS / sizeof *SIGNS && !replaced; k++) {
      if (strncmp(from, SIGNS[k].written, strlen(SIGNS[k].written)) != 0) continue;
      to += sprintf(to, "%s", SIGNS[k].printed);
      from += strlen(SIGNS[k].written);
      replaced = true;
    }
    if (replaced) continue;
    if (is_program && *from == '_' && from[1] && strchr("ijsh", from[1])) {
      from++;
      while (*from && strchr("ijsh", *from)) from++;
    } else if (!is_program && *from == '[') {
      from += strcspn(from, "]") + 1;
    } else {
      *to++ = *from++;
    }
  }
  *to = '\0';
}
static bool is_line(const Said *s, const char *text) {
  char mine[256], said[256], line[256], bare[256];
  const size_t n = strlen(text);
  if (n < 2 || n >= sizeof mine || text[n - 1] != '.') return false;
  sprintf(mine, "%.*s", (int)n - 1, text);
  for (const char *open = mine; (open = strchr(open, '[')); open++) { /* "O[2,1]" is a name's block here */
    const char *start = open;
    while (start > mine && !strchr(" ,;(-", start[-1])) start--;
    char label[64];
    snprintf(label, sizeof label, "%.*s]", (int)(strchr(open, ']') - start), start);
    if (name_of(s, label) < 0) return false;
  }
  plain(mine, false, said);
  plain(line_text(s->r, s->e->line, line), true, bare);
  const char *at = strstr(bare, said);
  return at && (at == bare || at[-1] == ' ') &&
         (!at[strlen(said)] || at[strlen(said)] == ';' || at[strlen(said)] == ' ');
}

bool claim_holds(const ClaimRun *r, uint64_t step, const char *text, char *why) {
  Said s = {.r = r, .e = step ? &r->events[step - 1] : NULL, .step = step};
  for (int k = 0; k < N_CLAIMS; k++) {
    if (!match(CLAIMS[k].pattern, text, s.v, 0)) continue;
    const bool holds = (s.e || !CLAIMS[k].needs_event) && CLAIMS[k].holds(&s);
    snprintf(why, CLAIM_WHY_BYTES, "%s '%s'", holds ? "true:" : "false:", CLAIMS[k].pattern);
    return holds;
  }
  const bool holds = s.e && is_line(&s, text);
  snprintf(why, CLAIM_WHY_BYTES, holds ? "a line" : "no claim, and no line of the program");
  return holds;
}
