#define _GNU_SOURCE /* sched_getaffinity */
#include "viz/cli/replay/replay_team.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Text of one thread in one round: long against the waiting at its end, but its records, of 16
 * bytes, should stay in a core's own cache. A line that holds a record has at least 2 characters.
 */
enum { ROUND_BYTES = 1 << 19, ROUND_RECORDS = ROUND_BYTES / 2 + 1, ALONE_BYTES = 65536 };

typedef struct {
  size_t begin, end, n_records, n_joined;
  uint64_t n_lines, n_stores, n_accesses, n_fetches_left_out, n_numbers;
  Status status;
} Piece;

uint32_t replay_team_threads(const CacheConfig *cache) {
  const uint32_t most = cache_most_parts(cache);
  cpu_set_t cores;
  uint32_t n = sched_getaffinity(0, sizeof cores, &cores) == 0 ? (uint32_t)CPU_COUNT(&cores) : 1;
  if (n > most) n = most;
  return n < 1 ? 1 : n < REPLAY_THREADS_MAX ? n : REPLAY_THREADS_MAX;
}

Status replay_team_init(ReplayTeam *team, const CacheConfig *cache, uint32_t n_threads, uint32_t default_bytes,
                        uint64_t limit, Error *error) {
  *team = (ReplayTeam){.n_threads = n_threads, .left = limit};
  team->parser.default_bytes = default_bytes;
  team->records = malloc(n_threads * (size_t)ROUND_RECORDS * sizeof *team->records);
  if (!team->records) return error_set(error, STATUS_NO_MEMORY, "no memory to read the trace");
  for (uint32_t part = 0; part < n_threads; part++) {
    CacheConfig config = *cache;
    config.parts = n_threads, config.part = part;
    const Status status = cache_new(&team->parts[part], &config, error);
    if (status != STATUS_OK) return status;
  }
  return STATUS_OK;
}

void replay_team_free(ReplayTeam *team) {
  for (uint32_t part = 0; part < team->n_threads; part++) free(team->parts[part]);
  free(team->records);
  *team = (ReplayTeam){0};
}

/* The lines of this round: up to the last line end in reach, or to the end of the trace. Where a
 * line is not whole but too long to become one, din_parse shall say so. */
static size_t round_bytes(const char *text, size_t bytes, size_t reach, bool is_last) {
  size_t end = bytes < reach ? bytes : reach;
  if (is_last && end == bytes) return end;
  const size_t all = end;
  while (end > 0 && text[end - 1] != '\n') end--;
  return end || all <= DIN_LINE_BYTES_MAX ? end : all;
}

/* Cuts text into n pieces at line ends; the last ones may be empty. */
static void cut(const char *text, size_t bytes, uint32_t n, Piece *pieces) {
  size_t begin = 0;
  for (uint32_t i = 0; i < n; i++) {
    const size_t from = bytes * (i + 1) / n;
    size_t end = bytes;
    if (i + 1 < n && from > begin) {
      const char *newline = memchr(text + from - 1, '\n', bytes - from + 1);
      if (newline) end = (size_t)(newline - text) + 1;
    } else if (i + 1 < n) {
      end = begin;
    }
    pieces[i] = (Piece){.begin = begin, .end = end};
    begin = end;
  }
}

static DinRecord *records_of(const ReplayTeam *team, uint32_t i) { return team->records + (size_t)i * ROUND_RECORDS; }

static void count_stores(const DinRecord *records, Piece *piece) {
  for (size_t k = 0; k < piece->n_records; k++) {
    const DinLabel label = records[k].label;
    piece->n_stores += label == DIN_WRITE || label == DIN_MODIFY;
    piece->n_accesses += label == DIN_MODIFY ? 2 : label < DIN_COPY_BACK;
  }
}

/* Where the limit may be reached, records stay apart, so that they can be counted off. */
static void read_piece(const ReplayTeam *team, const char *text, uint32_t i, bool near_limit, Piece *piece) {
  DinParser parser = team->parser;
  size_t used;
  DinRecord *records = records_of(team, i);
  parser.line = parser.n_fetches_left_out = parser.n_numbers = 0;
  piece->status = din_parse(&parser, text + piece->begin, piece->end - piece->begin, true, records, ROUND_RECORDS,
                            &piece->n_records, &used, NULL);
  assert(piece->status != STATUS_OK || used == piece->end - piece->begin); /* ROUND_RECORDS are enough */
  piece->n_lines = parser.line;
  piece->n_fetches_left_out = parser.n_fetches_left_out;
  piece->n_numbers = parser.n_numbers;
  if (near_limit) return;
  count_stores(records, piece);
  piece->n_joined = din_join(records, piece->n_records, team->parts[0]->config.line_bytes);
}

/* Takes the pieces in their order, as one thread would have read them, up to the limit. */
static Status take(ReplayTeam *team, const char *text, bool near_limit, Piece *pieces, Error *error) {
  for (uint32_t i = 0; i < team->n_threads; i++) {
    Piece *piece = &pieces[i];
    if (near_limit) {
      if (piece->n_records > team->left) piece->n_records = (size_t)team->left;
      count_stores(records_of(team, i), piece);
      piece->n_joined = piece->n_records;
    }
    if (piece->status != STATUS_OK && team->left > piece->n_records) {
      size_t n_records, used; /* again, now that the number of the line is known */
      return din_parse(&team->parser, text + piece->begin, piece->end - piece->begin, true, records_of(team, i),
                       ROUND_RECORDS, &n_records, &used, error);
    }
    team->parser.line += piece->n_lines;
    team->left -= piece->n_records;
    team->n_records += piece->n_records;
    team->n_stores += piece->n_stores;
    team->n_accesses += piece->n_accesses;
    team->parser.n_fetches_left_out += piece->n_fetches_left_out;
    team->parser.n_numbers += piece->n_numbers;
  }
  return STATUS_OK;
}

/* --- one round --- */

typedef struct {
  ReplayTeam *team;
  const char *text;
  bool near_limit;
  Piece pieces[REPLAY_THREADS_MAX];
  Status ran[REPLAY_THREADS_MAX];
} Round;

typedef struct {
  Round *round;
  void (*work)(Round *round, uint32_t i);
  uint32_t i;
} Share;

static void *run_share(void *data) {
  const Share *share = data;
  share->work(share->round, share->i);
  return NULL;
}

/* Does work(round, i) for every i, in threads that live no longer than this: on a busy machine,
 * threads that wait for each other by spinning (as OpenMP's do) would cost more than they gain. A
 * thread that cannot be had costs time, nothing else. */
static void share_out(Round *round, uint32_t n_threads, void (*work)(Round *round, uint32_t i)) {
  pthread_t threads[REPLAY_THREADS_MAX];
  bool started[REPLAY_THREADS_MAX] = {false};
  Share shares[REPLAY_THREADS_MAX];
  const uint32_t n = round->team->n_threads;
  for (uint32_t i = 1; i < n_threads; i++) {
    shares[i] = (Share){round, work, i};
    started[i] = pthread_create(&threads[i], NULL, run_share, &shares[i]) == 0;
  }
  for (uint32_t i = 0; i < n; i++)
    if (!started[i]) work(round, i);
  for (uint32_t i = 1; i < n_threads; i++)
    if (started[i]) pthread_join(threads[i], NULL);
}

static void read_share(Round *round, uint32_t i) {
  read_piece(round->team, round->text, i, round->near_limit, &round->pieces[i]);
}

static void replay_share(Round *round, uint32_t part) {
  ReplayTeam *team = round->team;
  round->ran[part] = STATUS_OK;
  for (uint32_t i = 0; i < team->n_threads && round->ran[part] == STATUS_OK; i++)
    round->ran[part] = din_replay(team->parts[part], records_of(team, i), round->pieces[i].n_joined, NULL);
}

Status replay_team_run(ReplayTeam *team, const char *text, size_t bytes, bool is_last, size_t *used, Error *error) {
  const uint32_t n = team->n_threads;
  Round round = {.team = team, .text = text};
  *used = 0;
  if (!team->left) {
    *used = bytes;
    return STATUS_OK;
  }
  const size_t length = round_bytes(text, bytes, (size_t)n * ROUND_BYTES, is_last);
  const uint32_t n_threads = length > ALONE_BYTES ? n : 1;
  din_detect(&team->parser, text, length, is_last && length == bytes);
  round.near_limit = team->left <= (uint64_t)n * ROUND_RECORDS;
  cut(text, length, n, round.pieces);
  share_out(&round, n_threads, read_share);
  const Status status = take(team, text, round.near_limit, round.pieces, error);
  if (status != STATUS_OK) return status;
  share_out(&round, n_threads, replay_share);
  for (uint32_t i = 0; i < n; i++)
    if (round.ran[i] != STATUS_OK)
      return error_set(error, round.ran[i], "the trace has addresses beyond those of this cache");
  *used = length;
  return STATUS_OK;
}

CacheCounts replay_team_counts(const ReplayTeam *team) {
  CacheCounts sum = {0};
  for (uint32_t part = 0; part < team->n_threads; part++) sum = cache_counts_add(sum, team->parts[part]->counts);
  sum.accesses = team->n_accesses;
  return sum;
}
