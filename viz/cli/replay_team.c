#include "viz/cli/replay_team.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Text of one thread in one round: long against the waiting at its end, but its records, of 16
 * bytes, should stay in a core's own cache. A line that holds a record has at least 4 characters.
 */
enum { ROUND_BYTES = 1 << 18, ROUND_RECORDS = ROUND_BYTES / 4 + 1, ALONE_BYTES = 4096 };

typedef struct {
  size_t begin, end, n_records, n_joined;
  uint64_t n_lines, n_stores;
  Status status;
} Piece;

uint32_t replay_team_threads(const CacheConfig *cache) {
#ifdef _OPENMP
  const uint32_t most = cache_most_parts(cache), offered = (uint32_t)omp_get_max_threads();
  const uint32_t n = offered < most ? offered : most;
  return n < 1 ? 1 : n < REPLAY_THREADS_MAX ? n : REPLAY_THREADS_MAX;
#else
  (void)cache;
  return 1;
#endif
}

Status replay_team_init(ReplayTeam *team, const CacheConfig *cache, uint32_t n_threads,
                        uint32_t default_bytes, uint64_t limit, Error *error) {
  *team = (ReplayTeam){.n_threads = n_threads, .left = limit};
  team->parser.default_bytes = default_bytes;
  team->records = malloc(n_threads * (size_t)ROUND_RECORDS * sizeof *team->records);
  if (!team->records) return error_set(error, STATUS_NO_MEMORY, "no memory to read the trace");
  for (uint32_t part = 0; part < n_threads; part++) {
    CacheConfig config = *cache;
    config.parts = n_threads, config.part = part;
    const size_t bytes = cache_state_bytes(&config);
    team->parts[part] = bytes ? malloc(bytes) : NULL;
    if (bytes && !team->parts[part])
      return error_set(error, STATUS_NO_MEMORY, "no memory for the cache (%zu bytes)", bytes);
    const Status status = cache_init(team->parts[part], &config, error);
    if (status != STATUS_OK) return status;
  }
  return STATUS_OK;
}

void replay_team_free(ReplayTeam *team) {
  for (uint32_t part = 0; part < team->n_threads; part++)
    free(team->parts[part]);
  free(team->records);
  *team = (ReplayTeam){0};
}

/* The lines of this round: up to the last line end in reach, or to the end of the trace. Where a
 * line is not whole but too long to become one, din_parse shall say so. */
static size_t round_bytes(const char *text, size_t bytes, size_t reach, bool is_last) {
  size_t end = bytes < reach ? bytes : reach;
  if (is_last && end == bytes) return end;
  const size_t all = end;
  while (end > 0 && text[end - 1] != '\n')
    end--;
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

static DinRecord *records_of(const ReplayTeam *team, uint32_t i) {
  return team->records + (size_t)i * ROUND_RECORDS;
}

static void count_stores(const DinRecord *records, Piece *piece) {
  for (size_t k = 0; k < piece->n_records; k++)
    piece->n_stores += records[k].label == DIN_WRITE;
}

/* Where the limit may be reached, records stay apart, so that they can be counted off. */
static void read_piece(const ReplayTeam *team, const char *text, uint32_t i, bool near_limit,
                       Piece *piece) {
  DinParser parser = {.default_bytes = team->parser.default_bytes};
  size_t used;
  DinRecord *records = records_of(team, i);
  piece->status = din_parse(&parser, text + piece->begin, piece->end - piece->begin, true, records,
                            ROUND_RECORDS, &piece->n_records, &used, NULL);
  assert(piece->status != STATUS_OK ||
         used == piece->end - piece->begin); /* ROUND_RECORDS are enough */
  piece->n_lines = parser.line;
  if (near_limit) return;
  count_stores(records, piece);
  piece->n_joined = din_join(records, piece->n_records, team->parts[0]->config.line_bytes);
}

/* Takes the pieces in their order, as one thread would have read them, up to the limit. */
static Status take(ReplayTeam *team, const char *text, bool near_limit, Piece *pieces,
                   Error *error) {
  for (uint32_t i = 0; i < team->n_threads; i++) {
    Piece *piece = &pieces[i];
    if (near_limit) {
      if (piece->n_records > team->left) piece->n_records = (size_t)team->left;
      count_stores(records_of(team, i), piece);
      piece->n_joined = piece->n_records;
    }
    if (piece->status != STATUS_OK && team->left > piece->n_records) {
      size_t n_records, used; /* again, now that the number of the line is known */
      return din_parse(&team->parser, text + piece->begin, piece->end - piece->begin, true,
                       records_of(team, i), ROUND_RECORDS, &n_records, &used, error);
    }
    team->parser.line += piece->n_lines;
    team->left -= piece->n_records;
    team->n_records += piece->n_records;
    team->n_stores += piece->n_stores;
  }
  return STATUS_OK;
}

Status replay_team_run(ReplayTeam *team, const char *text, size_t bytes, bool is_last, size_t *used,
                       Error *error) {
  const uint32_t n = team->n_threads;
  Piece pieces[REPLAY_THREADS_MAX];
  Status ran[REPLAY_THREADS_MAX];
  *used = 0;
  if (!team->left) {
    *used = bytes;
    return STATUS_OK;
  }
  const size_t round = round_bytes(text, bytes, (size_t)n * ROUND_BYTES, is_last);
  const bool near_limit = team->left <= (uint64_t)n * ROUND_RECORDS;
  cut(text, round, n, pieces);
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads((int)n) if (round > ALONE_BYTES)
#endif
  for (uint32_t i = 0; i < n; i++)
    read_piece(team, text, i, near_limit, &pieces[i]);
  const Status status = take(team, text, near_limit, pieces, error);
  if (status != STATUS_OK) return status;
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads((int)n) if (round > ALONE_BYTES)
#endif
  for (uint32_t part = 0; part < n; part++) {
    ran[part] = STATUS_OK;
    for (uint32_t i = 0; i < n && ran[part] == STATUS_OK; i++)
      ran[part] = din_replay(team->parts[part], records_of(team, i), pieces[i].n_joined, NULL);
  }
  for (uint32_t i = 0; i < n; i++)
    if (ran[i] != STATUS_OK)
      return error_set(error, ran[i], "the trace has addresses beyond those of this cache");
  *used = round;
  return STATUS_OK;
}

CacheCounts replay_team_counts(const ReplayTeam *team) {
  CacheCounts sum = {0};
  for (uint32_t part = 0; part < team->n_threads; part++)
    sum = cache_counts_add(sum, team->parts[part]->counts);
  sum.accesses = team->n_records;
  return sum;
}
