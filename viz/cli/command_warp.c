/* tilewalk kernel --warp: what one access of one warp costs in global and in shared memory. */

#include "sim/base/size.h"
#include "viz/cli/command.h"
#include "viz/text/warp_picture.h"

enum { BYTES_MAX = 1 << 20 };

typedef struct {
  OutputRequest output;
  int64_t lane_bytes, stride, pad, base; /* stride and pad in elements of lane_bytes */
  bool stride_given, is_store, picture;
  WarpSwizzle swizzle;
  WarpAccess list; /* --addresses; active 0: not given */
} WarpOptions;

/* --- setters --- */

/* One address a lane, in bytes; an empty one switches the lane off. */
static Status set_addresses(void *target, const char *value, Error *error) {
  WarpAccess *list = &((WarpOptions *)target)->list;
  uint32_t lane = 0;
  for (const char *p = value; lane < WARP_LANES; lane++) {
    const Number one = number_text("%.*s", (int)strcspn(p, ","), p);
    int64_t address = 0;
    if (*one.text && size_parse(one.text, &address, error)) return error->status;
    list->address[lane] = (uint64_t)address;
    list->active |= (uint32_t)(*one.text != '\0') << lane;
    p += strcspn(p, ",");
    if (!*p++) break;
  }
  if (lane == WARP_LANES)
    return error_refuse(error, "a warp has 32 lanes; give at most 32 addresses in bytes, such as 0,4,8");
  return list->active ? STATUS_OK : error_refuse(error, "no lane has an address");
}

/* --- the access --- */

typedef struct {
  WarpAccess global, shared, plain; /* plain: shared memory without padding and swizzle */
  bool has_layout;
} Accesses;

static Status resolve(WarpOptions *o, Accesses *a, Error *error) {
  const bool listed = o->list.active != 0;
  if (!o->lane_bytes) o->lane_bytes = 4;
  const uint32_t bytes = (uint32_t)o->lane_bytes;
  a->has_layout = o->pad || o->swizzle != WARP_SWIZZLE_NONE;
  if (!o->stride_given) /* a layout is about columns: the rows of a tile one pass over the banks
                           wide */
    o->stride = a->has_layout ? WARP_BANKS * WARP_BANK_BYTES / (bytes ? bytes : 1) : 1;
  const WarpTile tile = {
      .row_bytes = (uint64_t)o->stride * bytes, .pad_bytes = (uint64_t)o->pad * bytes, .swizzle = o->swizzle};
  a->global = listed ? o->list : warp_strided((uint64_t)o->base, o->stride * o->lane_bytes, bytes);
  a->global.element_bytes = bytes;
  a->global.is_store = o->is_store;
  a->shared = a->plain = a->global;
  for (uint32_t lane = 0; lane < WARP_LANES; lane++)
    a->shared.address[lane] =
        listed ? warp_swizzle(o->list.address[lane], o->swizzle) : warp_tile_address(&tile, lane, (uint64_t)o->base);
  const Status status = warp_check(&a->global, error);
  return !status ? warp_check(&a->shared, error) : status;
}

/* --- results --- */

static void put_shared(Document *d, const char *key, const WarpShared *s) {
  put_values(d, "%{ways:n wavefronts:n parts:n conflicts:n worst_bank:n}", key, s->ways, s->wavefronts, s->parts,
             s->conflicts, s->worst_bank);
}

static void put_access(Document *d, const WarpOptions *o, const WarpGlobal *g) {
  put_values(d, "access{active_lanes:n lane_bytes:i pad:i swizzle:s kind:s", g->active_lanes, o->lane_bytes, o->pad,
             WARP_SWIZZLES[o->swizzle], o->is_store ? "store" : "load");
  put_values(d, o->list.active ? "}" : "stride:i}", o->stride);
  put_values(d, "global{sectors:n lines:n requested_bytes:u used_bytes:u moved_bytes:u overfetch:f}", g->sectors,
             g->lines, g->requested_bytes, g->used_bytes, g->moved_bytes, g->overfetch);
}

static void global_rows(Table *t, const WarpGlobal *g) {
  static const char AT[] = "global";
  put_cells(t, "ssn~sssn~sssU~sssU~sss@x~s", AT, "sectors", g->sectors, "different sectors of 32 B: what memory moves",
            AT, "lines", g->lines, "different lines of 128 B", AT, "used", g->used_bytes,
            "different bytes that the lanes asked for", AT, "moved", g->moved_bytes, "sectors x 32 B", AT, "overfetch",
            g->overfetch > 1 ? ROLE_WARN : ROLE_GOOD, g->overfetch, "bytes moved for each byte used");
}

static void shared_rows(Table *t, const char *memory, const WarpShared *s) {
  put_cells(t, "ss", memory, "ways");
  table_pair(t, s->ways > 1 ? ROLE_WARN : ROLE_GOOD, number_text("%u-way", s->ways).text, number_digits(s->ways).text);
  table_format(t, ROLE_DIM, "the most different words in one bank (bank %u); 1-way is conflict-free", s->worst_bank);
  put_cells(t, "ssn~sssn~s", memory, "wavefronts", s->wavefronts, "passes over the 32 banks", memory, "conflicts",
            s->conflicts,
            s->parts == 1 ? "passes beyond the first: what ncu counts" : "passes beyond one a part: what ncu counts");
}

static void fill(Document *d, const WarpOptions *o, const Accesses *a) {
  const WarpGlobal g = warp_global(&a->global);
  const WarpShared s = warp_shared(&a->shared), plain = warp_shared(&a->plain);
  put_access(d, o, &g);
  put_shared(d, "shared", &s);
  put_shared(d, "shared_plain", &plain);
  Table *t = put_table(d, DOCUMENT_TABLES, NULL, "memory|count|value>|meaning~;-");
  table_title(t, "%u lanes %s %jd B each%s", g.active_lanes, o->is_store ? "store" : "load", o->lane_bytes,
              o->list.active ? " at the given addresses"
                             : number_text(", %jd B apart", o->stride * o->lane_bytes).text);
  global_rows(t, &g);
  table_rule(t);
  if (a->has_layout) {
    shared_rows(t, "shared, plain", &plain);
    table_rule(t);
  }
  shared_rows(t, "shared", &s);
  if (a->has_layout)
    table_note(t, "In shared memory rows lie %jd B apart (%jd B of padding), swizzle %s.",
               (o->stride + o->pad) * o->lane_bytes, o->pad * o->lane_bytes, WARP_SWIZZLES[o->swizzle]);
}

/* Both memories; shared memory only for lanes that one bank can serve. */
static void add_picture(Document *d, const Accesses *a) {
  WarpPicture pictures[2];
  Error none = {0};
  warp_picture_memory(&a->global, &pictures[0]);
  const bool drawn = warp_picture_banks(&a->shared, &pictures[1], &none) == STATUS_OK;
  for (int p = 0; p < 1 + drawn; p++) {
    document_gap(d);
    for (int k = 0; k < pictures[p].n; k++) document_line(d, ROLE_PLAIN, "%s", pictures[p].line[k]);
  }
  if (!drawn) document_line(d, ROLE_DIM, "%s", none.message);
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  WarpOptions *o = options;
  Accesses accesses;
  (void)io;
  const Status status = resolve(o, &accesses, error);
  if (status) return status;
  fill(d, o, &accesses);
  if (o->picture) d->details = true, add_picture(d, &accesses);
  return STATUS_OK;
}

static const Option ACCESS_OPTIONS[] = {
    OPTION_ROW(
        "stride", "COUNT", "Elements from one lane to the next. Default 1; with --pad or --swizzle rows of 128 B.",
        OPTION_NUMBER(WarpOptions, stride, "the stride", 0, BYTES_MAX), .given = offsetof(WarpOptions, stride_given)),
    OPTION_ROW("lane-bytes", "COUNT", "Bytes that a lane moves, its element: 1, 2, 4, 8 or 16. Default 4.",
               OPTION_NUMBER(WarpOptions, lane_bytes, "the bytes of a lane", 0, 16), .choices = "1 2 4 8 16"),
    OPTION_ROW("base", "SIZE", "Address of lane 0. Default 0.", OPTION_SIZE(WarpOptions, base)),
    OPTION_ROW("addresses", "LIST",
               "The lanes' addresses in bytes, separated by commas; an empty one is a lane switched off.",
               .set = set_addresses),
    OPTION_SWITCH("store", "Stores instead of loads.", OPTION_FLAG(WarpOptions, is_store)),
    {0},
};

static const Option LAYOUT_OPTIONS[] = {
    OPTION_ROW("pad", "COUNT", "Elements of padding after each row (shared memory only).",
               OPTION_NUMBER(WarpOptions, pad, "the padding", 0, BYTES_MAX)),
    OPTION_ROW("swizzle", "MODE", "TMA's XOR swizzle of 16-byte chunks: none, 32B, 64B or 128B (shared memory only).",
               OPTION_CHOICE(WarpOptions, swizzle, "is no swizzle"), .names = WARP_SWIZZLES),
    {0},
};

static const Option LANE_OPTIONS[] = {
    OPTION_SWITCH("picture", "Also draw which words are moved, and which bank serves which lane.",
                  OPTION_FLAG(WarpOptions, picture)),
    {0},
};

static const OptionSet SETS[] = {
    {"Access", ACCESS_OPTIONS, 0},
    {"Layout", LAYOUT_OPTIONS, 0},
    {"Picture", LANE_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(WarpOptions, output)},
    {0},
};

const Command COMMAND_WARP = {
    .name = "kernel --warp",
    .old = "warp",
    .summary = "one access of a warp: sectors, bank conflicts, swizzles",
    .usage = "[--stride COUNT] [--pad COUNT] [--swizzle MODE] [OPTION...]",
    .description = "Lane n of 32 moves one element at n x stride. In global memory the cost is the "
                   "number of 32-byte sectors; in shared "
                   "memory it is the number of passes over the 32 banks, one more for every "
                   "further word of the same bank. Lane n is "
                   "then row n of a tile whose rows are one stride long, with padding and swizzle "
                   "as asked for. Both counts are exactly "
                   "those of the hardware counters (measured on an H200).",
    .examples = "  # neighbouring words: 4 sectors, no conflict\n"
                "  tilewalk kernel --warp\n\n"
                "  # a column of a 32 x 32 fp32 tile: 8 times the bytes, 32-way conflict\n"
                "  tilewalk kernel --warp --stride 32\n\n"
                "  # the same column with rows padded by one word, and with a swizzle\n"
                "  tilewalk kernel --warp --pad 1\n"
                "  tilewalk kernel --warp --swizzle 128B --lane-bytes 16\n\n"
                "  # which bank serves which lane, cycle by cycle\n"
                "  tilewalk kernel --warp --pad 1 --picture\n\n"
                "  # four lanes, anywhere\n"
                "  tilewalk kernel --warp --addresses 0,4,128,132\n",
    .options_bytes = sizeof(WarpOptions),
    .sets = SETS,
    .apart = "addresses ! stride pad base; picture ! json csv",
    .answer = answer,
};
