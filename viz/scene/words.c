/* Events and snapshots in words: the log, tooltips' lines, `--describe`. */

#include "viz/scene/code_lines.h"
#include "viz/scene/line_words.h"
#include "viz/scene/narration.h"
#include "viz/text/mask_text.h"
#include "viz/text/number.h"

/* "Q[2]", "S[2,3]", "m, l of rows[2]": what lies in a place of SRAM. */
static void put_block(Phrase to, const Snapshot *s, const SnapshotSlot *slot) {
  const ProgramTensor *t = &s->schedule->tensors[slot->tensor];
  phrase_put(to, "%s", t->title);
  if (slot->i >= 0 && slot->j >= 0)
    phrase_put(to, "[%jd,%jd]", slot->i, slot->j);
  else if (slot->i >= 0 || slot->j >= 0)
    phrase_put(to, "%s[%jd]", t->is_stats ? " of rows" : "", slot->i >= 0 ? slot->i : slot->j);
}

const char *snapshot_sentence(const Schedule *schedule, const Event *e, char *text, size_t size) {
  const Phrase to = {text, size};
  if (size == 0) return text;
  text[0] = '\0';
  if (e->kind == EVENT_SKIP)
    phrase_put(to, "skip tile [%jd,%jd]: masked", e->i, e->j);
  else
    line_put(schedule, e, to);
  if (e->bytes) phrase_put(to, ", %s", number_bytes(e->bytes).text);
  return text;
}

static void put_traffic(Phrase to, const Snapshot *s) {
  phrase_put(to, "Moved so far: %s of %s (read %s, written %s)", number_bytes(s->total_bytes).text,
             number_bytes(s->whole_bytes).text, number_bytes(s->read_bytes).text, number_bytes(s->write_bytes).text);
  const char *before = ": ";
  for (int t = 0; t < s->schedule->n_tensors; t++) {
    if (s->traffic.read[t] + s->traffic.write[t] == 0) continue;
    phrase_put(to, "%s%s %s", before, s->schedule->tensors[t].title,
               number_bytes(s->traffic.read[t] + s->traffic.write[t]).text);
    before = ", ";
  }
  phrase_put(to, ".\n");
}

static void put_sram(Phrase to, const Snapshot *s) {
  uint64_t held = 0;
  for (int t = 0; t < s->schedule->n_values; t++) held += s->slots[t].sram_bytes ? s->slots[t].held_bytes : 0;
  phrase_put(to, "In SRAM: ");
  bool any = false;
  for (int t = 0; t < s->schedule->n_values; t++) {
    const SnapshotSlot *slot = &s->slots[t];
    if (!slot->is_filled || !slot->sram_bytes) continue;
    phrase_put(to, "%s", any ? ", " : "");
    put_block(to, s, slot);
    any = true;
  }
  phrase_put(to, "%s%s held, %s set aside of %s%s.\n", any ? "; " : "", number_bytes(held).text,
             number_bytes(s->sram_bytes).text, number_bytes(s->sram_capacity_bytes).text,
             s->fits ? "" : ": it does not fit");
}

/* L2 and registers, of which a step of one head says little. */
static void put_levels(Phrase to, const Snapshot *s) {
  const SnapshotL2 *l2 = &s->l2;
  phrase_put(to, "Registers, where fast kernels keep what is no input, in fp32: %s",
             number_bytes(s->register_bytes).text);
  if (s->register_capacity_bytes) phrase_put(to, " of %s", number_bytes(s->register_capacity_bytes).text);
  phrase_put(to, ".\n");
  if (l2->capacity_bytes == 0) return;
  phrase_put(to, "L2 of %s: all that is moved goes through it. ", number_bytes(l2->capacity_bytes).text);
  if (!l2->is_known) {
    phrase_put(to, "What it keeps from HBM is %s.\n",
               l2->is_awaited ? "being worked out" : "not known for this launch");
    return;
  }
  phrase_put(to, "The whole launch asks it for %s, reads %s from HBM and writes %s; %s hits.\n",
             number_bytes(l2->asked_read_bytes + l2->asked_write_bytes).text, number_bytes(l2->hbm_read_bytes).text,
             number_bytes(l2->hbm_write_bytes).text, number_percent(l2->hit_rate > 0 ? l2->hit_rate : 0).text);
}

static void put_tiles(Phrase to, const Snapshot *s) {
  const SnapshotGrid *g = &s->grid;
  phrase_put(to, "Score tiles: %jd x %jd of %jd x %jd. So far %s full, %s crossed by the mask, %s skipped", g->T_r,
             g->T_c, g->B_r, g->B_c, number_count(s->traffic.tiles[TILE_FULL]).text,
             number_count(s->traffic.tiles[TILE_PARTIAL]).text, number_count(s->traffic.tiles[TILE_SKIPPED]).text);
  if (s->spared_bytes) phrase_put(to, ", which saved %s", number_bytes(s->spared_bytes).text);
  phrase_put(to, ".\n");
}

/* m, l and the factor of an online softmax; of another program its columns, by name, that a later line reads. */
static void put_statistics(Phrase to, const Snapshot *s) {
  const SnapshotRow *r = &s->row;
  const Schedule *schedule = s->schedule;
  const char *before = " ";
  for (int n = 0; n < schedule->n_names && !s->roles.is_softmax; n++) {
    const ProgramName *name = &schedule->names[n];
    if (name->rows != SIDE_ROWS || name->cols != SIDE_ONE || !(s->live >> n & 1) || isnan(r->values[n].now)) continue;
    phrase_put(to, "%s%.*s %s", before, (int)strcspn(name->text, "_"), name->text,
               number_double(r->values[n].now, 5).text);
    before = ", ";
  }
  if (!s->roles.is_softmax) return;
  phrase_put(to, " m %s, l %s", number_double(r->m, 5).text, number_double(r->l, 5).text);
  if (r->phase >= ROW_RESCALED) phrase_put(to, ", factor %s", number_double(r->factor, 5).text);
}

static void put_row(Phrase to, const Snapshot *s) {
  const SnapshotRow *r = &s->row;
  const size_t start = strlen(to.text);
  if (!r->is_computed || r->row < 0 || r->tile < 0) return;
  phrase_put(to, "Row %jd, tile %jd:", r->row, r->tile);
  const size_t values = strlen(to.text);
  put_statistics(to, s);
  const char *before = strlen(to.text) > values ? ";" : "";
  if (r->n_overflowed > 0) phrase_put(to, "%s %jd exponentials overflow", before, r->n_overflowed);
  before = strlen(to.text) > values ? ";" : "";
  if (r->phase == ROW_FINISHED && !isfinite(r->error_ulps))
    phrase_put(to, "%s O is not a number", before);
  else if (r->phase == ROW_FINISHED) {
    phrase_put(to, "%s O is off the fp64 answer by %s ulps at most, in fp32, before it is stored, by %s", before,
               number_double(r->error_ulps, 2).text, number_double(r->error_fp32_ulps, 2).text);
  }
  if (strlen(to.text) == values) /* nothing to say of it */
    to.text[start] = '\0';
  else
    phrase_put(to, ".\n");
}

const char *snapshot_describe(const Snapshot *s, char *text, size_t size) {
  char sentence[SNAPSHOT_SENTENCE];
  const Phrase to = {text, size};
  if (size == 0) return text;
  text[0] = '\0';
  const Schedule *schedule = s->schedule;
  char mask[MASK_TEXT_BYTES];
  phrase_put(to, "%s, N_q %jd, N_k %jd, d %jd", schedule->title, s->grid.N_q, s->grid.N_k, s->grid.d);
  if (*mask_text(&s->problem.shape, mask, sizeof mask)) phrase_put(to, ", %s", mask);
  phrase_put(to, ": step %s of %s.\n", number_count(s->step).text, number_count(s->n_steps).text);
  if (s->has_event)
    phrase_put(to, "Now: %s.\n", snapshot_sentence(schedule, &s->event, sentence, sizeof sentence));
  else
    phrase_put(to, "Nothing has happened yet.\n");
  Narration said;
  narrate(s, &said);
  phrase_put(to, "%s %s\n", said.what, said.why);
  if (s->has_next) phrase_put(to, "Next: %s.\n", snapshot_sentence(schedule, &s->next, sentence, sizeof sentence));
  if (s->code_line >= 0) phrase_put(to, "Code: %s\n", code_line(schedule, s->code_line).text);
  put_traffic(to, s);
  put_sram(to, s);
  put_levels(to, s);
  put_tiles(to, s);
  put_row(to, s);
  for (int k = 0; k < s->n_runs; k++) {
    const SnapshotRun *r = &s->runs[k];
    if (r->schedule == s->schedule) continue;
    phrase_put(to, "%s in the same bytes: step %s of %s. ", r->schedule->name, number_count(r->step).text,
               number_count(r->n_steps).text);
    const SnapshotRun *own = snapshot_own_run(s);
    phrase_put(to, "It needs %s in all", number_bytes(r->total_bytes).text);
    if (s->race_heads > 1) phrase_put(to, " for %jd heads", s->race_heads);
    if (!r->is_alike) {
      phrase_put(to, "; its outputs are others than those of %s.\n", schedule->name);
      continue;
    }
    phrase_put(to, ", %s of what %s needs.\n", number_ratio_of(r->total_bytes, own->total_bytes).text, schedule->name);
  }
  return text;
}
