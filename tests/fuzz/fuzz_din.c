/* Fuzz target for address traces: any bytes give the same records and the same verdict whether they
 * come in one piece or in many, or are read by a team, and every record is one that can be printed
 * and read back. */
#include "tests/fuzz/fuzz.h"
#include "sim/cache/din.h"
#include "viz/cli/replay/replay_team.h"
#include "sim/base/utf8.h"

enum { RECORDS = 64, PIECE_MAX = 3 * DIN_LINE_BYTES_MAX };

static void check_record(const DinRecord *record) {
  char text[DIN_TEXT_BYTES];
  DinParser parser = {0};
  DinRecord again;
  size_t n, used;
  require(record->size_bytes >= 1 && record->size_bytes <= DIN_SIZE_MAX);
  require(record->address + (record->size_bytes - 1) >= record->address);
  const size_t length = din_print(record, text);
  require(length < DIN_TEXT_BYTES && text[length - 1] == '\n');
  require(din_parse(&parser, text, length, true, &again, 1, &n, &used, NULL) == STATUS_OK);
  require(n == 1 && used == length);
  if (record->label == DIN_MODIFY) return; /* Dinero has no word for it */
  require(again.address == record->address && again.size_bytes == record->size_bytes && again.label == record->label);
}

/* Feeds the text in pieces that grow by `step`, as a reader with a buffer does. */
typedef struct {
  uint64_t n_records, sum, line;
  Status status;
} Verdict;

static Verdict read_in_pieces(const char *text, size_t size, size_t step) {
  DinParser parser = {.default_bytes = 8};
  Verdict verdict = {0};
  size_t begin = 0, end = step < size ? step : size;
  for (;;) {
    DinRecord records[RECORDS];
    Error error = {0};
    size_t n, used;
    const bool is_last = end == size;
    char *piece = malloc(end - begin + 1); /* its own block, so that reading past its end is seen */
    require(piece != NULL);
    memcpy(piece, text + begin, end - begin);
    verdict.status = din_parse(&parser, piece, end - begin, is_last, records, RECORDS, &n, &used, &error);
    free(piece);
    require(n <= RECORDS && used <= end - begin);
    for (size_t i = 0; i < n; i++) {
      check_record(&records[i]);
      verdict.sum = verdict.sum * 31 + records[i].address + records[i].size_bytes + (uint64_t)records[i].label;
    }
    verdict.n_records += n;
    begin += used;
    if (verdict.status != STATUS_OK) {
      require(verdict.status == STATUS_BAD_FILE && strncmp(error.message, "trace line ", 11) == 0);
      require(utf8_is_text(error.message, strlen(error.message)));
      break;
    }
    if (is_last && begin == size) break;
    require(used > 0 || n > 0 || end < size); /* every call gets on, or can be given more */
    require(n == RECORDS || end - begin <= PIECE_MAX);
    if (n < RECORDS) end = size - end < step ? size : end + step;
  }
  verdict.line = parser.line;
  return verdict;
}

/* What a team of three makes of it, stopped after `limit` records: the records before a mistake,
 * the mistake's line, and one thread's counts. */
static void read_as_team(const char *text, size_t size, uint64_t limit, const Verdict *whole) {
  const CacheConfig config = {.size_bytes = 48 * 2 * 128, .ways = 2, .address_bits = 64};
  CacheCounts counts[2];
  for (uint32_t i = 0; i < 2; i++) {
    ReplayTeam team;
    Status status = STATUS_OK;
    require(replay_team_init(&team, &config, 1 + 2 * i, 8, limit, NULL) == STATUS_OK);
    for (size_t at = 0, used; at < size && status == STATUS_OK; at += used) {
      status = replay_team_run(&team, text + at, size - at, true, &used, NULL);
      require(status != STATUS_OK || used > 0);
    }
    const bool stopped = whole->n_records >= limit;
    require(status == (stopped ? STATUS_OK : whole->status));
    if (status == STATUS_OK)
      require(team.n_records == (stopped ? limit : whole->n_records));
    else
      require(team.parser.line == whole->line);
    counts[i] = replay_team_counts(&team);
    replay_team_free(&team);
    if (status != STATUS_OK) memset(&counts[i], 0, sizeof counts[i]);
  }
  require(memcmp(&counts[0], &counts[1], sizeof counts[0]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const Verdict whole = read_in_pieces((const char *)data, size, size + 1);
  /* One other way to cut it an input, which its last byte chooses: byte by byte takes its time. */
  static const size_t STEPS[] = {1, 7, 40};
  const size_t i = size ? data[size - 1] % 3u : 0;
  if (i > 0 || size < 300) {
    const Verdict pieces = read_in_pieces((const char *)data, size, STEPS[i]);
    require(pieces.status == whole.status && pieces.n_records == whole.n_records);
    require(pieces.sum == whole.sum);
  }
  if (size < 400 && (!size || data[size / 2] % 64 == 32)) { /* a blank, say: threads and long accesses take theirs */
    uint64_t limit = size ? data[size - 1] % 32 + 1u : 1;
    read_as_team((const char *)data, size, limit == 32 ? UINT64_MAX : limit, &whole);
  }
  return 0;
}
