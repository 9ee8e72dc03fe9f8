/* tilewalk trace: an address trace through the cache model. */
#define _POSIX_C_SOURCE 200809L /* read, fstat */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/cache/din.h"
#include "sim/base/packed.h"
#include "sim/base/size.h"
#include "viz/cli/command.h"
#include "viz/text/progress.h"

enum { PIECE_BYTES = 1 << 20, PIECE_RECORDS = 1 << 13, PATH_BYTES = 4096, CACHE_FIELDS = 4 };
#define STATE_BYTES_MAX ((uint64_t)2 << 30)

typedef struct {
  OutputRequest output;
  CacheConfig cache;
  bool fully_associative;
  int64_t access_bytes; /* of a record that names no size; 0: Dinero's word */
  int64_t limit;        /* 0: all */
  bool flush, fetches;
  DinFormat format;
  char path[PATH_BYTES];
} ReplayOptions;

/* --- setters --- */

static Status set_cache(void *target, const char *value, Error *error) {
  ReplayOptions *o = target;
  uint64_t *const parts[CACHE_FIELDS] = {&o->cache.size_bytes, &o->cache.ways, &o->cache.line_bytes,
                                         &o->cache.sector_bytes};
  const char *p = value;
  for (int field = 0; field < CACHE_FIELDS; field++) {
    const Number one = number_text("%.*s", (int)strcspn(p, ","), p);
    int64_t part = 1;
    if (field == 1 && strcmp(one.text, "full") == 0)
      o->fully_associative = true;
    else if ((field == 1 ? size_parse_count : size_parse)(one.text, &part, error))
      return error->status;
    if (part < 1)
      return error_refuse(error, "a part of '--cache' is zero; write SIZE,WAYS,LINE,SECTOR, such as 2M,16,128,32");
    *parts[field] = (uint64_t)part;
    p += strcspn(p, ",");
    if (!*p++) return STATUS_OK;
  }
  return error_refuse(error, "'%s' is no cache; write SIZE,WAYS,LINE,SECTOR, such as 2M,16,128,32",
                      quote_text(value).text);
}

static const char *const INDEXES[] = {"modulo", "xor", "random", NULL};
static const char *const FORMATS[] = {"auto", "din", "xdin", "lackey", "csv", NULL}; /* as DinFormat has them */
static const char *const POLICIES[] = {"lru", "plru", "fifo", "random", NULL};
static Status set_access_bytes(void *target, const char *value, Error *error) {
  int64_t *bytes = &((ReplayOptions *)target)->access_bytes;
  const Status status = size_parse(value, bytes, error);
  if (!status && (*bytes < 1 || *bytes > DIN_SIZE_MAX))
    return error_refuse(error, "an access of %jd bytes; 1 to %d are read", *bytes, DIN_SIZE_MAX);
  return status;
}

static Status set_format(void *target, const char *value, Error *error) {
  int format;
  if (din_is_refused(value, error) || options_name(FORMATS, "is no format of traces", value, &format, error))
    return error->status;
  ((ReplayOptions *)target)->format = (DinFormat)format;
  return STATUS_OK;
}

static Status set_path(void *target, const char *value, Error *error) {
  ReplayOptions *o = target;
  if (*o->path) return error_refuse(error, "one trace at a time: '%s' is a second one", quote_text(value).text);
  return options_text("the name of the trace", value, o->path, sizeof o->path, error);
}

/* --- reading --- */

typedef struct {
  int file;
  Quote name;                       /* for messages */
  uint64_t read_bytes, total_bytes; /* total 0: unknown */
  const volatile sig_atomic_t *interrupted;
  char *piece; /* PIECE_BYTES */
  size_t held; /* bytes in it */
  DinParser parser;
  CacheState *cache;
  uint64_t left;                 /* records still to run */
  uint64_t n_stores, n_accesses; /* a modify is a store, and two accesses */
  Progress progress;
} Reader;

static Status stop(const Reader *r, Error *error) {
  return error_set(error, STATUS_INTERRUPTED, "interrupted after line %ju; nothing was printed", r->parser.line);
}

/* Reads on behind what is held, as far as the text comes; an interrupt ends the wait. *is_last at the end of the
 * trace. */
static Status read_more(Reader *r, bool *is_last, Error *error) {
  ssize_t got;
  do got = read(r->file, r->piece + r->held, PIECE_BYTES - r->held);
  while (got < 0 && errno == EINTR && !*r->interrupted);
  if (*r->interrupted) return stop(r, error);
  if (got < 0) return error_refuse(error, "cannot read '%s': %s", r->name.text, strerror(errno));
  r->held += (size_t)got;
  r->read_bytes += (uint64_t)got;
  *is_last = got == 0;
  return STATUS_OK;
}

/* Runs all complete lines of the piece and keeps what is left at its beginning. */
static Status run_piece(Reader *r, bool is_last, Error *error) {
  DinRecord records[PIECE_RECORDS];
  Status status = STATUS_OK;
  size_t at = 0, used = 1, n;
  for (; !status && used && r->left && at < r->held; at += used) {
    const size_t most = r->left < PIECE_RECORDS ? (size_t)r->left : PIECE_RECORDS;
    status = din_parse(&r->parser, r->piece + at, r->held - at, is_last, records, most, &n, &used, error);
    r->left -= n;
    for (size_t k = 0; k < n; k++) {
      const DinLabel label = records[k].label;
      r->n_stores += label == DIN_WRITE || label == DIN_MODIFY;
      r->n_accesses += label == DIN_MODIFY ? 2 : label < DIN_COPY_BACK;
    }
    if (!status) status = din_replay(r->cache, records, n, error);
    if (!status && *r->interrupted) status = stop(r, error);
  }
  memmove(r->piece, r->piece + at, r->held - at);
  r->held -= at;
  return status;
}

/* What is no text is named for what it is. */
static Status check_text(const Reader *r, Error *error) {
  const size_t n = r->held < PACKED_BYTES ? r->held : PACKED_BYTES;
  const Packed packed = packed_of(r->piece, n);
  if (packed.name)
    return error_set(error, STATUS_BAD_FILE, "'%s' is packed with %s; unpack it: %s FILE | tilewalk trace -",
                     r->name.text, packed.name, packed.unpack);
  if (memchr(r->piece, 0, n))
    return error_set(error, STATUS_BAD_FILE,
                     "'%s' holds zero bytes: it is binary, or UTF-16 (iconv -f UTF-16 -t UTF-8); a trace is text, one "
                     "access a line",
                     r->name.text);
  return STATUS_OK;
}

static Status check_accesses(const Reader *r, Error *error) {
  if (r->n_accesses || r->left == 0) return STATUS_OK;
  if (r->parser.n_fetches_left_out)
    return error_set(error, STATUS_BAD_FILE,
                     "all %ju accesses of the trace are instruction fetches; --fetches counts them",
                     r->parser.n_fetches_left_out);
  return error_set(error, STATUS_BAD_FILE,
                   "the trace holds no access: of %ju lines all are blank, comments (what follows a #) or flushes",
                   r->parser.line);
}

static Status replay_all(Reader *r, Io *io, Error *error) {
  r->progress = progress_begin(io->err, "replay, bytes", true);
  bool is_last = false, goes_on = true;
  while (goes_on && !is_last && r->left) {
    goes_on =
        !read_more(r, &is_last, error) && (r->parser.line || !check_text(r, error)) && !run_piece(r, is_last, error);
    progress_update(&r->progress, r->read_bytes, r->total_bytes, progress_clock_s());
  }
  progress_end(&r->progress);
  return goes_on ? check_accesses(r, error) : error->status;
}

static Status open_trace(const char *path, Reader *r, Error *error) {
  struct stat info;
  const bool is_stdin = strcmp(path, "/dev/stdin") == 0;
  r->name = quote(is_stdin ? "standard input" : path, is_stdin ? 14 : strlen(path));
  r->file = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (r->file < 0) return error_refuse(error, "cannot open '%s': %s", r->name.text, strerror(errno));
  if (!fstat(r->file, &info) && S_ISREG(info.st_mode)) r->total_bytes = (uint64_t)info.st_size;
  return STATUS_OK;
}

/* --- results --- */

/* A row of the table, and a key of JSON. For people those are left out that say little. */
static void add_counts(Document *d, Table *t, const Reader *r) {
  const CacheCounts *c = &r->cache->counts;
  const uint64_t sector_bytes = r->cache->config.sector_bytes;
  const struct {
    bool for_people;
    const char *key;
    uint64_t value;
    const char *what;
  } rows[] = {
      {true, "accesses", c->accesses, "records of the trace"},
      {true, "line_misses", c->line_misses, "look-ups, reads and stores, that did not find their line"},
      {true, "sector_misses", c->read_sector_misses + c->write_sector_absent, "sectors touched that were not there"},
      {true, "writebacks", c->dirty_evictions, "lines pushed out with data to write back"},
      {false, "stores", r->n_stores, "records that are stores"},
      {false, "fetches_left_out", r->parser.n_fetches_left_out, "instruction fetches of lackey's that are not counted"},
      {false, "lines_touched", c->lines_touched, "look-ups: a record over two lines is two"},
      {true, "read_sectors", c->read_sectors, "sectors that reads asked for"},
      {true, "read_sector_misses", c->read_sector_misses, "of those, fetched from below"},
      {true, "write_sectors", c->write_sectors, "sectors that stores touched; none is fetched"},
      {false, "write_sectors_absent", c->write_sector_absent, "of those, not there before"},
      {true, "evictions", c->evictions, "lines pushed out"},
      {true, "written_back_sectors", c->written_back_sectors, "sectors written back"},
      {true, "fetched_bytes", c->read_sector_misses * sector_bytes, "read from below"},
      {true, "written_back_bytes", c->written_back_sectors * sector_bytes, "written below"}};
  for (size_t k = 0; k < COUNT_OF(rows); k++) {
    put_values(d, "%:u", rows[k].key, rows[k].value);
    if (rows[k].for_people || d->form != DOCUMENT_TEXT)
      put_cells(t, strstr(rows[k].key, "_bytes") ? "sU~s" : "su~s", rows[k].key, rows[k].value, rows[k].what);
  }
  put_values(d, "hit_rate:f", cache_hit_rate(c));
  put_cells(t, "s*%~s", "hit_rate", cache_hit_rate(c),
            "of all sectors, as ncu counts: a store always hits, since it waits for nothing");
}

static void add_notes(Table *table, const DinParser *parser) {
  if (parser->n_fetches_left_out)
    table_note(table, "%s instruction fetches of lackey's are left out; --fetches counts them.",
               number_count(parser->n_fetches_left_out).text);
  if (parser->n_numbers && !parser->format)
    table_note(
        table,
        "Read as din: %s lines have a number behind the address, which is a comment there; --format xdin takes it "
        "as a size.",
        number_count(parser->n_numbers).text);
}

static void fill(Document *d, const Reader *r) {
  const CacheConfig *c = &r->cache->config;
  const uint64_t sets = r->cache->sets;
  Table *t = put_table(d, DOCUMENT_TABLES, NULL, "count|value>|meaning~");
  table_title(t, "A cache of %s: %s of %ju ways, lines of %ju B, sectors of %ju B, index %s, %s",
              number_bytes(c->size_bytes).text, number_of(sets, "set").text, c->ways, c->line_bytes, c->sector_bytes,
              INDEXES[c->index], POLICIES[c->policy]);
  put_values(d, "format:s cache{size_bytes:u ways:u line_bytes:u sector_bytes:u sets:u index:s policy:s}",
             DIN_FORMATS[r->parser.detected], c->size_bytes, c->ways, c->line_bytes, c->sector_bytes, sets,
             INDEXES[c->index], POLICIES[c->policy]);
  add_counts(d, t, r);
  add_notes(t, &r->parser);
}

/* --- the command --- */

static Status choose_cache(ReplayOptions *o, Error *error) {
  CacheConfig *c = &o->cache;
  if (o->fully_associative) {
    const uint64_t size_bytes = c->size_bytes ? c->size_bytes : (uint64_t)2 << 20;
    c->ways = size_bytes / (c->line_bytes ? c->line_bytes : 128);
  }
  c->address_bits = 64;
  c->no_byte_masks = c->line_bytes > 65536;
  if (cache_config_resolve(c, &(CacheConfig){0}, error)) return error->status;
  const uint64_t bytes = cache_state_bytes(c);
  if (bytes > STATE_BYTES_MAX)
    return error_set(error, STATUS_TOO_LARGE, "a cache of %s would take %s to simulate; at most %s are used",
                     number_bytes(c->size_bytes).text, number_bytes(bytes).text, number_bytes(STATE_BYTES_MAX).text);
  return STATUS_OK;
}

static Status replay(const ReplayOptions *o, Reader *r, Document *d, Io *io, Error *error) {
  if (open_trace(o->path, r, error) || cache_new(&r->cache, &o->cache, error)) return error->status;
  r->piece = malloc(PIECE_BYTES);
  if (!r->piece) return error_no_memory(error, "to read the trace");
  if (replay_all(r, io, error)) return error->status;
  if (o->flush) cache_flush(r->cache);
  fill(d, r);
  return STATUS_OK;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  ReplayOptions *o = options;
  if (!*o->path) return error_refuse(error, "no trace is named; give a file, or - for the standard input");
  if (choose_cache(o, error)) return error->status;
  Reader r = {.file = -1, .interrupted = io_catch_interrupt(io)};
  r.left = o->limit ? (uint64_t)o->limit : UINT64_MAX;
  r.parser = (DinParser){.default_bytes = (uint32_t)o->access_bytes, .format = o->format, .fetches = o->fetches};
  const Status status = replay(o, &r, d, io, error);
  if (r.file > STDIN_FILENO) close(r.file);
  free(r.piece);
  free(r.cache);
  return status;
}

static const Option CACHE_OPTIONS[] = {
    OPTION_ROW("cache", "SIZE,WAYS,LINE,SECTOR",
               "The cache; parts left out at the end are defaults. WAYS may be 'full'. Default 2M,16,128,32.",
               .set = set_cache),
    OPTION_ROW("index", "NAME", "How an address finds its set: modulo, xor or random. Default modulo.",
               OPTION_CHOICE(ReplayOptions, cache.index, "is no set index"), .names = INDEXES),
    OPTION_ROW("policy", "NAME", "Which line leaves: lru, plru (a tree), fifo or random. Default lru.",
               OPTION_CHOICE(ReplayOptions, cache.policy, "is no replacement policy"), .names = POLICIES),
    OPTION_ROW("seed", "NUMBER", "For the random index and policy. Default 0.",
               OPTION_NUMBER(ReplayOptions, cache.seed, "the seed", 0, INT64_MAX)),
    OPTION_ROW("access-bytes", "SIZE", "Size of an access whose line names none. Default 4, Dinero's word.",
               .set = set_access_bytes),
    OPTION_ROW("format", "NAME",
               "Of the trace: din (a label and an address; the rest is a comment), xdin (with sizes), lackey "
               "(valgrind's) or csv. Default auto: by the first line.",
               .set = set_format, .names = FORMATS),
    OPTION_SWITCH("fetches", "Count the instruction fetches of a lackey trace too; else its data alone.",
                  OPTION_FLAG(ReplayOptions, fetches)),
    OPTION_SWITCH("flush", "At the end write back what is still dirty.", OPTION_FLAG(ReplayOptions, flush)),
    OPTION_ROW("limit", "COUNT", "Stop after this many records; what follows is not read. Default: all.",
               OPTION_COUNT(ReplayOptions, limit)),
    {0},
};

static const OptionSet SETS[] = {
    {"Cache", CACHE_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(ReplayOptions, output)},
    {0},
};

const Command COMMAND_REPLAY = {
    .name = "trace FILE",
    .old = "replay",
    .summary = "an address trace (Dinero, lackey, CSV) through the cache model",
    .usage = "FILE [--cache 2M,16,128,32] [OPTION...]",
    .description =
        "Reads a trace of addresses, one access a line: Dinero's din or xdin, valgrind's lackey, or CSV (operation, "
        "address, size); the first line tells which. Text behind a # is skipped, and FILE may be -. The cache is "
        "sectored and writes back; a store that covers a sector fetches nothing. A trace may be of any length.",
    .examples = "  # three accesses typed in: a read, a store beside it, and the read again\n"
                "  printf 'r 1000 20\\nw 1020 20\\nr 1000 20\\n' | tilewalk trace -\n\n"
                "  # the L2 of an H200 as 20 ways of 96 x 256 sets\n"
                "  printf 'r 0 1000\\n' | tilewalk trace - --cache 60M,20,128,32 --json\n\n"
                "  # a tiny cache in which two lines push each other out\n"
                "  printf '0 0\\n0 200\\n0 0\\n' | tilewalk trace - --cache 512,1\n",
    .options_bytes = sizeof(ReplayOptions),
    .sets = SETS,
    .set_positional = set_path,
    .answer = answer,
};
