#include "sim/hierarchy.h"

#include <math.h>
#include <string.h>

/* A side keeps its nodes (half granules) in a list, last used first. Edges mark places in that
 * list; the zone of a node is how many edges lie before it, and says which part of it is still
 * there. Moving a node to the front pushes one node over each edge that it came from behind of, so
 * an access costs as many steps as its node had zones. */
typedef struct {
  uint32_t next, previous;
  uint8_t zone; /* 0 .. HIERARCHY_EDGES; ABSENT: not in the list */
  uint8_t dirty;
} Node;

enum { ABSENT = HIERARCHY_EDGES + 1, MIDDLE_EDGE = HIERARCHY_EDGES / 2 };

#define NONE      UINT32_MAX
#define MIB       (1024.0 * 1024.0)
#define EDGE_STEP 0.5 /* standard deviations between edges: from -2.5 to 2.5 */
#define NODES_MAX ((uint64_t)1 << 31)

static Node *nodes_of(Hierarchy *h, uint32_t side) {
  return (Node *)(void *)((char *)h + h->nodes_offset) + side * h->n_nodes;
}

static uint64_t home_node(uint64_t granule) {
  return 2 * granule;
}
static uint64_t copy_node(uint64_t granule) {
  return 2 * granule + 1;
}

static Status plan(const HierarchyConfig *config, Hierarchy *h, Error *error) {
  memset(h, 0, sizeof *h);
  HierarchyConfig *c = &h->config;
  *c = *config;
  if (!c->granule_bytes) c->granule_bytes = 16384;
  if (c->side_capacity_bytes == 0) c->side_capacity_bytes = 31.1 * MIB;
  if (c->side_knee_bytes == 0) c->side_knee_bytes = 1.36 * MIB;
  if (!c->n_granules || c->n_granules > NODES_MAX / 2)
    return error_set(error, STATUS_BAD_REQUEST, "hierarchy: %llu granules; 1 to 2^30 are modelled",
                     (unsigned long long)c->n_granules);
  if (c->granule_bytes % 2 || !(c->side_knee_bytes > 0) ||
      !(c->side_capacity_bytes - 2.5 * c->side_knee_bytes >= (double)c->granule_bytes))
    return error_set(error, STATUS_BAD_REQUEST,
                     "hierarchy: granules of %llu bytes need to be even and to fit a side well "
                     "(%.0f bytes, knee %.0f)",
                     (unsigned long long)c->granule_bytes, c->side_capacity_bytes,
                     c->side_knee_bytes);
  const double scale = c->one_partition ? 2 : 1;
  h->half_bytes = (double)c->granule_bytes / 2;
  h->n_nodes = 2 * c->n_granules;
  for (int i = 0; i < HIERARCHY_EDGES; i++) {
    const double z = EDGE_STEP * (i - MIDDLE_EDGE);
    h->edges[i] =
        (uint64_t)(scale * (c->side_capacity_bytes + z * c->side_knee_bytes) / h->half_bytes);
    h->kept[i] =
        i == 0 ? 1 : 0.5 * erfc((z - EDGE_STEP / 2) / sqrt(2)); /* at the middle of the zone */
  }
  h->nodes_offset = (sizeof *h + 63) / 64 * 64;
  h->state_bytes = h->nodes_offset + HIERARCHY_SIDES * h->n_nodes * sizeof(Node);
  return STATUS_OK;
}

size_t hierarchy_state_bytes(const HierarchyConfig *config) {
  Hierarchy h;
  return plan(config, &h, NULL) == STATUS_OK ? (size_t)h.state_bytes : 0;
}

Status hierarchy_init(Hierarchy *hierarchy, const HierarchyConfig *config, Error *error) {
  Hierarchy planned;
  const Status status = plan(config, &planned, error);
  if (status != STATUS_OK) return status;
  *hierarchy = planned;
  for (uint32_t side = 0; side < HIERARCHY_SIDES; side++) {
    hierarchy->sides[side].first = hierarchy->sides[side].last = NONE;
    Node *nodes = nodes_of(hierarchy, side);
    memset(nodes, 0, (size_t)hierarchy->n_nodes * sizeof *nodes);
    for (uint64_t i = 0; i < hierarchy->n_nodes; i++)
      nodes[i].zone = ABSENT;
  }
  return STATUS_OK;
}

/* --- one side's list --- */

static void unlink_node(Hierarchy *h, uint32_t side, uint32_t node) {
  Node *nodes = nodes_of(h, side), *n = &nodes[node];
  if (n->previous == NONE)
    h->sides[side].first = n->next;
  else
    nodes[n->previous].next = n->next;
  if (n->next == NONE)
    h->sides[side].last = n->previous;
  else
    nodes[n->next].previous = n->previous;
  h->sides[side].n--;
}

static void write_back(Hierarchy *h, Node *node) {
  if (node->dirty) h->counts.hbm_write_bytes += h->half_bytes;
  node->dirty = 0;
}

/* The last node before edge `e` falls behind it. */
static void push_over(Hierarchy *h, uint32_t side, int e) {
  Node *nodes = nodes_of(h, side);
  const uint32_t pushed = h->sides[side].last_inside[e];
  h->sides[side].last_inside[e] = nodes[pushed].previous;
  nodes[pushed].zone++;
  if (e == MIDDLE_EDGE) write_back(h, &nodes[pushed]);
  if (e == HIERARCHY_EDGES - 1) {
    unlink_node(h, side, pushed);
    nodes[pushed].zone = ABSENT;
  }
}

/* Takes a node out of the list and closes up: the first node behind each later edge comes inside.
 */
static void take_out(Hierarchy *h, uint32_t side, uint32_t node) {
  Node *nodes = nodes_of(h, side);
  for (int e = nodes[node].zone; e < HIERARCHY_EDGES; e++) {
    uint32_t *inside = &h->sides[side].last_inside[e];
    if (h->sides[side].n < h->edges[e]) break; /* this edge is not reached */
    const uint32_t comes = *inside == node ? nodes[node].next : nodes[*inside].next;
    if (comes == NONE)
      *inside = NONE;
    else {
      *inside = comes;
      nodes[comes].zone--;
    }
  }
  unlink_node(h, side, node);
  nodes[node].zone = ABSENT;
}

/* Puts a node to the front, wherever it was; what lies before its old place moves one back. */
static void to_front(Hierarchy *h, uint32_t side, uint32_t node) {
  Node *nodes = nodes_of(h, side), *n = &nodes[node];
  if (h->sides[side].first == node) return;
  const bool was_there = n->zone != ABSENT;
  const int edges_crossed = was_there ? n->zone : HIERARCHY_EDGES;
  if (was_there) {
    for (int e = n->zone; e < HIERARCHY_EDGES && h->sides[side].n >= h->edges[e]; e++)
      if (h->sides[side].last_inside[e] == node) h->sides[side].last_inside[e] = n->previous;
    unlink_node(h, side, node);
  }
  n->previous = NONE;
  n->next = h->sides[side].first;
  if (n->next == NONE)
    h->sides[side].last = node;
  else
    nodes[n->next].previous = node;
  h->sides[side].first = node;
  h->sides[side].n++;
  n->zone = 0;
  for (int e = 0; e < edges_crossed; e++) {
    if (h->sides[side].n < h->edges[e]) break;
    if (!was_there && h->sides[side].n == h->edges[e]) {
      h->sides[side].last_inside[e] = h->sides[side].last; /* just reached */
      continue;
    }
    push_over(h, side, e);
  }
}

static double part_there(Hierarchy *h, uint32_t side, uint64_t node) {
  const uint8_t zone = nodes_of(h, side)[node].zone;
  return zone < HIERARCHY_EDGES ? h->kept[zone] : 0; /* behind the last edge: gone */
}

/* --- accesses --- */

/* A part that stands for less than a line in a half granule of 8 KiB is nothing. */
static double missing(double there) {
  return there > 1 - 1.0 / 64 ? 0 : 1 - there;
}

HierarchyRead hierarchy_read(Hierarchy *h, uint32_t side, uint64_t granule) {
  const uint32_t far = 1 - side, home = (uint32_t)home_node(granule),
                 copy = (uint32_t)copy_node(granule);
  HierarchyCounts *counts = &h->counts;
  HierarchyRead read = {0};
  counts->read_bytes += 2 * h->half_bytes;
  if (h->config.one_partition) side = 0;
  read.home_missing = missing(part_there(h, side, home));
  to_front(h, side, home);
  read.copy_missing = missing(part_there(h, side, copy));
  to_front(h, side, copy);
  counts->miss_bytes += (read.home_missing + read.copy_missing) * h->half_bytes;
  counts->hbm_read_bytes += read.home_missing * h->half_bytes;
  if (h->config.one_partition) {
    counts->hbm_read_bytes += read.copy_missing * h->half_bytes;
    read.far_missing = 1;
  } else if (read.copy_missing > 0) {
    read.far_missing = missing(part_there(h, far, home));
    if (read.far_missing > 0.5 || h->config.far_requests_renew) to_front(h, far, home);
    counts->fabric_bytes += read.copy_missing * h->half_bytes;
    counts->hbm_read_bytes += read.copy_missing * read.far_missing * h->half_bytes;
  }
  return read;
}

void hierarchy_write(Hierarchy *h, uint32_t side, uint64_t granule) {
  h->counts.write_bytes += 2 * h->half_bytes;
  if (!h->config.one_partition) h->counts.fabric_bytes += h->half_bytes;
  for (uint32_t s = 0; s < HIERARCHY_SIDES; s++) {
    const uint32_t at = h->config.one_partition ? 0 : s;
    const uint32_t node =
        (uint32_t)(h->config.one_partition && s ? copy_node(granule) : home_node(granule));
    Node *nodes = nodes_of(h, at);
    to_front(h, at, node);
    nodes[node].dirty = 1;
    if (!h->config.one_partition && nodes[copy_node(granule)].zone != ABSENT)
      take_out(h, s, (uint32_t)copy_node(granule)); /* a copy of what has changed */
  }
  (void)side;
}
