/* tilewalk list: what there is by name. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/schedule.h"
#include "viz/cli/command.h"
#include "viz/cli/reply.h"
#include "viz/request/description.h"
#include "viz/request/request.h"

typedef struct {
  OutputRequest output;
  int kind; /* of KINDS; n: all of them */
} ListOptions;

static const char *const KINDS[] = {"algorithms", "gpus", "kernels", "links", "models", NULL};
static const char *const TAKEN_BY[] = {"--algorithm", "--gpu", "--kernel", "--link", "--model"};
enum { N_KINDS = 5 };

static Status set_kind(void *target, const char *value, Error *error) {
  return options_name(KINDS, "is nothing that is listed", value, &((ListOptions *)target)->kind, error);
}

static void defaults(void *target) { ((ListOptions *)target)->kind = N_KINDS; }

/* The names of a kind: how many, and the k-th. */
static Status names_of(int kind, DescriptionNames *names, Error *error) {
  if (kind) return description_names(KINDS[kind], names, error);
  for (names->n = 0; names->n < N_PROGRAMS; names->n++)
    snprintf(names->names[names->n], sizeof names->names[0], "%s", SCHEDULES[names->n]->name);
  return STATUS_OK;
}

static void add_kind(Document *d, Table *t, int kind, const DescriptionNames *names) {
  table_text(t, ROLE_ACCENT, KINDS[kind]);
  table_count(t, ROLE_PLAIN, wide(names->n));
  table_text(t, ROLE_PLAIN, TAKEN_BY[kind]);
  put_row(d, t);
  put_array(d, "names");
  for (int k = 0; k < names->n; k++) put_text(d, NULL, names->names[k]);
  put_end(d);
  put_end(d);
}

static int run_list(void *options, Io *io, Error *error) {
  static const TableColumn COLUMNS[] = {{.heading = "list", .key = "kind"},
                                        {.heading = "names", .key = "count", .right = true},
                                        {.heading = "taken by", .key = "option"}};
  const ListOptions *o = options;
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  DescriptionNames *names = malloc(sizeof *names);
  Document d = reply_new(&o->output);
  Status status = names ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for names");
  Table *t = document_table(&d, o->kind < N_KINDS ? DOCUMENT_JSON | DOCUMENT_CSV : DOCUMENT_ALL, "kinds", COLUMNS, 3);
  for (int k = 0; k < N_KINDS && !status; k++) {
    if (o->kind < N_KINDS && k != o->kind) continue;
    status = names_of(k, names, error);
    if (!status) add_kind(&d, t, k, names);
    for (int n = 0; !status && o->kind < N_KINDS && n < names->n; n++)
      document_line(&d, ROLE_PLAIN, "%s", names->names[n]);
  }
  table_note(t, "tilewalk list gpus: what is known of each; list gpus h200: every number of one, with its source.");
  status = reply_print(&d, status, io, error);
  free(names);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

const Command COMMAND_LIST = {
    .name = "list",
    .group = "learn",
    .summary = "GPUs, kernels, algorithms, models, links; one in full",
    .usage = "[gpus|kernels|algorithms|models|links] [NAME|FILE...] [OPTION...]",
    .description = "What has a name here, and which option takes it. 'list gpus', 'list kernels' and 'list algorithms' "
                   "have options of their own: 'tilewalk list gpus --help'.",
    .examples = "  # every number of one GPU, with its source\n"
                "  tilewalk list gpus h200\n\n"
                "  # the program of FlashAttention-2, to copy and change\n"
                "  tilewalk list algorithms fa2\n\n"
                "  # the models whose shapes --model takes\n"
                "  tilewalk list models\n",
    .options_bytes = sizeof(ListOptions),
    .sets = (const OptionSet[]){{"Output", OUTPUT_FORMAT_OPTIONS, offsetof(ListOptions, output)}, {0}},
    .defaults = defaults,
    .choices = "algorithms gpus kernels links models",
    .set_positional = set_kind,
    .run = run_list,
};
