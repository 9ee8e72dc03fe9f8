/* Shared by the files that draw the hierarchy (draw_hierarchy). */
#ifndef TILEWALK_VIZ_SCENE_HIERARCHY_VIEW_H
#define TILEWALK_VIZ_SCENE_HIERARCHY_VIEW_H

#include "viz/scene/pen.h"

/* Where things are drawn, for what travels between them. */
typedef struct {
  Box home[VALUES_MAX]; /* the matrices in HBM */
  Box slot[VALUES_MAX]; /* places on chip, by index of snapshot.slots */
  Box l2;
  Box link[2],
      far_link[2]; /* lanes of what travels, reads and writes: to SRAM, and between HBM and L2 where it is drawn */
  bool widened;    /* a matrix would be too narrow to be seen: widths are not to scale */
} Places;

static inline double base_in(const Pen *pen, Box row, TypeSize type) {
  return row.y + row.height / 2 + 0.36 * pen_size(pen, type);
}

/* Tiles of scores lie in HBM only where an algorithm stores them: elsewhere what they would take is shown. */
static inline bool is_by_tiles(const Snapshot *now, int tensor) { return snapshot_lies(now, tensor) == LIES_BY_TILES; }

static inline bool is_stats(const Snapshot *now, int tensor) { return now->schedule->tensors[tensor].is_stats; }

/* The matrices to scale, and beside them a table of what has moved; notes their places. */
void hierarchy_draw_hbm(const Pen *pen, Box box, bool is_large, Places *places);

/* Rows [row0, row1) of a matrix in HBM, and of one by tiles columns too. */
Box hierarchy_block(const Pen *pen, const Places *places, int tensor, int64_t row0, int64_t row1, int64_t col0,
                    int64_t col1);

/* Lanes between what is drawn beside them, and L2 as a panel or, where there is no room, as a gate. */
void hierarchy_draw_link(const Pen *pen, Box box, Places *places);
void hierarchy_draw_far_link(const Pen *pen, Box box, Places *places);
void hierarchy_draw_l2(const Pen *pen, Box box);
void hierarchy_draw_gate(const Pen *pen, Box box);

/* SRAM, and below a line what fast kernels keep in registers; notes the places. */
void hierarchy_draw_sram(const Pen *pen, Box box, bool is_large, Places *places);
void hierarchy_draw_work(const Pen *pen, Box bar, const SnapshotSlot *slot); /* what the event does to it */

#endif
