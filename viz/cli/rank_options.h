/* --ranks and --link: of a program with `ranks`, how many GPUs run it and what is between them. */
#ifndef TILEWALK_VIZ_CLI_RANK_OPTIONS_H
#define TILEWALK_VIZ_CLI_RANK_OPTIONS_H

#include "viz/request/request.h"

enum { RANKS_DEFAULT = 4 };

typedef struct {
  int64_t n;                     /* 0: those of the request's state, or 4 */
  char link[REQUEST_NAME_BYTES]; /* "": nvlink4 */
} RankOptions;

extern const Option RANK_OPTIONS[]; /* target: RankOptions */

/* The link that is named. Errors: as description_link. */
Status rank_options_link(const RankOptions *options, GpuLink *link, Error *error);

/* Refuses the options where none of n schedules says what ranks do. */
Status rank_options_check(const RankOptions *options, const Schedule *const *schedules, int n, Error *error);

/* run->links of a run of *problem (ranks_links). Where ranks cannot share the problem out, and nobody asked for them,
 * run->links.why says it, which is no error. */
Status rank_options_links(const RankOptions *options, const Request *request, const Problem *problem, const Gpu *gpu,
                          Simulation *run, Error *error);

#endif
