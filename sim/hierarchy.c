#include "sim/hierarchy.h"

#include <math.h>
#include <string.h>

/* A side keeps its nodes (half granules) in a list, last used first. Edges mark places in that
 * list, in bytes from its front; the zone of a node is how many edges lie before it, and says which
 * part of it is still there. A node that comes to the front adds its bytes inside each edge that it
 * came from behind of, and pushes the last ones there over it: a hit near the front costs nothing
 * but the move, a miss as many steps as there are edges. */
typedef struct {
  uint32_t next, previous;
  uint8_t zone; /* 0 .. HIERARCHY_EDGES - 1; ABSENT: not in the list */
  uint8_t kind;
  uint8_t dirty;
} Node;

enum { ABSENT = HIERARCHY_EDGES, MIDDLE_EDGE = HIERARCHY_EDGES / 2 };

#define NONE         UINT32_MAX
#define MIB          (1024.0 * 1024.0)
#define EDGE_STEP    0.5 /* standard deviations between edges: from -2.5 to 2.5 */
#define GRANULES_MAX ((uint64_t)1 << 30)
#define LINE_PART    (1.0 / 64) /* less than a line of a half granule of 8 KiB is nothing */

static Node *nodes_of(const Hierarchy *h, uint32_t side) {
  return (Node *)(void *)((char *)(uintptr_t)h + h->nodes_offset) + side * h->n_nodes;
}

static uint32_t home_node(uint64_t granule) {
  return (uint32_t)(2 * granule);
}
static uint32_t copy_node(uint64_t granule) {
  return (uint32_t)(2 * granule + 1);
}

static Status check_kinds(const HierarchyConfig *c, Hierarchy *h, Error *error) {
  for (int kind = 0; kind < HIERARCHY_KINDS; kind++) {
    const HierarchyKind *k = &c->kinds[kind];
    h->n_granules = k->n > GRANULES_MAX ? GRANULES_MAX + 1 : h->n_granules + k->n;
    if (h->n_granules > GRANULES_MAX) break;
    h->half_bytes[kind] = k->bytes / 2;
    if (k->n && !(k->bytes > 0 && k->bytes < 1e18))
      return error_set(error, STATUS_BAD_REQUEST, "hierarchy: a granule of %g bytes is not possible", k->bytes);
  }
  if (h->n_granules && h->n_granules <= GRANULES_MAX) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "hierarchy: %s granules; 1 to 2^30 are modelled",
                   h->n_granules ? "too many" : "0");
}

static Status plan(const HierarchyConfig *config, Hierarchy *h, Error *error) {
  memset(h, 0, sizeof *h);
  HierarchyConfig *c = &h->config;
  *c = *config;
  if (c->side_capacity_bytes == 0) c->side_capacity_bytes = 31.1 * MIB;
  if (c->side_knee_bytes == 0) c->side_knee_bytes = 1.36 * MIB;
  if (c->side_knee_bytes < 0) c->side_knee_bytes = 0;
  if (!(c->side_capacity_bytes - 2.5 * c->side_knee_bytes > 0))
    return error_set(error, STATUS_BAD_REQUEST,
                     "hierarchy: a side of %.0f bytes with a knee of %.0f is not possible; the knee must be less than 0.4 of it",
                     c->side_capacity_bytes, c->side_knee_bytes);
  const double scale = c->one_partition ? 2 : 1;
  for (int i = 0; i < HIERARCHY_EDGES; i++) {
    const double z = EDGE_STEP * (i - MIDDLE_EDGE);
    h->edges[i] = scale * (c->side_capacity_bytes + z * c->side_knee_bytes);
    h->kept[i] =
        i == 0 ? 1 : 0.5 * erfc((z - EDGE_STEP / 2) / sqrt(2)); /* at the middle of the zone */
    if (h->kept[i] > 1 - LINE_PART) h->kept[i] = 1;
  }
  const Status status = check_kinds(c, h, error);
  if (status) return status;
  h->n_nodes = 2 * h->n_granules;
  h->nodes_offset = (sizeof *h + 63) / 64 * 64;
  h->state_bytes = h->nodes_offset + HIERARCHY_SIDES * h->n_nodes * sizeof(Node);
  return STATUS_OK;
}

size_t hierarchy_state_bytes(const HierarchyConfig *config) {
  Hierarchy h;
  return plan(config, &h, NULL) == STATUS_OK ? (size_t)h.state_bytes : 0;
}

static void empty(Hierarchy *hierarchy) {
  for (uint32_t side = 0; side < HIERARCHY_SIDES; side++) {
    hierarchy->sides[side].first = NONE;
    for (int e = 0; e < HIERARCHY_EDGES; e++)
      hierarchy->sides[side].last_inside[e] = NONE;
    Node *node = nodes_of(hierarchy, side);
    for (int kind = 0; kind < HIERARCHY_KINDS; kind++)
      for (uint64_t i = 0; i < 2 * hierarchy->config.kinds[kind].n; i++)
        *node++ = (Node){NONE, NONE, ABSENT, (uint8_t)kind, 0};
    for (int e = 0; e < HIERARCHY_EDGES; e++)
      hierarchy->sides[side].inside_bytes[e] = 0;
  }
}

Status hierarchy_init(Hierarchy *hierarchy, const HierarchyConfig *config, Error *error) {
  Hierarchy planned;
  const Status status = plan(config, &planned, error);
  if (status != STATUS_OK) return status;
  *hierarchy = planned;
  empty(hierarchy);
  return STATUS_OK;
}

void hierarchy_flush(Hierarchy *hierarchy) {
  hierarchy->counts.hbm_write_bytes += hierarchy_dirty_bytes(hierarchy);
  empty(hierarchy);
}

/* --- one side's list --- */

/* Out of the list. Nothing comes back inside an edge: what has fallen out is gone. */
static void take_out(Hierarchy *h, uint32_t side, uint32_t node) {
  Node *nodes = nodes_of(h, side), *n = &nodes[node];
  for (int e = n->zone; e < HIERARCHY_EDGES; e++) {
    h->sides[side].inside_bytes[e] -= h->half_bytes[n->kind];
    if (h->sides[side].last_inside[e] == node) h->sides[side].last_inside[e] = n->previous;
  }
  if (n->previous == NONE)
    h->sides[side].first = n->next;
  else
    nodes[n->previous].next = n->next;
  if (n->next != NONE) nodes[n->next].previous = n->previous;
  n->zone = ABSENT;
}

/* The last node before edge `e` falls behind it. */
static void push_over(Hierarchy *h, uint32_t side, int e) {
  Node *nodes = nodes_of(h, side), *pushed = &nodes[h->sides[side].last_inside[e]];
  const double bytes = h->half_bytes[pushed->kind];
  h->sides[side].last_inside[e] = pushed->previous;
  h->sides[side].inside_bytes[e] -= bytes;
  pushed->zone++;
  if (e == MIDDLE_EDGE && pushed->dirty) {
    h->counts.hbm_write_bytes += bytes;
    pushed->dirty = 0;
  }
  if (e < HIERARCHY_EDGES - 1) return;
  if (pushed->previous == NONE)
    h->sides[side].first = NONE;
  else
    nodes[pushed->previous].next = NONE;
}

/* Puts a node to the front, wherever it was. */
static void to_front(Hierarchy *h, uint32_t side, uint32_t node) {
  Node *nodes = nodes_of(h, side), *n = &nodes[node];
  const uint32_t first = h->sides[side].first;
  if (first == node) return;
  const int zone = n->zone;
  for (int e = zone; e < HIERARCHY_EDGES && h->sides[side].last_inside[e] == node; e++)
    h->sides[side].last_inside[e] = n->previous;
  if (zone != ABSENT) {
    nodes[n->previous].next = n->next;
    if (n->next != NONE) nodes[n->next].previous = n->previous;
  }
  n->previous = NONE;
  n->next = first;
  n->zone = 0;
  if (first != NONE) nodes[first].previous = node;
  h->sides[side].first = node;
  for (int e = 0; e < zone; e++) {
    if (h->sides[side].last_inside[e] == NONE) h->sides[side].last_inside[e] = node;
    h->sides[side].inside_bytes[e] += h->half_bytes[n->kind];
    while (h->sides[side].inside_bytes[e] > h->edges[e] && h->sides[side].last_inside[e] != NONE)
      push_over(h, side, e);
  }
}

/* --- accesses --- */

HierarchyRead hierarchy_read(Hierarchy *h, uint32_t side, uint64_t granule) {
  HierarchyCounts *counts = &h->counts;
  HierarchyRead read = {0};
  if (h->config.one_partition) side = 0;
  Node *nodes = nodes_of(h, side);
  const uint32_t far = 1 - side, home = home_node(granule), copy = copy_node(granule);
  const double half = h->half_bytes[nodes[home].kind];
  counts->read_bytes += 2 * half;
  if (h->sides[side].first == copy && nodes[copy].next == home && nodes[home].zone == 0) return read; /* just asked for */
  read.home_missing = 1 - h->kept[nodes[home].zone];
  to_front(h, side, home);
  read.copy_missing = 1 - h->kept[nodes[copy].zone];
  to_front(h, side, copy);
  if (read.home_missing + read.copy_missing <= 0) return read;
  counts->miss_bytes += (read.home_missing + read.copy_missing) * half;
  counts->hbm_read_bytes += read.home_missing * half;
  if (h->config.one_partition) {
    counts->hbm_read_bytes += read.copy_missing * half;
    read.far_missing = 1;
  } else if (read.copy_missing > 0) {
    read.far_missing = 1 - h->kept[nodes_of(h, far)[home].zone];
    if (read.far_missing > 0.5 || h->config.far_requests_renew) to_front(h, far, home);
    counts->fabric_bytes += read.copy_missing * half;
    counts->hbm_read_bytes += read.copy_missing * read.far_missing * half;
  }
  return read;
}

void hierarchy_write(Hierarchy *h, uint32_t side, uint64_t granule) {
  const bool one = h->config.one_partition;
  const double half = hierarchy_granule_bytes(h, granule) / 2;
  h->counts.write_bytes += 2 * half;
  const double cold = 1 - h->kept[nodes_of(h, 1 - side)[home_node(granule)].zone];
  if (!one) h->counts.fabric_bytes += half + cold * HIERARCHY_COLD_STORE * 2 * half;
  for (uint32_t s = 0; s < HIERARCHY_SIDES; s++) {
    const uint32_t at = one ? 0 : s;
    const uint32_t node = one && s ? copy_node(granule) : home_node(granule);
    Node *nodes = nodes_of(h, at);
    to_front(h, at, node);
    nodes[node].dirty = 1;
    if (!one && s != side && nodes[copy_node(granule)].zone != ABSENT)
      take_out(h, s, copy_node(granule)); /* a copy of what has changed */
  }
  if (!one) to_front(h, side, copy_node(granule));
}

double hierarchy_granule_bytes(const Hierarchy *h, uint64_t granule) {
  return 2 * h->half_bytes[nodes_of(h, 0)[home_node(granule)].kind];
}

double hierarchy_dirty_bytes(const Hierarchy *h) {
  double bytes = 0;
  for (uint32_t side = 0; side < HIERARCHY_SIDES; side++) {
    const Node *nodes = nodes_of(h, side);
    for (uint64_t i = 0; i < h->n_nodes; i++)
      if (nodes[i].dirty) bytes += h->half_bytes[nodes[i].kind];
  }
  return bytes;
}
