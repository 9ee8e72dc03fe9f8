/* tilewalk list kernels: the described kernels, their tiles, and how to describe one's own. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "viz/cli/reply.h"
#include "viz/cli/command.h"
#include "viz/request/description.h"
#include "viz/request/request.h"
#include "viz/text/number.h"
#include "viz/text/print.h"

enum { KERNELS_MAX = 64 };

typedef struct {
  OutputRequest output;
  bool format;
  int n_names;
  char names[KERNELS_MAX][REQUEST_NAME_BYTES];
} KernelsOptions;

static Status add_name(void *target, const char *value, Error *error) {
  KernelsOptions *o = target;
  if (o->n_names == KERNELS_MAX) return error_set(error, STATUS_BAD_REQUEST, "more than %d kernels", KERNELS_MAX);
  if (!*value || strlen(value) >= REQUEST_NAME_BYTES)
    return error_set(error, STATUS_BAD_REQUEST, "the name of the kernel is %s", *value ? "too long" : "empty");
  strcpy(o->names[o->n_names++], value);
  return STATUS_OK;
}

/* --- what a file may hold --- */

static const char FORMAT_HEAD[] =
    "A kernel is one line, and what else matters; numbers of your own need no source:\n"
    "\n"
    "  tile        = 128 x 64           rows of Q (B_r) and of K and V (B_c) in a tile\n"
    "  threads     = 128                of a CTA\n"
    "  registers   = 255                of a thread\n"
    "  shared      = 64 KiB             of a CTA, with a unit\n"
    "  ctas_per_sm = 2                  where the kernel limits them itself\n"
    "  walk        = reversed           over K and V: forward or reversed\n"
    "  order       = query-batch-head   which index runs fastest as CTAs are numbered\n"
    "  rows        = longest-first      row blocks: ascending, descending or longest-first\n"
    "\n"
    "Use it with --kernel FILE; or give --kernel a CSV of ncu's, whose launch says the same. All keys:\n";

static void add_format(Document *d) {
  static const TableColumn COLUMNS[] = {{.heading = "key"}, {.heading = "what it is", .shrink = TABLE_WRAP}};
  int n_fields;
  const KeyfileField *fields = profile_fields(&n_fields);
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, 2);
  for (int f = 0; f < n_fields; f++) {
    if (strncmp(fields[f].name, "d", 1) == 0 && strncmp(fields[f].name, "d64_", 4) != 0) continue;
    if (strstr(fields[f].name, "causal_")) continue;
    table_text(t, ROLE_ACCENT, fields[f].name);
    table_text(t, ROLE_PLAIN, fields[f].help);
  }
  table_note(t, "d64_ stands for d96_, d128_, d192_ and d256_ too, and d64_causal_ for what a causal mask changes.");
}

/* --- lists --- */

static void cell_count(Table *t, int64_t count) {
  if (count)
    table_count(t, ROLE_PLAIN, wide(count));
  else
    table_empty(t, true);
}

/* The d's whose tiles differ from those of the next larger one; a short description has one for all. */
static bool is_own(const Profile *p, int d, int causal) {
  const ProfileTile *t = &p->tiles[d][causal];
  if (!t->block_q) return false;
  if (*p->tile_text && t->block_q == p->every.block_q && t->block_k == p->every.block_k) return d == 0 && !causal;
  const ProfileTile *plain = &p->tiles[d][0];
  return !causal || t->block_q != plain->block_q || t->block_k != plain->block_k || t->threads != plain->threads ||
         t->registers_per_thread != plain->registers_per_thread || t->shared_bytes != plain->shared_bytes;
}

static void add_list(Document *d, const Profile *kernels, int n) {
  static const TableColumn COLUMNS[] = {{.heading = "kernel"},
                                        {.heading = "d", .right = true},
                                        {.heading = "mask"},
                                        {.heading = "tile"},
                                        {.heading = "threads", .right = true},
                                        {.heading = "regs", .csv = "registers", .right = true},
                                        {.heading = "shared", .csv = "shared_bytes", .right = true},
                                        {.heading = "walk"}};
  Table *t = document_table(d, DOCUMENT_TABLES, NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  table_title(t, "Described kernels; --kernel takes the name, or a file");
  for (int k = 0; k < n; k++)
    for (int tile = 0; tile < PROFILE_TILES; tile++)
      for (int causal = 0; causal < 2; causal++) {
        const Profile *p = &kernels[k];
        const ProfileTile *of = &p->tiles[tile][causal];
        if (!is_own(p, tile, causal)) continue;
        table_text(t, ROLE_ACCENT, p->name);
        if (*p->tile_text && tile == 0)
          table_text(t, ROLE_PLAIN, "any");
        else
          table_count(t, ROLE_PLAIN, wide(tile == PROFILE_MLA ? 192 : PROFILE_D[tile]));
        table_text(t, ROLE_PLAIN, tile == PROFILE_MLA ? "V 128" : causal ? "causal" : "");
        table_format(t, ROLE_PLAIN, "%" PRId64 " x %" PRId64, of->block_q, of->block_k);
        cell_count(t, of->threads);
        cell_count(t, of->registers_per_thread);
        if (of->shared_bytes)
          table_bytes(t, ROLE_PLAIN, wide(of->shared_bytes));
        else
          table_empty(t, true);
        table_text(t, ROLE_PLAIN, launch_walk_name(p->walk));
      }
  table_note(t,
             "A causal line stands only where the mask changes something. 'tilewalk list kernels --format' says how to "
             "describe your own in a few lines; 'tilewalk list kernels NAME' shows one with its sources.");
}

static void field_words(const Profile *p, const KeyfileField *field, char *to, size_t size) {
  const char *at = (const char *)p + field->offset;
  int64_t whole;
  if (field->kind == KEYFILE_TEXT) {
    snprintf(to, size, "%s", at);
    return;
  }
  memcpy(&whole, at, sizeof whole);
  snprintf(to, size, "%s",
           field->kind == KEYFILE_BYTES ? number_bytes(wide(whole)).text : number_count(wide(whole)).text);
}

static void add_one(Document *d, const Profile *p) {
  static const TableColumn COLUMNS[] = {
      {.heading = "key"}, {.heading = "value", .shrink = TABLE_WRAP}, {.heading = "source", .shrink = TABLE_WRAP}};
  int n_fields;
  const KeyfileField *fields = profile_fields(&n_fields);
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, 3);
  table_title(t, "%s", p->product);
  for (int f = 0; f < n_fields; f++) {
    char value[KEYFILE_TEXT_BYTES];
    if (!p->notes[f].line) continue;
    field_words(p, &fields[f], value, sizeof value);
    table_text(t, ROLE_ACCENT, fields[f].name);
    table_text(t, ROLE_PLAIN, value);
    table_text(t, p->notes[f].assumed ? ROLE_WARN : ROLE_PLAIN,
               fields[f].kind == KEYFILE_TEXT || p->notes[f].source[0] ? p->notes[f].source : "not said");
  }
  if (*p->note) table_note(t, "Note: %s.", p->note);
}

static void put_tile(Document *d, const Profile *p, int tile, int causal) {
  const ProfileTile *t = &p->tiles[tile][causal];
  put_object(d, NULL);
  put_count(d, "head_dim", tile == PROFILE_MLA ? 192 : PROFILE_D[tile]);
  put_count(d, "head_dim_v", tile == PROFILE_MLA ? 128 : PROFILE_D[tile]);
  put_flag(d, "causal", causal);
  put_count(d, "block_q", t->block_q);
  put_count(d, "block_k", t->block_k);
  put_count(d, "threads", t->threads);
  put_count(d, "registers", t->registers_per_thread);
  put_count(d, "shared_bytes", t->shared_bytes);
  put_count(d, "ctas_per_sm", t->ctas_per_sm);
  put_end(d);
}

static void put_kernel(Document *d, const Profile *p) {
  put_object(d, NULL);
  put_text(d, "name", p->name);
  put_text(d, "product", p->product);
  put_text(d, "algorithm", p->schedule->name);
  put_text(d, "order", launch_order_name(p->order));
  put_text(d, "rows", launch_rows_name(p->rows));
  put_text(d, "walk", launch_walk_name(p->walk));
  put_text(d, "persistent", p->persistent ? "yes" : "no");
  put_array(d, "tiles");
  for (int tile = 0; tile < PROFILE_TILES; tile++)
    for (int causal = 0; causal < 2; causal++)
      if (p->tiles[tile][causal].block_q) put_tile(d, p, tile, causal);
  put_end(d);
  put_end(d);
}

/* --- the command --- */

static Status load(const KernelsOptions *o, Profile *kernels, int *n, Error *error) {
  Status status = STATUS_OK;
  if (o->n_names) {
    for (*n = 0; *n < o->n_names && status == STATUS_OK; ++*n)
      status = description_kernel(o->names[*n], &kernels[*n], error);
    return status;
  }
  DescriptionNames *known = malloc(sizeof *known);
  if (!known) return error_set(error, STATUS_NO_MEMORY, "no memory for the list of kernels");
  status = description_names("kernels", known, error);
  for (*n = 0; status == STATUS_OK && *n < known->n && *n < KERNELS_MAX; ++*n)
    status = description_kernel(known->names[*n], &kernels[*n], error);
  free(known);
  return status;
}

static void fill(Document *d, const KernelsOptions *o, const Profile *kernels, int n) {
  if (o->format) {
    add_format(d);
    return;
  }
  put_array(d, "kernels");
  for (int k = 0; k < n; k++) put_kernel(d, &kernels[k]);
  put_end(d);
  if (d->form == DOCUMENT_CSV || !o->n_names) {
    add_list(d, kernels, n);
    return;
  }
  for (int k = 0; k < n; k++) {
    if (k) document_gap(d);
    add_one(d, &kernels[k]);
  }
}

static int run_kernels(void *options, Io *io, Error *error) {
  const KernelsOptions *o = options;
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  Profile *kernels = calloc(KERNELS_MAX, sizeof *kernels);
  int n = 0;
  Status status = kernels ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for kernels");
  if (!status && !o->format) status = load(o, kernels, &n, error);
  Document d = o->format ? document_new(DOCUMENT_TEXT) : reply_new(&o->output);
  if (!status) fill(&d, o, kernels, n);
  if (!status && o->format) text_put(io->out, FORMAT_HEAD);
  status = reply_print(&d, status, io, error);
  free(kernels);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const Option KERNELS_OPTIONS[] = {
    {.name = "format",
     OPTION_FLAG(KernelsOptions, format),
     .help = "How to describe a kernel of your own, in three lines or with every key."},
    {0},
};

static const OptionSet SETS[] = {
    {"Kernels", KERNELS_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(KernelsOptions, output)},
    {0},
};

const Command COMMAND_KERNELS = {
    .name = "list kernels",
    .old = "kernels",
    .summary = "the described kernels, and how to describe your own",
    .usage = "[NAME|FILE...] [--format] [OPTION...]",
    .description =
        "Without a name, lists the kernels that --kernel knows, with the tile, threads and memory of each head "
        "dimension. With names, description files or a CSV of ncu's, shows every number with its source. A "
        "file of your own is checked on the way; one line, tile = 128 x 64, is enough.",
    .examples = "  # the kernels that --kernel takes\n"
                "  tilewalk list kernels\n\n"
                "  # every number of one of them, with its source\n"
                "  tilewalk list kernels fa2-sm90\n\n"
                "  # the format, with all keys\n"
                "  tilewalk list kernels --format\n\n"
                "  # your own in one line, and what it moves\n"
                "  printf 'tile = 128 x 64\\n' | tilewalk list kernels -\n",
    .options_bytes = sizeof(KernelsOptions),
    .sets = SETS,
    .choices = "@kernels",
    .set_positional = add_name,
    .run = run_kernels,
};
