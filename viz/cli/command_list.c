/* tilewalk list: what has a name here; of GPUs and kernels each number, and where it comes from. */

#include "sim/base/word_list.h"
#include "viz/cli/command.h"
#include "viz/request/description.h"

enum { THINGS_MAX = 64, N_KINDS = 5 };
typedef enum { LIST_ALGORITHMS, LIST_GPUS, LIST_KERNELS, LIST_LINKS, LIST_MODELS } ListKind;

/* Numbers of a GPU that people ask for come first on its screen, and make up the table of all. */
static const char *const FIRST[] = {"n_sm",          "shared_per_cta", "l2",    "hbm",
                                    "hbm_bandwidth", "fp16_tensor",    "clock", NULL};
enum { N_BESIDE = 6 };

static const char *const KINDS[] = {"algorithms", "gpus", "kernels", "links", "models", NULL};
static const char *const TAKEN_BY[] = {"--algorithm", "--gpu", "--kernel", "--link", "--model"};

typedef struct {
  OutputRequest output;
  int kind; /* N_KINDS: all of them */
  bool format;
  char names[THINGS_MAX][REQUEST_NAME_BYTES];
  int n_names;
  DescriptionNames known;
} ListOptions;

static Status set_kind(void *target, const char *value, Error *error) {
  return options_name(KINDS, "is nothing that is listed", value, &((ListOptions *)target)->kind, error);
}

static Status add_name(void *target, const char *value, Error *error) {
  ListOptions *o = target;
  if (o->n_names == THINGS_MAX) return error_refuse(error, "more than %d names", THINGS_MAX);
  return options_text("the name", value, o->names[o->n_names++], sizeof o->names[0], error);
}

static void all_kinds(void *target) { ((ListOptions *)target)->kind = N_KINDS; }
static void of_gpus(void *target) { ((ListOptions *)target)->kind = LIST_GPUS; }
static void of_kernels(void *target) { ((ListOptions *)target)->kind = LIST_KERNELS; }

/* ---- One thing, field by field ---- */

/* A GPU or a kernel as its description has it. */
typedef struct {
  Gpu gpu;
  Profile kernel;
  const char *record, *name, *product, *note; /* of one of them */
  const KeyfileNote *notes;                   /* of each field */
  const KeyfileField *fields;
  int n_fields;
} Described;

static void describe(Described *t, bool is_gpu) {
  const Gpu *g = &t->gpu;
  const Profile *p = &t->kernel;
  t->record = is_gpu ? (const char *)g : (const char *)p;
  t->name = is_gpu ? g->name : p->name;
  t->product = is_gpu ? g->product : p->product;
  t->note = is_gpu ? "" : p->note;
  t->notes = is_gpu ? g->notes : p->notes;
  t->fields = (is_gpu ? gpu_fields : profile_fields)(&t->n_fields);
}

static bool is_whole(const KeyfileField *f) { return f->kind == KEYFILE_COUNT || f->kind == KEYFILE_BYTES; }

static double value_of(const Described *t, const KeyfileField *f) {
  int64_t whole;
  double real;
  memcpy(&whole, t->record + f->offset, sizeof whole);
  memcpy(&real, t->record + f->offset, sizeof real);
  return is_whole(f) ? (double)whole : real;
}

static bool is_given(const Described *t, int f) { return t->notes[f].line || *t->notes[f].source; }

/* "60 MiB", "4.8 TB/s", "132". Device memory is sold in decimal units; a size that is none is binary. */
static Number shown(const KeyfileField *f, double value) {
  const char *unit = keyfile_base_unit(f->kind);
  const bool is_sold = strcmp(f->name, "hbm") == 0 && (int64_t)value % 1000 == 0;
  switch (f->kind) {
  case KEYFILE_COUNT: return (strcmp(f->name, "year") ? number_count : number_digits)((Wide)value);
  case KEYFILE_BYTES: return (is_sold ? number_bytes_decimal : number_bytes)((Wide)value);
  case KEYFILE_SECONDS: return number_seconds(value);
  case KEYFILE_BYTES_PER_CLOCK:
  case KEYFILE_OPS_PER_CLOCK: return number_text("%s %s", number_exact_double(value).text, unit);
  default: return number_si(value, unit);
  }
}

static void add_field(Document *d, Table *t, const Described *thing, int at) {
  const KeyfileField *f = &thing->fields[at];
  const KeyfileNote *note = &thing->notes[at];
  const char *unit = keyfile_base_unit(f->kind);
  put_cells(t, "ss", thing->name, f->name);
  if (keyfile_is_number(f->kind)) {
    const double value = value_of(thing, f);
    table_pair(t, ROLE_ACCENT, shown(f, value).text,
               (is_whole(f) ? number_digits((Wide)value) : number_exact_double(value)).text);
    put_values(d, "%{", f->name);
    put_json(d, "value", is_whole(f) ? table_json_whole((Wide)value) : json_real(value));
    put_values(d, "unit:s assumed:b source:s}", unit, note->assumed, note->source);
  } else {
    put_cells(t, "s", keyfile_text(f, thing->record));
    put_values(d, "%:s", f->name, keyfile_text(f, thing->record));
  }
  put_cells(t, "ss@s", unit, note->assumed ? "1" : "0", note->assumed ? ROLE_WARN : ROLE_PLAIN, note->source);
}

/* For people a table for each thing, in CSV one of all; in JSON the texts of a GPU, then its numbers. */
static void add_fields(Document *d, const Described *things, int n, bool gpus) {
  char columns[64];
  const bool text = d->form == DOCUMENT_TEXT, json = d->form == DOCUMENT_JSON;
  snprintf(columns, sizeof columns, ";gpu|key|value%c|;unit|;assumed|source%c", gpus ? '>' : '~',
           d->details ? '~' : '!');
  Table *t = NULL;
  for (const Described *thing = things; thing < things + n; thing++) {
    if (t) document_gap(d);
    if (!t || text) t = put_table(d, DOCUMENT_TABLES, NULL, columns);
    table_title(t, "%s: %s", thing->name, thing->product);
    put_values(d, "{");
    for (int k = 0; k < 2 * thing->n_fields; k++) {
      const int f = k % thing->n_fields;
      const KeyfileField *field = &thing->fields[f];
      const bool is_text = !keyfile_is_number(field->kind);
      const bool early = text ? word_list_find(FIRST, field->name) >= 0 : json && is_text;
      if (k == thing->n_fields) put_values(d, "numbers{");
      if (early != (k < thing->n_fields)) continue;
      if (is_text && gpus ? !text && *keyfile_text(field, thing->record) : is_given(thing, f))
        add_field(d, t, thing, f);
    }
    put_values(d, "}}");
    if (*thing->note) table_note(t, "Note: %s.", thing->note);
  }
}

/* ---- GPUs side by side ---- */

/* Oldest first, machines that only exist on paper at the end. */
static int by_age(const void *a, const void *b) {
  const Gpu *x = &((const Described *)a)->gpu, *y = &((const Described *)b)->gpu;
  const int x_real = strcmp(x->vendor, "none") != 0, y_real = strcmp(y->vendor, "none") != 0;
  if (x_real != y_real) return y_real - x_real;
  if (x->year != y->year) return x->year < y->year ? -1 : 1;
  return strcmp(x->name, y->name);
}

static void add_gpus(Document *d, const Described *things, int n) {
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "name|SMs>|SRAM a CTA>|L2>|HBM>|bandwidth>|fp16 dense>");
  int n_numbers = 0, n_assumed = 0;
  table_title(t, "%d GPUs that --gpu takes, the newest first", n);
  for (int pass = 0, k = n - 1; pass < 2; pass += k == 0, k = k ? k - 1 : n - 1) {
    const Described *thing = &things[k];
    if ((strcmp(thing->gpu.vendor, "none") == 0) != pass) continue;
    put_cells(t, "*s", thing->name);
    for (int f = 0; f < N_BESIDE * thing->n_fields; f++) {
      const KeyfileField *field = &thing->fields[f % thing->n_fields];
      const double value = strcmp(FIRST[f / thing->n_fields], field->name) ? -1 : value_of(thing, field);
      if (value >= 0) put_cells(t, "?s", value > 0 ? shown(field, value).text : NULL);
    }
    for (int f = 0; f < thing->n_fields; f++) {
      const bool counts = keyfile_is_number(thing->fields[f].kind) && is_given(thing, f);
      n_numbers += counts;
      n_assumed += counts && thing->notes[f].assumed;
    }
  }
  table_note(t, "%d numbers, each with its source; %d are assumed. Next: tilewalk list gpus h200.", n_numbers,
             n_assumed);
}

/* ---- Kernels ---- */

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
    "Use it with --kernel FILE; or give --kernel a CSV of ncu's, whose launch says the same.";

static void add_format(Document *d) {
  int n_fields;
  const KeyfileField *fields = profile_fields(&n_fields);
  document_line(d, ROLE_PLAIN, "%s", FORMAT_HEAD);
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "key|meaning~");
  for (int f = 0; f < n_fields; f++) {
    if (strncmp(fields[f].name, "d", 1) == 0 && strncmp(fields[f].name, "d64_", 4) != 0) continue;
    if (strstr(fields[f].name, "causal_")) continue;
    put_cells(t, "*ss", fields[f].name, fields[f].help);
  }
  table_note(t, "d64_ stands for d96_, d128_, d192_ and d256_ too, and d64_causal_ for what a causal mask changes.");
}

/* The d's whose tiles differ from those of the next larger one; a short description has one for all. */
static bool is_own(const Profile *p, int d, int causal) {
  const ProfileTile *t = &p->tiles[d][causal], *plain = &p->tiles[d][0];
  if (!t->block_q) return false;
  if (*p->tile_text && t->block_q == p->every.block_q && t->block_k == p->every.block_k) return d == 0 && !causal;
  return !causal || t->block_q != plain->block_q || t->block_k != plain->block_k || t->threads != plain->threads ||
         t->registers_per_thread != plain->registers_per_thread || t->shared_bytes != plain->shared_bytes;
}

/* A line a tile; a screen of many kernels has those of d = 128, or of any d. */
static void add_kernels(Document *d, const Described *things, int n) {
  const bool all = d->details || d->form == DOCUMENT_CSV || n == 1;
  Table *t =
      put_table(d, DOCUMENT_TABLES, NULL, "kernel|d>|mask|tile|threads>|regs>;registers|shared>;shared_bytes|walk");
  if (n > 1) table_title(t, "%d kernels that --kernel takes", n);
  for (int k = 0; k < n; k++)
    for (int tile = 0; tile < PROFILE_TILES; tile++)
      for (int causal = 0; causal < 2; causal++) {
        const Profile *p = &things[k].kernel;
        const ProfileTile *of = &p->tiles[tile][causal];
        const bool is_any = *p->tile_text && tile == 0, is_mla = tile == PROFILE_MLA;
        if (!is_own(p, tile, causal)) continue;
        if (!all && (causal || is_mla || (!is_any && PROFILE_D[tile] != 128))) continue;
        put_cells(t, "*s", p->name);
        if (is_any)
          put_cells(t, "s", "any");
        else
          put_cells(t, "i", (int64_t)(is_mla ? 192 : PROFILE_D[tile]));
        put_cells(t, "s", is_mla ? "V 128" : causal ? "causal" : "");
        table_format(t, ROLE_PLAIN, "%jd x %jd", of->block_q, of->block_k);
        put_cells(t, "?i?i?Is", of->threads, of->registers_per_thread, of->shared_bytes, LAUNCH_WALK_NAMES[p->walk]);
      }
  if (n > 1) table_note(t, "Next: tilewalk list kernels fa2-sm90; --format says how to describe yours.");
}

static void put_kernel(Document *d, const Profile *p) {
  put_values(d, "{name:s product:s algorithm:s order:s rows:s walk:s persistent:s tiles[", p->name, p->product,
             p->schedule->name, LAUNCH_ORDER_NAMES[p->order], LAUNCH_ROWS_NAMES[p->rows], LAUNCH_WALK_NAMES[p->walk],
             p->persistent ? "yes" : "no");
  for (int k = 0; k < 2 * PROFILE_TILES; k++) {
    const ProfileTile *t = &p->tiles[k / 2][k % 2];
    const bool is_mla = k / 2 == PROFILE_MLA;
    if (!t->block_q) continue;
    put_values(d, "{head_dim:n head_dim_v:n causal:b block_q:i block_k:i", is_mla ? 192 : (int)PROFILE_D[k / 2],
               is_mla ? 128 : (int)PROFILE_D[k / 2], k % 2, t->block_q, t->block_k);
    put_values(d, "threads:i registers:i shared_bytes:i ctas_per_sm:i}", t->threads, t->registers_per_thread,
               t->shared_bytes, t->ctas_per_sm);
  }
  put_values(d, "]}");
}

/* ---- The command ---- */

/* Those that are named, or all. */
static Status load(ListOptions *o, Described *things, int *n, Error *error) {
  const bool gpus = o->kind == LIST_GPUS;
  Status status = o->n_names ? STATUS_OK : description_names(KINDS[o->kind], &o->known, error);
  const int all = o->n_names ? o->n_names : o->known.n;
  for (; *n < all && *n < THINGS_MAX && !status; ++*n) {
    const char *name = o->n_names ? o->names[*n] : o->known.names[*n];
    status = gpus ? description_gpu(name, &things[*n].gpu, error) : description_kernel(name, &things[*n].kernel, error);
  }
  if (gpus && !o->n_names) qsort(things, (size_t)*n, sizeof *things, by_age);
  for (int k = 0; k < *n; k++) describe(&things[k], gpus);
  return status;
}

static void add_things(Document *d, const ListOptions *o, const Described *things, int n) {
  const bool csv = d->form == DOCUMENT_CSV, json = d->form == DOCUMENT_JSON, named = o->n_names > 0,
             gpus = o->kind == LIST_GPUS;
  put_values(d, "%[", KINDS[o->kind]);
  if (gpus && !named && !csv) add_gpus(d, things, n);
  if (!gpus && !json) add_kernels(d, things, n);
  for (int k = 0; k < n && !gpus; k++) put_kernel(d, &things[k].kernel);
  if (gpus ? csv || json || named : named && d->form == DOCUMENT_TEXT) add_fields(d, things, n, gpus);
  put_end(d);
}

/* The names of one kind, or how many each has. */
static Status add_names(Document *d, const ListOptions *o, DescriptionNames *names, Error *error) {
  const bool one = o->kind < N_KINDS;
  Table *t = put_table(d, one ? DOCUMENT_JSON | DOCUMENT_CSV : DOCUMENT_ALL, "kinds",
                       "list=kind|names>=count|taken by=option");
  for (int k = one ? o->kind : 0; k < (one ? o->kind + 1 : N_KINDS); k++) {
    const bool shipped = k == LIST_ALGORITHMS;
    names->n = N_PROGRAMS;
    if (!shipped && description_names(KINDS[k], names, error)) return error->status;
    put_cells(t, "*sns", KINDS[k], names->n, TAKEN_BY[k]);
    put_row(d, t);
    put_values(d, "names[");
    for (int n = 0; n < names->n; n++) {
      const char *name = shipped ? SCHEDULES[n]->name : names->names[n];
      put_values(d, ":s", name);
      if (one) document_line(d, ROLE_PLAIN, "%s", name);
    }
    put_values(d, "]}");
  }
  table_note(t, "Next: tilewalk list gpus; list gpus h200: every number of one, with its source.");
  return STATUS_OK;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  ListOptions *o = options;
  int n = 0;
  (void)io;
  if (o->format) d->details = true, add_format(d);
  if (o->format) return STATUS_OK;
  if (o->kind != LIST_GPUS && o->kind != LIST_KERNELS) return add_names(d, o, &o->known, error);
  Described *const things = calloc(THINGS_MAX, sizeof *things);
  const Status status = things ? load(o, things, &n, error) : error_no_memory(error, "for descriptions");
  if (!status) add_things(d, o, things, n);
  free(things);
  return status;
}

#define OUTPUT                                                                                                         \
  { "Output", OUTPUT_FORMAT_OPTIONS, offsetof(ListOptions, output) }

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
    .sets = (const OptionSet[]){OUTPUT, {0}},
    .defaults = all_kinds,
    .choices = "algorithms gpus kernels links models",
    .set_positional = set_kind,
    .answer = answer,
};

const Command COMMAND_GPUS = {
    .name = "list gpus",
    .old = "gpus",
    .summary = "the known GPUs, and where each of their numbers comes from",
    .usage = "[NAME|FILE...] [OPTION...]",
    .description = "Without a name, the machines that --gpu knows. With names or description files, every number with "
                   "its source: a document, a measurement, or the word assumed. A file of your own is checked on the "
                   "way; assets/gpus holds examples to copy.",
    .examples = "  # every number of one GPU, with its source\n"
                "  tilewalk list gpus h200\n\n"
                "  # two machines for a program\n"
                "  tilewalk list gpus a100-40gb h100-sxm --json\n\n"
                "  # which numbers are only assumed\n"
                "  tilewalk list gpus --csv | grep assumed:\n",
    .options_bytes = sizeof(ListOptions),
    .sets = (const OptionSet[]){OUTPUT, {0}},
    .defaults = of_gpus,
    .choices = "@gpus",
    .set_positional = add_name,
    .answer = answer,
};

static const Option KERNELS_OPTIONS[] = {
    OPTION_SWITCH("format", "How to describe a kernel of your own, in three lines or with every key.",
                  OPTION_FLAG(ListOptions, format)),
    {0},
};

const Command COMMAND_KERNELS = {
    .name = "list kernels",
    .old = "kernels",
    .summary = "the described kernels, and how to describe your own",
    .usage = "[NAME|FILE...] [--format] [OPTION...]",
    .description =
        "Without a name, the kernels that --kernel knows, with tile, threads and memory; --details has every "
        "head dimension. With names, description files or a CSV of ncu's, every number with its source. A "
        "file of your own is checked on the way; one line, tile = 128 x 64, is enough.",
    .examples = "  # every number of one kernel, with its source\n"
                "  tilewalk list kernels fa2-sm90 --details\n\n"
                "  # the format, with all keys\n"
                "  tilewalk list kernels --format\n\n"
                "  # your own in one line, and what it moves\n"
                "  printf 'tile = 128 x 64\\n' | tilewalk list kernels -\n",
    .options_bytes = sizeof(ListOptions),
    .sets = (const OptionSet[]){{"Kernels", KERNELS_OPTIONS, 0}, OUTPUT, {0}},
    .apart = "format ! json csv",
    .defaults = of_kernels,
    .choices = "@kernels",
    .set_positional = add_name,
    .answer = answer,
};
