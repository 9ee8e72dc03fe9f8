/* Requests: between the hot loop and what is slow but rare. Inside kernels/ptx only. */
#ifndef TILEWALK_KERNELS_PTX_PTX_ACCESS_H
#define TILEWALK_KERNELS_PTX_PTX_ACCESS_H

#include "kernels/ptx/ptx_machine.h"

typedef struct {
  bool wide; /* the base register has 64 bits */
  int32_t space, bytes;
  uint32_t align; /* bytes less 1 */
  int64_t offset;
  int32_t site;
  PtxAccessKind kind;
  bool counted;
  const Ins *ins;
} Request;

typedef struct {
  const Shape *shape;
  uint64_t first; /* the first lane's address */
  char *host;     /* of the first lane */
  bool split;     /* lane[] and mask hold; counts are made */
  uint32_t mask;
  char *lane[LANES];
} Where;

/* Fills a shape from the lanes' addresses. */
void access_shape(Shape *p, const Request *r, const char *base, uint32_t mask, uint64_t address);
/* Any space, any buffers, lanes apart, faults; counts the request. False: the run has failed. */
bool access_slowly(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, const char *base,
                   uint32_t mask, Where *where);
/* With faults on, of a place that is known: whether it may take place as it is. */
bool access_in_order(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, uint32_t mask,
                     const Where *where);
void access_zero(Run *run, Warp *w, const Ins *i, uint32_t mask); /* registers of lanes whose load is left out */
bool access_is_global(const Request *r, uint64_t address);
/* Tells launch.watch, the witness and the first cache of a request; true: it goes to the cache. */
bool access_follow(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, const char *base,
                   uint32_t mask);

/* What a lane finds at a generic address; NULL: nothing. */
char *access_generic(Run *run, const Block *b, const Warp *w, int lane, uint64_t address, int32_t bytes);

/* ---- what is rare ---- */
void warp_print(Run *run, const Block *b, const Warp *w, const Ins *i, uint32_t mask); /* device printf */
int format_of(Type type); /* a Precision: of a float, or of each of a pair of them; -1: no float's */
void warp_convert(const Ins *i, char *R, uint32_t mask);
void warp_library(Run *run, const Block *b, const Warp *w, const Ins *i, uint32_t mask);
typedef enum { STEP_ERROR /* false */, STEP_NEXT, STEP_REQUEST, STEP_PARKED, STEP_JUMPED } StepResult;
/* One instruction that the hot loop has not: m are its active lanes, mask the fragment's. */
/* The lane that lane `l` shuffles from; -1: it keeps its own. R: the warp's registers. */
int32_t shuffle_source(const Ins *i, const char *R, int l);
StepResult warp_step(Run *run, Block *block, Warp *w, int32_t pc, uint32_t m, uint32_t mask);
StepResult matrix_move(Run *run, Block *block, Warp *w, int32_t pc,
                       bool is_load); /* ldmatrix, stmatrix (ptx_matrix.c) */
void matrix_transpose(const Ins *i, char *R);
StepResult hopper_step(Run *run, Block *block, Warp *w, int32_t pc, uint32_t m);
/* An instruction for all lanes in `wanted` that are alive: true when they are all in m; else those in m wait for the
 * others. */
bool warp_together(Warp *w, int32_t pc, uint32_t m, uint32_t wanted);
/* Fragments that waited for lanes of their own warp go on without them; not while those wait for something else, unless
 * the warp gives in. */
bool warp_resume(Warp *w);
bool warp_can_resume(const Warp *w);
void warp_exit(Run *run, Block *block, Warp *w, uint32_t mask);

/* locate() for those that are not the hot loop. */
bool access_locate(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, const char *base,
                   uint32_t mask, Where *where);

#endif
