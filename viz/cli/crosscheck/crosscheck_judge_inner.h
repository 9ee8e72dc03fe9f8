/* What the files of the judge share. */
#ifndef TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_JUDGE_INNER_H
#define TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_JUDGE_INNER_H

#include "viz/cli/crosscheck/crosscheck_judge.h"

enum { NAME_BYTES = 128, UNKNOWN_BLOCK = 64 };

/* A recorded run and its repeats are predicted once. */
typedef struct {
  char kernel[NAME_BYTES];
  PredictedRun run;
  bool done;
  Prediction prediction;
  Error error;
} Job;

struct Judge {
  const Request *request;
  Gpu gpu;
  Profile profile; /* the last one that was loaded */
  Job *jobs;
  size_t n_jobs, capacity;
  bool only_collects;
  bool blind; /* the file's card is not described: no predictions */
  const Placement *placement;
  bool once;
  uint32_t draws;
};

/* The kernel's description, by name; kept until another is asked for. */
Status judge_find_profile(Judge *judge, const char *name, Error *error);

/* Adds a row with the predictions of the kernel that judge_find_profile found. */
Status judge_add_described(Crosscheck *c, Judge *judge, const CounterRow *row, const Shape *shape, const Tiling *tiling,
                           Error *error);

#endif
