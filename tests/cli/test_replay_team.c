/* A trace on several cores: whatever the number of threads, the counts, the limit and the mistakes
 * are those of one parser before one cache. */
#include "tests/support/test.h"
#include "tests/support/rand.h"
#include "viz/cli/replay/replay_team.h"

enum { TEXT_BYTES = 1 << 21 };
static char text[TEXT_BYTES + 1];
static size_t length;

/* --- text --- */

static void put(const char *line) {
  const size_t bytes = strlen(line);
  assert_true(length + bytes <= TEXT_BYTES);
  memcpy(text + length, line, bytes);
  length += bytes;
}

/* Runs of lines as tiles make them, scattered accesses, parts of sectors, comments, blank lines. */
static void random_text(Rand *r, int n_lines) {
  length = 0;
  uint64_t address = 0, bytes = 128;
  DinLabel label = DIN_READ;
  while (n_lines-- > 0) {
    char line[DIN_TEXT_BYTES];
    switch (rand_in(r, 0, 39)) {
    case 0: put("# a comment\n"); continue;
    case 1: put("\n"); continue;
    case 2: /* somewhere else */
      address = (uint64_t)rand_in(r, 0, 1 << 15) * 128;
      bytes = 128;
      label = rand_in(r, 0, 3) ? DIN_READ : DIN_WRITE;
      break;
    case 3:
      address = (uint64_t)rand_in(r, 0, 1 << 22);
      bytes = (uint64_t)rand_in(r, 1, 300);
      break;
    default: address += bytes; break;
    }
    const DinRecord record = {address, (uint32_t)bytes, label};
    line[din_print(&record, line)] = '\0';
    put(line);
  }
}

/* --- one parser, one cache --- */

static CacheState *run_alone(const CacheConfig *config, uint64_t limit) {
  CacheState *cache;
  assert_int_equal(cache_new(&cache, config, NULL), STATUS_OK);
  DinParser parser = {0};
  for (size_t at = 0, n, used; at < length && limit; at += used, limit -= n) {
    DinRecord record;
    assert_int_equal(din_parse(&parser, text + at, length - at, true, &record, 1, &n, &used, NULL), STATUS_OK);
    if (n) cache_access(cache, record.address, record.size_bytes, record.label == DIN_WRITE);
  }
  return cache;
}

/* Feeds the text in pieces as a reader does, `piece` bytes more each time. */
static Status run_team(ReplayTeam *team, const CacheConfig *config, uint32_t n_threads, uint64_t limit, size_t piece,
                       Error *error) {
  assert_int_equal(replay_team_init(team, config, n_threads, 0, limit, NULL), STATUS_OK);
  Status status = STATUS_OK;
  for (size_t begin = 0, end = 0; status == STATUS_OK && begin < length;) {
    end = length - end < piece ? length : end + piece;
    for (size_t used = 1; status == STATUS_OK && used && begin < end; begin += used)
      status = replay_team_run(team, text + begin, end - begin, end == length, &used, error);
  }
  return status;
}

static void assert_same(const ReplayTeam *team, const CacheState *alone) {
  const CacheCounts counts = replay_team_counts(team);
  assert_memory_equal(&counts, &alone->counts, sizeof counts);
}

TEST(any_number_of_threads_counts_the_same) {
  Rand r = {6};
  for (int round = 0; round < 12; round++) {
    random_text(&r, round < 4 ? 200 : (int)rand_in(&r, 1, 120000));
    const CacheConfig config = {.size_bytes = 1 << 18,
                                .index = (CacheIndex)(round % 3),
                                .policy = (CachePolicy)(round / 3 % 3),
                                .address_bits = 64};
    CacheState *alone = run_alone(&config, UINT64_MAX);
    for (uint32_t n = 1; n <= 5; n++) {
      ReplayTeam team;
      const size_t piece = (size_t)rand_in(&r, round < 4 ? 1 : 40000, TEXT_BYTES);
      assert_int_equal(run_team(&team, &config, n, UINT64_MAX, piece, NULL), STATUS_OK);
      assert_same(&team, alone);
      replay_team_free(&team);
    }
    free(alone);
  }
}

/* Every record of the text is a place to stop. */
TEST(a_limit_stops_after_that_record) {
  Rand r = {9};
  const CacheConfig config = {.size_bytes = 1 << 18, .address_bits = 64};
  random_text(&r, 90000);
  put("no record, and never read");
  for (int i = 0; i < 12; i++) {
    const uint64_t limit = (uint64_t)(i < 4 ? i + 1 : rand_in(&r, 1, 84000));
    CacheState *alone = run_alone(&config, limit);
    for (uint32_t n = 1; n <= 3; n++) {
      ReplayTeam team;
      assert_int_equal(run_team(&team, &config, n, limit, 300000, NULL), STATUS_OK);
      assert_int_equal(team.n_records, limit);
      assert_same(&team, alone);
      replay_team_free(&team);
    }
    free(alone);
  }
}

/* The first mistake is the one that is named, by its line in the whole trace. */
TEST(a_mistake_has_its_line_number) {
  Rand r = {10};
  const CacheConfig config = {.size_bytes = 1 << 18, .address_bits = 64};
  for (int round = 0; round < 10; round++) {
    char says[64];
    Error error = {0};
    ReplayTeam team;
    int n_lines = 0;
    random_text(&r, (int)rand_in(&r, 0, 60000));
    for (size_t i = 0; i < length; i++) n_lines += text[i] == '\n';
    put("0 0\n7 0\n");
    for (int i = (int)rand_in(&r, 0, 30000); i > 0; i--) put("8 0\n");
    snprintf(says, sizeof says, "trace line %d: '7' is no label", n_lines + 2);
    assert_int_equal(run_team(&team, &config, (uint32_t)(round % 4 + 1), UINT64_MAX, 500000, &error), STATUS_BAD_FILE);
    if (strncmp(error.message, says, strlen(says)) != 0) fail_msg("%s", error.message);
    replay_team_free(&team);
  }
}

/* A line that never ends is refused, not waited for; the last line needs no newline. */
TEST(ends_of_text) {
  const CacheConfig config = {.size_bytes = 1 << 18, .address_bits = 64};
  for (uint32_t n = 1; n <= 4; n++) {
    ReplayTeam team;
    Error error = {0};
    length = 0;
    put("0 0\n0 80\n0 100");
    for (size_t piece = 1; piece <= length; piece++) {
      assert_int_equal(run_team(&team, &config, n, UINT64_MAX, piece, NULL), STATUS_OK);
      assert_int_equal(team.n_records, 3);
      replay_team_free(&team);
    }
    memset(text + length, ' ', 100000);
    length += 100000;
    assert_int_equal(run_team(&team, &config, n, UINT64_MAX, 5000, &error), STATUS_BAD_FILE);
    assert_non_null(strstr(error.message, "trace line 3: more than 1024 characters"));
    replay_team_free(&team);
  }
}

/* The shortest records there are, 4 characters each: a round has room for all of them. */
TEST(the_shortest_lines_fit_a_round) {
  const CacheConfig config = {.size_bytes = 1 << 18, .address_bits = 64};
  length = 0;
  while (length + 4 <= TEXT_BYTES) put("0 0\n");
  for (uint32_t n = 1; n <= 3; n++) {
    ReplayTeam team;
    assert_int_equal(run_team(&team, &config, n, UINT64_MAX, TEXT_BYTES, NULL), STATUS_OK);
    assert_int_equal(replay_team_counts(&team).accesses, TEXT_BYTES / 4);
    assert_int_equal(replay_team_counts(&team).line_misses, 1);
    replay_team_free(&team);
  }
}

TEST(threads_follow_the_sets) {
  assert_int_equal(replay_team_threads(&(CacheConfig){.size_bytes = 2048}), 1);
  assert_int_equal(replay_team_threads(&(CacheConfig){.policy = CACHE_RANDOM}), 1);
  const uint32_t n = replay_team_threads(&(CacheConfig){0});
  assert_true(n >= 1 && n <= REPLAY_THREADS_MAX);
}
