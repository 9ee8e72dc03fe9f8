/* The harness's own types: what was asked, and one result per rung and shape, printed as table, CSV or JSON. */
#ifndef TILEWALK_KERNELS_LIB_HARNESS_H
#define TILEWALK_KERNELS_LIB_HARNESS_H

#include <string>
#include <vector>

#include "kernels/lib/verify.h"
extern "C" {
#include "kernels/counters/kernel_model.h"
}

enum Format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON, FORMAT_COUNTERS /* as kernels/counters/ncu.h reads it */ };

enum Mode { VERIFY, COUNT, TIME, ONCE /* one launch per rung and nothing else, for profilers */, N_MODES };
extern const char *const MODES[N_MODES]; /* their names */

/* Modes with a list of launches and a layout of their own. */
enum { N_STUDIES = 15 };
extern const char *const STUDIES[N_STUDIES]; /* their options */

struct Request {
  bool list, runs[N_MODES];
  int study; /* of STUDIES, from 1; 0: none. Each stands alone */
  Format format;
  std::vector<std::string> rungs; /* empty: all */
  Shape shape;
  bool has_shape; /* N was given; else --verify and --count walk their own grid */
  bool has_dtype;
  bool has_values; /* an option that takes a value was given */
  Block block;     /* zero: each rung's default */
  uint64_t seed;
  int repeats;        /* of a timing; 0: as many as fit a quarter of a second, 5 to 30 */
  uint64_t apart;     /* with --once: of the random numbers of pages that lie unused before each tensor; 0: none do */
  std::string shapes; /* a file with the options of one run on each line; "" for none */

  bool runs_any() const { return runs[VERIFY] || runs[COUNT] || runs[TIME] || runs[ONCE]; }
};

struct Result {
  Mode mode;
  const Rung *rung;
  Shape shape;
  Block block;
  bool good;        /* verified, or counted equal */
  std::string note; /* why it was left out; "" otherwise */
  bool outliers;
  Verdict verdict;
  double tolerance;
  Counts counts;
  KernelTraffic model;
  double warm_us, cold_us,
      tflops; /* tflops: of the warm median; 4 N_q N_k d per head, 10 backward, halved when causal */
};

Request request_parse(int argc, char **argv);
/* One request for each line of request.shapes, its options added to the request's own. */
std::vector<Request> request_lines(const Request &request);
void results_begin(const Request &request);
void result_print(const Request &request, const Result &result, bool first);
void results_end(const Request &request);

#endif
