/* Lays the models beside rows of counters: finds what describes a row's kernel, and predicts each run once.
 *
 *     row of a rung of the ladder     its laws (kernels/counters/kernel_model.h); predictions where its profile in
 *                                     assets/kernels has the tile that it ran with
 *     row of a kernel with a profile  laws and predictions from the profile, named by the row or by --kernel
 *     row of any other kernel         the laws of a schedule: --algorithm, shape and blocks from the request */
#ifndef TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_JUDGE_H
#define TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_JUDGE_H

#include "kernels/counters/launches.h"
#include "viz/cli/crosscheck/crosscheck.h"

#define JUDGE_DEFAULT_GPU "h200" /* where the counters that come with Tilewalk are from */

enum { JUDGE_NAME_BYTES = 128 };

/* A recorded run and its repeats are predicted once. */
typedef struct {
  char kernel[JUDGE_NAME_BYTES];
  Problem run;
  const Schedule *schedule;
  bool done;
  Prediction prediction;
  Error error;
} JudgeJob;

typedef struct {
  const Request *request;
  Gpu gpu;
  Profile profile; /* the last one that was loaded */
  JudgeJob *jobs;
  size_t n_jobs, capacity;
  bool only_collects;
  size_t one_in;              /* predicts one run in so many, and of the others nothing; 0: all */
  bool blind;                 /* the file's card is not described: no predictions */
  const Placement *placement; /* of the card that the rows to come were counted on; NULL: as most */
  bool once;                  /* each counter of them in one pass of the profiler */
  uint32_t draws;             /* predictions are means of that many random draws; 0: the usual draw alone */
} Judge;

/* Predictions are for the request's GPU, with its order, walk, pace and CTAs per SM where it names them. *request must
 * outlive the judge. */
Status judge_open(Judge *judge, const Request *request, Error *error);
void judge_close(Judge *judge);

/* Adds what the models say of a run; of someone else's kernels, what the file says of shape, tile, type and kernel is
 * taken where the request does not say it, and a contradiction is noted. */
Status judge_run(Crosscheck *crosscheck, Judge *judge, const LaunchRun *run, Error *error);

/* The same for a backward pass: FlashAttention-2's by the formulas of fa2_backward, others with a note that says why
 * not. */
Status judge_backward(Crosscheck *crosscheck, Judge *judge, const LaunchRun *run, Error *error);

/* Where the request names no GPU: the one that a file's rows name; notes what was taken, and what of it is assumed. */
Status judge_file(Crosscheck *crosscheck, Judge *judge, const CounterTable *table, Error *error);

/* Predictions take milliseconds each: with `only_collects`, none is made, and what will be needed is noted; then
 * without it, all of them are made at once, on all cores, and rows that are given again find theirs. */
void judge_collect(Judge *judge, bool only_collects);

/* The same for a row known to be a rung's; judge NULL: no predictions. */
Status judge_rung(Crosscheck *crosscheck, Judge *judge, const CounterRow *row, const KernelModel *model, Error *error);

#endif
