/* The two-sided L2 against a slow list that is searched for every access. */
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"
#include "tests/support/hierarchy_made.h"

/* --- the slow way: each side an array of parts, last used first, of all sets --- */

enum { SLOW_MAX = 4096 };

typedef struct {
  int64_t granule;
  int at; /* of the granule's half: a tile of a tensor */
  bool is_copy, dirty;
} Part;

typedef struct {
  const Hierarchy *sets; /* says which part lies in which */
  Part parts[2][SLOW_MAX];
  int n[2];
  int came[2], read_at[2][512], fresh; /* parts that came to a side; how many of them before a granule was read last,
                                          and one; hierarchy_read says what for */
  HierarchyCounts counts;
} Slow;

static const HierarchyKind *slow_kind(const HierarchyConfig *c, int64_t granule) {
  return &c->kinds[granule >= (int64_t)c->kinds[0].n];
}
static int slow_parts(const HierarchyConfig *c, int64_t granule) {
  return (int)(slow_kind(c, granule)->n_tensors * slow_kind(c, granule)->n_tiles);
}
static double slow_part(const HierarchyConfig *c, int64_t granule) {
  return slow_kind(c, granule)->bytes / 2 / slow_parts(c, granule);
}

static uint32_t slow_set(const Slow *s, Part part) {
  return hierarchy_set(s->sets, (uint64_t)part.granule, (uint32_t)part.at);
}

static int slow_find(const Slow *s, int side, Part part) {
  for (int i = 0; i < s->n[side]; i++) {
    const Part *p = &s->parts[side][i];
    if (p->granule == part.granule && p->at == part.at && p->is_copy == part.is_copy) return i;
  }
  return SLOW_MAX;
}

static bool slow_missing(const Slow *s, int side, Part part) { return slow_find(s, side, part) == SLOW_MAX; }

static void slow_remove(Slow *s, int side, int at) {
  if (at == SLOW_MAX) return;
  s->n[side]--;
  memmove(s->parts[side] + at, s->parts[side] + at + 1, (size_t)(s->n[side] - at) * sizeof(Part));
}

/* The last of a set goes as long as less than half of it has room beside the others; the first stays. */
static void slow_settle(const HierarchyConfig *c, Slow *s, int side, uint32_t set) {
  for (;;) {
    double bytes = 0;
    int n = 0, last = 0;
    for (int i = 0; i < s->n[side]; i++) {
      if (slow_set(s, s->parts[side][i]) != set) continue;
      bytes += slow_part(c, s->parts[side][i].granule);
      last = i, n++;
    }
    const Part part = s->parts[side][last];
    if (n < 2 || bytes - slow_part(c, part.granule) / 2 <= hierarchy_set_room(s->sets, set)) return;
    if (part.dirty) s->counts.hbm_write_bytes += slow_part(c, part.granule);
    slow_remove(s, side, last);
  }
}

static void slow_front(const HierarchyConfig *c, Slow *s, int side, Part part) {
  const int at = slow_find(s, side, part);
  if (at != SLOW_MAX) part.dirty |= s->parts[side][at].dirty;
  slow_remove(s, side, at);
  memmove(s->parts[side] + 1, s->parts[side], (size_t)s->n[side]++ * sizeof part);
  s->parts[side][0] = part;
  if (at != SLOW_MAX) return;
  s->came[side]++;
  slow_settle(c, s, side, slow_set(s, part));
}

static void slow_read(const HierarchyConfig *c, Slow *s, int side, int64_t granule) {
  const double bytes = slow_part(c, granule);
  int *read_at = &s->read_at[side][granule];
  s->counts.read_bytes += slow_kind(c, granule)->bytes;
  if (*read_at && s->came[side] - (*read_at - 1) < s->fresh) return;
  for (int at = 0; at < slow_parts(c, granule); at++) {
    const Part home = {granule, at, false, false}, copy = {granule, at, true, false};
    const bool no_home = slow_missing(s, side, home);
    slow_front(c, s, side, home);
    const bool no_copy = slow_missing(s, side, copy);
    slow_front(c, s, side, copy);
    s->counts.miss_bytes += (no_home + no_copy) * bytes;
    s->counts.fabric_bytes += no_copy * bytes;
    s->counts.hbm_read_bytes += no_home * bytes;
    if (!no_copy) continue;
    const bool far = slow_missing(s, 1 - side, home);
    if (far || !c->far_renews_nothing) slow_front(c, s, 1 - side, home);
    s->counts.hbm_read_bytes += far * bytes;
  }
  *read_at = s->came[side] + 1;
}

/* Both homes take their half; the other side's copy is dropped, one stays on the own side. */
static void slow_write(const HierarchyConfig *c, Slow *s, int own, int64_t granule) {
  for (int at = 0; at < slow_parts(c, granule); at++) {
    const Part home = {granule, at, false, true}, copy = {granule, at, true, false};
    s->counts.fabric_bytes +=
        slow_part(c, granule) * (1 + (c->is_not_put_back ? 0 : 0.1) *
                                         slow_missing(s, 1 - own, home)); /* the first time 5 % of the whole more */
    for (int side = 0; side < 2; side++) {
      slow_front(c, s, side, home);
      if (side != own) slow_remove(s, side, slow_find(s, side, copy));
    }
    slow_front(c, s, own, copy);
  }
  s->read_at[1 - own][granule] = 0;
  s->counts.write_bytes += slow_kind(c, granule)->bytes;
}

TEST(random_accesses_count_like_the_slow_lists) {
  Rand r = {31};
  Slow *slow = malloc(sizeof *slow);
  for (int round = 0; round < 60 / ONE_OF; round++) {
    const HierarchyConfig c = {
        .kinds = {{(uint64_t)rand_in(&r, 1, 200), 1024, (uint32_t)rand_in(&r, 1, 2), 1u << rand_in(&r, 0, 2)},
                  {(uint64_t)rand_in(&r, 0, 200), round % 5 ? 1536 : 20480, (uint32_t)rand_in(&r, 1, 2),
                   1u << rand_in(&r, 0, 2)}},
        .side_capacity_bytes = 512.0 * (double)rand_in(&r, 20, 300),
        .side_ways = round % 6 ? (double)rand_in(&r, 1, 24) : -1,
        .seed = (uint64_t)round,
        .is_not_put_back = round % 4 == 0,
        .far_renews_nothing = round % 3 == 0};
    Hierarchy *h = make(&c);
    memset(slow, 0, sizeof *slow);
    slow->sets = h;
    const double largest = fmax(slow_part(&c, 0), c.kinds[1].n ? slow_part(&c, (int64_t)c.kinds[0].n) : 0);
    slow->fresh = c.side_ways < 0 ? 0 : (int)(c.side_capacity_bytes / largest / 256);
    int64_t granule = 0;
    double bytes = 0;
    for (int i = 0; i < 1500; i++) {
      const int64_t n = (int64_t)(c.kinds[0].n + c.kinds[1].n);
      granule = rand_in(&r, 0, 3) ? (granule + 1) % n : rand_in(&r, 0, n - 1);
      bytes += slow_kind(&c, granule)->bytes;
      const int side = (int)rand_in(&r, 0, 1);
      if (rand_in(&r, 0, 4)) {
        hierarchy_read(h, (uint32_t)side, (uint64_t)granule);
        slow_read(&c, slow, side, granule);
      } else {
        hierarchy_write(h, (uint32_t)side, (uint64_t)granule);
        slow_write(&c, slow, side, granule);
      }
      assert_true(near(h->counts.miss_bytes, slow->counts.miss_bytes));
      assert_true(near(h->counts.fabric_bytes, slow->counts.fabric_bytes));
      assert_true(near(h->counts.hbm_read_bytes, slow->counts.hbm_read_bytes));
      assert_true(near(h->counts.hbm_write_bytes, slow->counts.hbm_write_bytes));
    }
    assert_true(near(h->counts.read_bytes + h->counts.write_bytes, bytes));
    double dirty = 0;
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < slow->n[side]; i++)
        if (slow->parts[side][i].dirty) dirty += slow_part(&c, slow->parts[side][i].granule);
    assert_true(near(hierarchy_dirty_bytes(h), dirty));
    free(h);
  }
  free(slow);
}

TEST(a_copy_goes_on_as_the_original_does) {
  const HierarchyConfig c = {.kinds = {{300, 1024}}, .side_capacity_bytes = 65536, .side_ways = 8};
  const size_t bytes = hierarchy_state_bytes(&c);
  Hierarchy *h = make(&c), *bookmark = malloc(bytes);
  Rand r = {2};
  for (int i = 0; i < 3000; i++) {
    if (i == 1000) memcpy(bookmark, h, bytes);
    const uint64_t granule = (uint64_t)rand_in(&r, 0, 299);
    const uint32_t side = (uint32_t)rand_in(&r, 0, 1);
    for (int k = 0; k < (i >= 1000 ? 2 : 1); k++)
      if (i % 4)
        hierarchy_read(k ? bookmark : h, side, granule);
      else
        hierarchy_write(k ? bookmark : h, side, granule);
  }
  assert_memory_equal(h, bookmark, bytes);
  free(h);
  free(bookmark);
}
