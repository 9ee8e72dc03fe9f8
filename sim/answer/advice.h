/* Advice: which kernel to take on a GPU, or which tile to write one for, best first.
 *
 *     described kernels, B_r x B_c of a usual set  ->  a run and its time each  ->  in order
 *
 * A kernel that does not exist yet costs what its matrix instructions, registers and shared memory cost
 * (sim/machine/tile_cost.h), and its CTAs are dealt out to SMs (sim/time/makespan.h). Of few queries the
 * keys are split, too. */
#ifndef TILEWALK_SIM_ANSWER_ADVICE_H
#define TILEWALK_SIM_ANSWER_ADVICE_H

#include "sim/answer/report.h"
#include "sim/machine/tile_cost.h"

enum { ADVICE_CANDIDATES_MAX = 224 };

typedef struct {
  Simulation run;
  TileCost cost;         /* of a tile */
  const Profile *kernel; /* NULL: a tile */
  Launch launch;         /* of the kernel, or as the tile's costs have it */
  double seconds;
  TimeKind kind;
} Candidate;

typedef struct {
  Candidate *candidates;                    /* the caller's: ADVICE_CANDIDATES_MAX, zeros */
  int n, n_misfits;                         /* misfits: tiles that no place holds, or that do not launch */
  const char *why;                          /* the last one is no kernel */
  ProfileList *kernels;                     /* NULL: tiles alone */
  void (*tell)(void *context, double part); /* how much was tried; NULL: nobody is told */
  void *context;
  double all, seen, now; /* weight of what is to be tried; so far; of what is being tried */
} Advice;

/* Fills in the candidates, best first. `is_named`: of that algorithm alone; else described kernels are tried, too, and
 * of few queries splits. */
Status advice_make(Advice *advice, const Problem *problem, const Schedule *schedule, bool is_named, const Gpu *gpu,
                   Error *error);

/* "128 x 64, wgmma", "fa2_decode, 64 splits" */
void advice_name(const Candidate *candidate, char *text, size_t size);

/* "tiles" and "kernels" of `advise --json`. */
void advice_report(const ReportSink *sink, const Advice *advice);

#endif
