#include "sim/l2/hierarchy.h"

#include "sim/base/splitmix.h"

#include <math.h>
#include <string.h>

/* A set keeps its nodes (parts of half granules) in a ring, last used first, that begins and ends with a node of the
 * set's own. A node that comes to it pushes the last ones out until less than half of one has no room. One that is not
 * there is a ring by itself. */
typedef struct {
  uint32_t next, previous;
  uint32_t read_at; /* of a granule's first node: how many had come to the side when it was read last; 0: not read */
  uint16_t set;
  uint8_t kind;
  bool present : 1, dirty : 1;
} Node;

typedef struct {
  double bytes, room;
} Set;

#define NODES_MAX    UINT32_MAX
#define GRANULES_MAX ((uint64_t)1 << 30)
#define FEW_SETS     64   /* of fewer each has a place in every stretch */
#define SETS_MAX     1024 /* for time: smaller parts share a unit, and so a set */
/* Of a side's room: as little as time allows, for what is read again has then not come to the front (cuDNN's fabric
 * traffic at 64K tokens, 16 heads, causal: with a 64th 1.1 % more, with nothing 0.2 % less). */
#define FRESH        (1.0 / 256)
#define GOLDEN_RATIO 0.6180339887498949 /* its multiples, modulo 1, are spread most evenly */

static Set *sets_of(const Hierarchy *h, uint32_t side) {
  return (Set *)(void *)((char *)(uintptr_t)h + h->sets_offset) + side * h->n_sets;
}

static uint16_t *order_of(const Hierarchy *h) { return (uint16_t *)(void *)((char *)(uintptr_t)h + h->order_offset); }

/* Those of the sets follow those of granules. */
static Node *nodes_of(const Hierarchy *h, uint32_t side) {
  return (Node *)(void *)((char *)(uintptr_t)h + h->nodes_offset) + side * (h->n_nodes + h->n_sets);
}

static uint32_t ring_of(const Hierarchy *h, uint32_t set) { return (uint32_t)h->n_nodes + set; }

/* On each side the parts of a granule's home half follow each other, then those of the copy. */
static uint32_t home_node(const Hierarchy *h, int kind, uint64_t granule) {
  return (uint32_t)(h->first_node[kind] + 2 * h->n_parts[kind] * (granule - h->first_granule[kind]));
}

static uint32_t tensors_of(const HierarchyKind *k) { return k->n_tensors ? k->n_tensors : 1; }

static uint32_t tiles_of(const HierarchyKind *k) { return k->n_tiles ? k->n_tiles : 1; }

/* --- sizes --- */

static Status check_kinds(const HierarchyConfig *c, Hierarchy *h, Error *error) {
  for (int kind = 0; kind < HIERARCHY_KINDS; kind++) {
    const HierarchyKind *k = &c->kinds[kind];
    h->n_granules = k->n > GRANULES_MAX ? GRANULES_MAX + 1 : h->n_granules + k->n;
    if (h->n_granules > GRANULES_MAX) break;
    if (k->n && !(k->bytes > 0 && k->bytes < 1e18))
      return error_refuse(error, "hierarchy: a granule of %g bytes is not possible", k->bytes);
    if (k->n_tensors > HIERARCHY_TENSORS_MAX)
      return error_refuse(error, "hierarchy: a granule of %u tensors is not possible; 1 to %d are", k->n_tensors,
                          HIERARCHY_TENSORS_MAX);
    if (k->n_tiles > HIERARCHY_TILES_MAX)
      return error_refuse(error, "hierarchy: a granule of %u tiles is not possible; 1 to %d are", k->n_tiles,
                          HIERARCHY_TILES_MAX);
    h->n_parts[kind] = tensors_of(k) * tiles_of(k);
    h->part_bytes[kind] = k->bytes / 2 / h->n_parts[kind];
    if (k->n) h->unit_bytes = fmax(h->unit_bytes, h->part_bytes[kind]);
  }
  if (h->n_granules && h->n_granules <= GRANULES_MAX) return STATUS_OK;
  return error_refuse(error, "hierarchy: %s parts of lines; 1 to 2^30 are modelled", h->n_granules ? "too many" : "0");
}

static Status check_room(const HierarchyConfig *c, Error *error) {
  if (!(c->side_capacity_bytes > 0 && c->side_capacity_bytes < 1e18))
    return error_refuse(error, "hierarchy: a side of %g bytes is not possible", c->side_capacity_bytes);
  if (!(c->side_ways < 1e9 && fabs(c->side_ways) >= 1))
    return error_refuse(error, "hierarchy: a set of %g half parts is not possible; 1 or more is", c->side_ways);
  if (!(c->side_resident_bytes >= 0 && c->side_resident_bytes < c->side_capacity_bytes))
    return error_refuse(error, "hierarchy: %g bytes of a side of %g cannot be used all the time",
                        c->side_resident_bytes, c->side_capacity_bytes);
  return STATUS_OK;
}

static double capacity_of(const HierarchyConfig *c) { return (c->one_partition ? 2 : 1) * c->side_capacity_bytes; }

static void divide_into_sets(Hierarchy *h) {
  const HierarchyConfig *c = &h->config;
  const bool sharp = c->side_ways < 0;
  if (!sharp) h->unit_bytes = fmax(h->unit_bytes, capacity_of(c) / (c->side_ways * SETS_MAX));
  h->n_sets = sharp ? 1 : (uint32_t)fmax(floor(capacity_of(c) / (c->side_ways * h->unit_bytes) + 0.5), 1);
  h->set_bytes = capacity_of(c) / h->n_sets;
  h->fresh = sharp ? 0 : (uint32_t)fmin(FRESH * capacity_of(c) / h->unit_bytes, UINT32_MAX / 2);
  for (int kind = 0; kind < HIERARCHY_KINDS; kind++) {
    h->first_granule[kind + 1] = h->first_granule[kind] + c->kinds[kind].n;
    h->first_node[kind] = h->n_nodes;
    h->n_nodes += 2 * h->n_parts[kind] * c->kinds[kind].n;
  }
}

static uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

static Status plan(const HierarchyConfig *config, Hierarchy *h, Error *error) {
  memset(h, 0, sizeof *h);
  HierarchyConfig *c = &h->config;
  *c = *config;
  if (c->side_capacity_bytes == 0) c->side_capacity_bytes = HIERARCHY_SIDE_BYTES;
  if (c->side_ways == 0) c->side_ways = HIERARCHY_SET_LINES;
  Status status = check_room(c, error);
  if (!status) status = check_kinds(c, h, error);
  if (status) return status;
  divide_into_sets(h);
  if (h->n_nodes + h->n_sets > NODES_MAX)
    return error_refuse(error,
                        "hierarchy: too many parts of lines; in two homes, these tensors and tiles come to %.3g parts",
                        (double)h->n_nodes);
  h->sets_offset = aligned(sizeof *h);
  h->order_offset = h->sets_offset + aligned(HIERARCHY_SIDES * h->n_sets * sizeof(Set));
  h->nodes_offset = h->order_offset + aligned(h->n_sets * sizeof(uint16_t));
  h->state_bytes = h->nodes_offset + HIERARCHY_SIDES * (h->n_nodes + h->n_sets) * sizeof(Node);
  return STATUS_OK;
}

size_t hierarchy_state_bytes(const HierarchyConfig *config) {
  Hierarchy h;
  return plan(config, &h, NULL) == STATUS_OK ? (size_t)h.state_bytes : 0;
}

/* --- what lies where --- */

/* A tensor of a kind, tile by tile in the order of addresses. */
typedef struct {
  uint64_t at, stretch; /* at: tiles so far */
  uint64_t drawn;       /* of the tensor */
  double units, begin;  /* of half a tile; where the stretch begins, in units */
  uint32_t n;           /* sets in the stretch */
} Placing;

/* Up to n of what is drawn, evenly. */
static uint32_t below(uint64_t random, uint32_t n) { return (uint32_t)((random >> 32) * n >> 32); }

/* The sets that have a place in the next stretch, in any order (Fisher and Yates): all but about a fifth, others in the
 * stretch after that. */
static void draw_stretch(Hierarchy *h, Placing *p) {
  uint16_t *order = order_of(h);
  const uint64_t random = mix(p->drawn + p->stretch);
  const uint32_t none = (uint32_t)(p->stretch % HIERARCHY_STRETCHES);
  p->n = 0;
  for (uint32_t set = 0; set < h->n_sets; set++) {
    if (below(mix(p->drawn ^ set), HIERARCHY_STRETCHES) == none && h->n_sets >= FEW_SETS) continue;
    const uint32_t at = below(mix(random + set), ++p->n);
    order[p->n - 1] = order[at];
    order[at] = (uint16_t)set;
  }
  p->stretch++;
}

static Placing place_from(Hierarchy *h, uint64_t name, double units) {
  const uint64_t drawn = mix(mix(h->config.seed) + name);
  Placing p = {.drawn = drawn, .units = units, .stretch = drawn % HIERARCHY_STRETCHES};
  draw_stretch(h, &p);
  p.begin = -(double)below(mix(~drawn), p.n);
  return p;
}

static uint16_t next_set(Hierarchy *h, Placing *p) {
  const double unit = (double)p->at++ * p->units;
  while (unit >= p->begin + p->n) {
    p->begin += p->n;
    draw_stretch(h, p);
  }
  const uint32_t index = (uint32_t)(unit - p->begin); /* just before the stretch's end the difference rounds to n */
  return order_of(h)[index < p->n ? index : p->n - 1];
}

/* Tile by tile: both halves of one lie in the same set. */
static void place_tensor(Hierarchy *h, int kind, uint32_t tensor) {
  const uint32_t n_parts = h->n_parts[kind], n_tiles = tiles_of(&h->config.kinds[kind]);
  const uint64_t name = kind < 8 ? tensor * 8 + (uint64_t)kind : HIERARCHY_TENSORS_MAX * (uint64_t)kind + tensor,
                 first = h->first_node[kind] + tensor * n_tiles;
  Placing placing = place_from(h, name, h->part_bytes[kind] / h->unit_bytes);
  Node *nodes[HIERARCHY_SIDES] = {nodes_of(h, 0) + first, nodes_of(h, 1) + first};
  for (uint64_t granule = 0; granule < h->config.kinds[kind].n; granule++)
    for (uint32_t tile = 0; tile < n_tiles; tile++) {
      const uint16_t set = next_set(h, &placing);
      for (uint32_t home = 0; home < HIERARCHY_SIDES; home++) {
        const Node node = {.set = set, .kind = (uint8_t)kind};
        const uint64_t at = 2 * n_parts * granule + tile;
        nodes[home][at] = node;               /* there at home, */
        nodes[1 - home][at + n_parts] = node; /* here a copy */
      }
    }
}

/* The room of a set: in units, a whole number, up or down by turns, so that the sets together have the room of the
 * side; less the lines that are resident, by the quantiles of a Poisson distribution. */
static void empty_sets(Hierarchy *h) {
  const HierarchyConfig *c = &h->config;
  const double resident = (c->one_partition ? 2 : 1) * c->side_resident_bytes / h->n_sets,
               line = h->set_bytes / HIERARCHY_SET_LINES, mean = resident / line;
  Set *sets = sets_of(h, 0);
  double p = exp(-mean), sum = p, turn = 0; /* p: that exactly this number is taken; sum: at most this number */
  int taken = 0;
  for (uint32_t i = 0; i < h->n_sets; i++) {
    for (; sum < (i + 0.5) / h->n_sets && p > 0; sum += p) p *= mean / ++taken;
    double room = fmax(floor((h->set_bytes - taken * line) / h->unit_bytes + turn), 0) * h->unit_bytes;
    if (c->side_ways < 0) room = h->set_bytes - resident;
    turn += turn + GOLDEN_RATIO < 1 ? GOLDEN_RATIO : GOLDEN_RATIO - 1;
    const uint32_t at = (uint32_t)(mix(c->seed + i) % (i + 1)); /* shuffled: the i-th is any */
    sets[i] = sets[at];
    sets[at] = (Set){0, room};
  }
  memcpy(sets_of(h, 1), sets, h->n_sets * sizeof *sets);
  for (uint32_t side = 0; side < HIERARCHY_SIDES; side++) h->came[side] = 1;
  memset(h->n_dirty, 0, sizeof h->n_dirty);
  for (uint32_t side = 0; side < HIERARCHY_SIDES; side++)
    for (uint32_t i = 0; i < h->n_nodes + h->n_sets; i++) {
      Node *n = &nodes_of(h, side)[i];
      *n = (Node){.next = i, .previous = i, .set = n->set, .kind = n->kind};
    }
}

Status hierarchy_init(Hierarchy *hierarchy, const HierarchyConfig *config, Error *error) {
  Hierarchy planned;
  const Status status = plan(config, &planned, error);
  if (status) return status;
  *hierarchy = planned;
  for (int kind = 0; kind < HIERARCHY_KINDS; kind++)
    for (uint32_t tensor = 0; tensor < tensors_of(&config->kinds[kind]); tensor++)
      place_tensor(hierarchy, kind, tensor);
  empty_sets(hierarchy);
  return STATUS_OK;
}

void hierarchy_flush(Hierarchy *h) {
  h->counts.hbm_write_bytes += hierarchy_dirty_bytes(h);
  empty_sets(h);
}

/* --- the rings --- */

static void unlink_node(Node *nodes, const Node *n) {
  nodes[n->previous].next = n->next;
  nodes[n->next].previous = n->previous;
}

/* A side in use. */
typedef struct {
  Hierarchy *h;
  Node *nodes;
  Set *sets;
  uint32_t *came;
} Side;

static Side side_of(Hierarchy *h, uint32_t side) {
  return (Side){h, nodes_of(h, side), sets_of(h, side), &h->came[side]};
}

static void take_out(const Side *side, uint32_t node) {
  Hierarchy *h = side->h;
  Node *n = &side->nodes[node];
  if (!n->present) return;
  unlink_node(side->nodes, n);
  n->next = n->previous = node;
  side->sets[n->set].bytes -= h->part_bytes[n->kind];
  if (n->dirty) {
    h->counts.hbm_write_bytes += h->part_bytes[n->kind];
    h->n_dirty[n->kind]--;
  }
  n->present = n->dirty = false;
}

/* Nodes of a set that follow each other in its ring, from one to another, go to its front. */
static inline void move_to_front(const Side *side, Node *ring, uint32_t begin, uint32_t from, uint32_t to) {
  Node *nodes = side->nodes;
  nodes[nodes[from].previous].next = nodes[to].next;
  nodes[nodes[to].next].previous = nodes[from].previous;
  nodes[from].previous = begin;
  nodes[to].next = ring->next;
  nodes[ring->next].previous = to;
  ring->next = from;
}

/* What comes to a set pushes out what was used longest ago. */
static void come(const Side *side, const Node *ring, uint32_t node) {
  const double *part_bytes = side->h->part_bytes;
  Node *n = &side->nodes[node];
  Set *s = &side->sets[n->set];
  n->present = true;
  ++*side->came;
  s->bytes += part_bytes[n->kind];
  while (ring->previous != node && s->bytes - part_bytes[side->nodes[ring->previous].kind] / 2 > s->room)
    take_out(side, ring->previous);
}

/* Puts a node to the front of its set, wherever it was. Returns whether it was there. */
static inline bool to_front(const Side *side, uint32_t node) {
  const Node *n = &side->nodes[node];
  const uint32_t begin = ring_of(side->h, n->set);
  Node *ring = &side->nodes[begin];
  move_to_front(side, ring, begin, node, node);
  if (n->present) return true;
  come(side, ring, node);
  return false;
}

/* The same of a part and then its copy, if they are next to each other, as they mostly are. False: they are not. */
static inline bool both_to_front(const Side *side, uint32_t home, uint32_t copy) {
  if (side->nodes[copy].next != home) return false;
  const uint32_t begin = ring_of(side->h, side->nodes[home].set);
  if (side->nodes[copy].previous != begin) move_to_front(side, &side->nodes[begin], begin, copy, home);
  return true;
}

/* --- accesses --- */

HierarchyRead hierarchy_read(Hierarchy *h, uint32_t side, uint64_t granule) {
  HierarchyCounts *counts = &h->counts;
  const bool one = h->config.one_partition;
  if (one) side = 0;
  const int kind = hierarchy_kind(h, granule);
  const uint32_t n = h->n_parts[kind], home = home_node(h, kind, granule), copy = home + n;
  const double bytes = h->part_bytes[kind];
  counts->read_bytes += 2 * n * bytes;
  Node *first = &nodes_of(h, side)[home];
  if (first->read_at && h->came[side] - first->read_at < h->fresh) return (HierarchyRead){0};
  const Side own = side_of(h, side), other = side_of(h, 1 - side);
  uint32_t homes = 0, copies = 0, fars = 0; /* parts that are missing */
  for (uint32_t part = 0; part < n; part++) {
    if (both_to_front(&own, home + part, copy + part)) continue;
    homes += !to_front(&own, home + part);
    if (to_front(&own, copy + part)) continue;
    copies++;
    const bool found = !one && other.nodes[home + part].present;
    fars += !found;
    if (!one && !(found && h->config.far_renews_nothing)) to_front(&other, home + part);
  }
  first->read_at = *own.came;
  if (homes + copies == 0) return (HierarchyRead){0};
  counts->miss_bytes += (homes + copies) * bytes;
  counts->hbm_read_bytes += (homes + fars) * bytes;
  if (!one) counts->fabric_bytes += copies * bytes;
  return (HierarchyRead){.home_missing = (double)homes / n,
                         .copy_missing = (double)copies / n,
                         .far_missing = copies ? (double)fars / copies : 0};
}

void hierarchy_write(Hierarchy *h, uint32_t side, uint64_t granule) {
  const bool one = h->config.one_partition;
  const int kind = hierarchy_kind(h, granule);
  const uint32_t n = h->n_parts[kind], home = home_node(h, kind, granule), copy = home + n;
  const double bytes = h->part_bytes[kind];
  const Side sides[HIERARCHY_SIDES] = {side_of(h, 0), side_of(h, 1)};
  h->counts.write_bytes += 2 * n * bytes;
  for (uint32_t part = 0; part < n; part++) {
    const bool cold = !h->config.is_not_put_back && !sides[1 - side].nodes[home + part].present;
    if (!one) h->counts.fabric_bytes += bytes + cold * HIERARCHY_COLD_STORE * 2 * bytes;
    for (uint32_t s = 0; s < HIERARCHY_SIDES; s++) {
      const Side *at = &sides[one ? 0 : s];
      const uint32_t node = part + (one && s ? copy : home);
      to_front(at, node);
      h->n_dirty[kind] += !at->nodes[node].dirty;
      at->nodes[node].dirty = true;
      if (!one && s != side) take_out(at, copy + part); /* a copy of what has changed */
    }
    if (!one) to_front(&sides[side], copy + part);
  }
  if (!one) sides[1 - side].nodes[home].read_at = 0;
}

void hierarchy_renew(Hierarchy *h, uint32_t side, uint64_t granule) {
  const Side own = side_of(h, h->config.one_partition ? 0 : side);
  const int kind = hierarchy_kind(h, granule);
  const uint32_t n = 2 * h->n_parts[kind], first = home_node(h, kind, granule); /* halves at home, and copies */
  for (uint32_t part = 0; part < n; part++) to_front(&own, first + part);
}

uint32_t hierarchy_set(const Hierarchy *h, uint64_t granule, uint32_t part) {
  return nodes_of(h, 0)[home_node(h, hierarchy_kind(h, granule), granule) + part].set;
}

double hierarchy_set_room(const Hierarchy *h, uint32_t set) { return sets_of(h, 0)[set].room; }

double hierarchy_dirty_bytes(const Hierarchy *h) {
  double bytes = 0;
  for (int kind = 0; kind < HIERARCHY_KINDS; kind++) bytes += (double)h->n_dirty[kind] * h->part_bytes[kind];
  return bytes;
}
