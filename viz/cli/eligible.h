/* Which kernel a library runs for a call, why the others do not, and what each moves, keeps and takes: for
 * `tilewalk advise --library`. */
#ifndef TILEWALK_VIZ_CLI_ELIGIBLE_H
#define TILEWALK_VIZ_CLI_ELIGIBLE_H

#include "sim/simulate.h"
#include "viz/request/backend_rules.h"

/* What a kernel costs. Bytes are counted, the time is a bound. */
typedef struct {
  const char *program; /* NULL: not known, and so is the rest */
  Wide boundary_bytes; /* across the SRAM boundary, with a mask tensor's and of K and V that are repeated */
  Wide memory_bytes;   /* beside inputs and output: intermediates, a mask tensor, repeated K and V */
  double bound_s;      /* bound */
} EligibleCost;

/* From a problem as it is asked and the facts as the library makes them of it. runs: a kernel of assets/kernels, or a
 * program: "fa2-sm90", "standard". */
Status eligible_cost(const Problem *asked, const CallFacts *facts, const char *runs, const Gpu *gpu, EligibleCost *cost,
                     Error *error);

/* The program of what a rule runs, and the kernel that is described, or NULL. NULL: neither is known. */
const char *eligible_program(const char *runs, const Profile **kernel);

/* A library's rules; `uses` is followed. */
enum { ELIGIBLE_LIBRARIES = 3 };
typedef struct {
  Backend libraries[ELIGIBLE_LIBRARIES]; /* the last one's kernels count */
  int n;
  bool changed[ELIGIBLE_LIBRARIES][BACKEND_RULES]; /* rules that changed a fact */
  CallFacts facts;                                 /* as the last library sees them */
  const Order *order;                              /* NULL: none holds */
  int runs;                                        /* a kernel of the last library; -1: none */
} Eligible;

/* Reads the rules that `library` names and judges *facts. */
Status eligible_judge(const char *library, const CallFacts *facts, Eligible *eligible, Error *error);

static inline const Backend *eligible_backend(const Eligible *e) { return &e->libraries[e->n - 1]; }

#endif
