/* ldmatrix, stmatrix, movmatrix: tiles of 8 x 8 elements of 16 bits. */
#include <string.h>

#include "kernels/ptx/ptx_access.h"

StepResult matrix_move(Run *run, Block *b, Warp *w, int32_t pc, bool is_load) {
  const Ins *i = &run->code[pc];
  char *R = run->arena + w->file;
  const uint32_t rows = i->vec == 4 ? ~0u : (1u << 8 * i->vec) - 1;
  const Request r = {i->wide, i->space, 16, 15, i->imm, i->site, is_load ? PTX_LOAD : PTX_STORE, true, i};
  Where where;
  if (!access_locate(run, b, w, pc, &r, R + i->a, rows, &where)) return STEP_ERROR;
  access_follow(run, b, w, pc, &r, R + i->a, rows);
  if (where.split && where.mask != rows) return STEP_NEXT; /* reported */
  for (int k = 0; k < i->vec; k++) {
    uint16_t tile[8][8];
    uint32_t *d = (uint32_t *)(R + run->kernel->lists[i->ext + k]);
    char *row[8];
    for (int y = 0; y < 8; y++)
      row[y] = where.split ? where.lane[8 * k + y] : where.host + where.shape->offset[8 * k + y];
    if (is_load) {
      for (int y = 0; y < 8; y++) memcpy(tile[y], row[y], 16);
      for (int l = 0; l < LANES; l++) {
        const int y = l >> 2, x = 2 * (l & 3);
        d[l] = i->mode ? tile[x][y] | (uint32_t)tile[x + 1][y] << 16 : tile[y][x] | (uint32_t)tile[y][x + 1] << 16;
      }
    } else {
      for (int l = 0; l < LANES; l++) {
        const int y = l >> 2, x = 2 * (l & 3);
        *(i->mode ? &tile[x][y] : &tile[y][x]) = (uint16_t)d[l];
        *(i->mode ? &tile[x + 1][y] : &tile[y][x + 1]) = (uint16_t)(d[l] >> 16);
      }
      for (int y = 0; y < 8; y++) memcpy(row[y], tile[y], 16);
    }
  }
  return STEP_NEXT;
}

void matrix_transpose(const Ins *i, char *R) {
  uint16_t tile[8][8];
  for (int l = 0; l < LANES; l++) {
    const uint32_t v = ((const uint32_t *)(R + i->a))[l];
    tile[l >> 2][2 * (l & 3)] = (uint16_t)v;
    tile[l >> 2][2 * (l & 3) + 1] = (uint16_t)(v >> 16);
  }
  for (int l = 0; l < LANES; l++)
    ((uint32_t *)(R + i->d))[l] = tile[2 * (l & 3)][l >> 2] | (uint32_t)tile[2 * (l & 3) + 1][l >> 2] << 16;
}
