/* The table, the JSON and the CSV of `tilewalk serve`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/cli/kvcache/kvcache_sizes.h"
#include "viz/cli/serve/serve_figures.h"
#include "viz/text/number.h"

static const char *unit_of(FigureForm form) {
  static const char *const UNITS[] = {
      [FIGURE_BYTES] = "B",       [FIGURE_SECONDS] = "s", [FIGURE_FLOPS] = "FLOP", [FIGURE_COUNT] = "",
      [FIGURE_RATE] = "tokens/s", [FIGURE_RATIO] = "",    [FIGURE_WORD] = ""};
  return UNITS[form];
}

static const char *title_of(const char *section) {
  if (strcmp(section, "memory") == 0) return "Memory of each GPU";
  return strcmp(section, "prompt") == 0 ? "A prompt: time to first token" : "A step of decode: time a token";
}

static void put_value(Table *t, const Figure *f) {
  const TextRole role = strcmp(f->key, "time_s") == 0 ? ROLE_ACCENT : ROLE_PLAIN;
  switch (f->form) {
  case FIGURE_BYTES: table_bytes(t, role, (Wide)f->value); return;
  case FIGURE_SECONDS: table_seconds(t, role, f->value); return;
  case FIGURE_FLOPS: table_flops(t, role, (Wide)f->value); return;
  case FIGURE_COUNT: table_count(t, role, (Wide)f->value); return;
  case FIGURE_RATE: table_double(t, role, f->value, 4); return;
  case FIGURE_RATIO: table_ratio(t, role, f->value); return;
  case FIGURE_WORD: table_text(t, role, f->word); return;
  }
}

static void table_of(Table *t, const ServeRequest *r, const Figures *f) {
  const Lengths *all = r->lengths;
  table_title(t, "%s on %lld x %s: %s sequence%s of %s%s%s tokens", r->model.product, (long long)r->serving.n_gpus,
              r->gpu.name, number_count(wide(all->n)).text, all->n == 1 ? "" : "s",
              number_count(wide(all->lengths[0])).text, all->lengths[0] == all->lengths[all->n - 1] ? "" : " to ",
              all->lengths[0] == all->lengths[all->n - 1] ? "" : number_count(wide(all->lengths[all->n - 1])).text);
  for (int k = 0; k < f->n; k++) {
    const Figure *one = &f->list[k];
    if (k == 0 || strcmp(one->section, f->list[k - 1].section) != 0) table_group(t, "%s", title_of(one->section));
    table_text(t, ROLE_PLAIN, one->label);
    put_value(t, one);
    table_text(t, ROLE_DIM, one->kind);
    table_text(t, ROLE_DIM, one->from);
  }
  if (!serve_figure(f, "token.time_s"))
    table_note(t, "No times: weights and caches do not fit these GPUs.");
  else
    table_note(t,
               "%s Matrices, attention and all-reduces come one after the other; what is left out (norms, "
               "activations, launches) makes real runs slower.",
               r->model.experts ? "Assumed: tokens choose experts at random; the fewer they choose, the faster a run."
                                : "A bound: no run is faster.");
  if (all->lengths[all->n - 1] > r->model.max_tokens)
    table_note(t, KVCACHE_BEYOND(&r->model), number_count(wide(r->model.max_tokens)).text);
  if (*r->model.limits) table_note(t, "Note: %s.", r->model.limits);
}

static void put_figure(Document *d, const Figure *f) {
  put_object(d, f->key);
  if (f->form == FIGURE_WORD)
    put_text(d, "value", f->word);
  else if ((f->form == FIGURE_BYTES || f->form == FIGURE_COUNT) && f->value == floor(f->value))
    put_whole(d, "value", (Wide)f->value);
  else
    put_real(d, "value", f->value);
  put_text(d, "unit", unit_of(f->form));
  put_text(d, "kind", f->kind);
  put_text(d, "from", f->from);
  put_end(d);
}

static void put_figures(Document *d, const ServeRequest *r, const Figures *f) {
  put_text(d, "model", r->model.name);
  put_text(d, "gpu", r->gpu.name);
  put_count(d, "gpus", r->serving.n_gpus);
  put_count(d, "sequences", r->lengths->n);
  put_whole(d, "tokens", lengths_sum(r->lengths));
  for (int n = 0; n < f->n; n++) {
    const char *const section = f->list[n].section;
    if (n == 0 || strcmp(section, f->list[n - 1].section) != 0) put_object(d, section);
    put_figure(d, &f->list[n]);
    if (n + 1 == f->n || strcmp(section, f->list[n + 1].section) != 0) put_end(d);
  }
}

static void add_lines(Document *d, const Figures *f) {
  static const TableColumn COLUMNS[] = {{.csv = "section"}, {.csv = "figure"}, {.csv = "value"},
                                        {.csv = "unit"},    {.csv = "kind"},   {.csv = "from"}};
  Table *t = document_table(d, DOCUMENT_CSV, NULL, COLUMNS, 6);
  for (int k = 0; k < f->n; k++) {
    const Figure *one = &f->list[k];
    table_text(t, ROLE_PLAIN, one->section);
    table_text(t, ROLE_PLAIN, one->key);
    table_text(t, ROLE_PLAIN, one->form == FIGURE_WORD ? one->word : number_exact_double(one->value).text);
    table_text(t, ROLE_PLAIN, unit_of(one->form));
    table_text(t, ROLE_PLAIN, one->kind);
    table_text(t, ROLE_PLAIN, one->from);
  }
}

void serve_fill(Document *d, const ServeRequest *r, const Figures *f) {
  static const TableColumn COLUMNS[] = {{.heading = ""},
                                        {.heading = "value", .right = true},
                                        {.heading = "kind"},
                                        {.heading = "from", .shrink = TABLE_WRAP}};
  put_figures(d, r, f);
  table_of(document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, 4), r, f);
  add_lines(d, f);
}
