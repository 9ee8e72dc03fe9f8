/* Fuzz target for rules of backends: any bytes are refused with one line, or can be judged. */
#include "tests/fuzz/fuzz.h"
#include "viz/request/backend_rules.h"
#include "sim/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Backend b;
  Error error = {0};
  if (backend_parse((const char *)data, size, "f", &b, &error) != STATUS_OK) {
    require(strncmp(error.message, "f:", 2) == 0);
    require(utf8_is_text(error.message, strlen(error.message)));
    return 0;
  }
  CallFacts facts = {0};
  bool changed[BACKEND_RULES];
  call_number(&facts, CALL_SM, 90);
  call_number(&facts, CALL_D, 128);
  call_word(&facts, CALL_DTYPE, "fp16");
  call_word(&facts, CALL_MASK, "causal");
  backend_apply(&b, &facts, changed);
  const Order *order = backend_order(&b, &facts);
  for (int k = 0; order && k < order->n; k++) {
    require(order->kernels[k] >= 0 && order->kernels[k] < b.n_kernels);
    for (int r = -1; (r = backend_refusal(&b, order->kernels[k], &facts, r + 1)) >= 0;) require(r < b.n_rules);
  }
  return 0;
}
