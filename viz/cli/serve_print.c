/* The table, the JSON and the CSV of `tilewalk serve`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/cli/json_sink.h"
#include "viz/cli/serve_figures.h"
#include "viz/text/number.h"
#include "viz/text/table.h"

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
  table_note(t, "A bound: no run is faster. Matrices, attention and all-reduces come one after the other; what is "
                "left out (norms, activations, launches) makes real runs slower.");
  if (*r->model.limits) table_note(t, "Note: %s.", r->model.limits);
}

static Status print_json(const ServeRequest *r, const Figures *f, FILE *out, Error *error) {
  JsonSink json = {0};
  const ReportSink sink = json_sink(&json), *k = &sink;
  k->open_object(k->context, NULL);
  k->whole(k->context, "tilewalk", 1);
  k->text(k->context, "model", r->model.name);
  k->text(k->context, "gpu", r->gpu.name);
  k->whole(k->context, "gpus", wide(r->serving.n_gpus));
  k->whole(k->context, "sequences", wide(r->lengths->n));
  k->whole(k->context, "tokens", lengths_sum(r->lengths));
  for (int n = 0; n < f->n; n++) {
    const Figure *one = &f->list[n];
    if (n == 0 || strcmp(one->section, f->list[n - 1].section) != 0) k->open_object(k->context, one->section);
    k->open_object(k->context, one->key);
    if (one->form == FIGURE_WORD)
      k->text(k->context, "value", one->word);
    else if ((one->form == FIGURE_BYTES || one->form == FIGURE_COUNT) && one->value == floor(one->value))
      k->whole(k->context, "value", (Wide)one->value);
    else
      k->real(k->context, "value", one->value);
    k->text(k->context, "unit", unit_of(one->form));
    k->text(k->context, "kind", one->kind);
    k->text(k->context, "from", one->from);
    k->close(k->context);
    if (n + 1 == f->n || strcmp(one->section, f->list[n + 1].section) != 0) k->close(k->context);
  }
  k->close(k->context);
  return json_print(json_result(&json), out, error);
}

static Status print_csv(const Figures *f, FILE *out, Error *error) {
  Table t = table_new((TableColumn[]){{.heading = "section"},
                                      {.heading = "figure"},
                                      {.heading = "value"},
                                      {.heading = "unit"},
                                      {.heading = "kind"},
                                      {.heading = "from"}},
                      6);
  for (int k = 0; k < f->n; k++) {
    const Figure *one = &f->list[k];
    table_text(&t, ROLE_PLAIN, one->section);
    table_text(&t, ROLE_PLAIN, one->key);
    table_text(&t, ROLE_PLAIN, one->form == FIGURE_WORD ? one->word : number_exact_double(one->value).text);
    table_text(&t, ROLE_PLAIN, unit_of(one->form));
    table_text(&t, ROLE_PLAIN, one->kind);
    table_text(&t, ROLE_PLAIN, one->from);
  }
  const Status status = table_csv(&t, out, error);
  table_free(&t);
  return status;
}

Status serve_print(const ServeRequest *r, const Figures *f, const OutputRequest *output, Io *io, Error *error) {
  if (output->json) return print_json(r, f, io->out, error);
  if (output->csv) return print_csv(f, io->out, error);
  Table t = table_new((TableColumn[]){{.heading = ""},
                                      {.heading = "value", .right = true},
                                      {.heading = "kind"},
                                      {.heading = "from", .shrink = TABLE_WRAP}},
                      4);
  table_of(&t, r, f);
  const Status status = table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}
