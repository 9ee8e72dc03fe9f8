/* Fuzz target for files of claims and questions: any bytes are either read, each entry judged or
 * refused with file and line, or refused with one line that names the file. The code in them is
 * run, on a small budget. */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/claims.h"

enum { COMPUTED_MAX = 8 };

static void require_placed(Status status, const Error *error) {
  require(error->status == status);
  if (status == STATUS_NO_MEMORY) return;
  require(strncmp(error->message, "f:", 2) == 0);
  for (const char *c = error->message; *c; c++) require((unsigned char)*c >= 32 && *c != 127);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Claims claims = {0};
  Error error = {0};
  const Status status = claims_read(&claims, (const char *)data, size, "f", &error);
  if (status) {
    require_placed(status, &error);
    require(claims.n_entries == 0);
  } else
    require(claims.n_entries > 0);
  const ExpressionLimits limits = {.max_steps = 20000, .max_memory_bytes = 1 << 19};
  for (size_t k = 0; k < claims.n_entries && k < COMPUTED_MAX; k++) {
    Error reason = {0};
    const Status computed = claims_compute(&claims, k, &limits, &reason);
    if (computed) {
      require_placed(computed, &reason);
      continue;
    }
    const ClaimEntry *e = &claims.entries[k];
    char why[CLAIMS_TEXT_BYTES], text[512];
    claims_why(&claims, e, why, sizeof why);
    require(e->is_computed && e->verdict < VERDICT_COUNT && e->n_parts >= 1);
    require(e->verdict == VERDICT_HOLDS || e->is_question || why[0]);
    for (int p = 0; p < e->n_parts; p++) {
      const ClaimPart *part = claims_part(&claims, e, p);
      verdict_computed_text(&part->claimed, &part->value, text, sizeof text);
      require(part->judgement.verdict <= e->verdict);
    }
  }
  claims_free(&claims);
  return 0;
}
