#include "viz/cli/softmax_errors.h"

#include <inttypes.h>

#include "sim/numbers/quantised.h"

enum { D = 128, QUERIES = 64, N_MAX = 65536 };

Status softmax_add_errors(Document *d, int64_t N, int64_t seeds, Error *error) {
  if (N > N_MAX)
    return error_set(error, STATUS_TOO_LARGE, "--errors: %" PRId64 " keys take too long; %d at most", N, N_MAX);
  const QuantisedShape shape = {N, D, N < QUERIES ? N : QUERIES};
  Accuracy errors[QUANTISED_ROWS] = {0};
  for (int64_t seed = 1; seed <= seeds; seed++)
    if (quantised_errors(&shape, (uint64_t)seed, errors, error)) return error->status;
  put_values(d, "seq_len:i head_dim:i queries:i seeds:i", shape.N, shape.d, shape.queries, seeds);
  Table *t = put_table(d, DOCUMENT_ALL, "errors",
                       "Q, K, V in;name=name|RMSE of O>;rmse=rmse|printed>;printed_rmse=printed_rmse|off>=off");
  table_title(t, "Error of attention, computed beside FlashAttention-3's table 3");
  for (int k = 0; k < QUANTISED_ROWS; k++) {
    const double rmse = accuracy_rmse(&errors[k]), printed = QUANTISED_TABLE[k].printed_rmse;
    table_text(t, ROLE_PLAIN, QUANTISED_TABLE[k].name);
    char text[2][16];
    snprintf(text[0], sizeof text[0], "%.2e", rmse);
    snprintf(text[1], sizeof text[1], "%.1e", printed);
    table_real(t, ROLE_ACCENT, rmse, text[0]);
    table_real(t, ROLE_PLAIN, printed, text[1]);
    table_percent(t, ROLE_DIM, rmse / printed - 1);
  }
  table_note(t,
             "Inputs: N(0, 1) + N(0, 100) x Bernoulli(0.001). N = %" PRId64 ", d = %d, %" PRId64
             " queries of each of %" PRId64 " seed%s. N and d of the printed table are unknown; rare rows make most of "
             "the error: more --seeds, less spread.",
             shape.N, D, shape.queries, seeds, seeds == 1 ? "" : "s");
  return STATUS_OK;
}
