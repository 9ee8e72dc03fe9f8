/* Fuzz target for model descriptions: any bytes are refused with one line, or become a cache whose
 * growth agrees with its size. */
#include "tests/fuzz/fuzz.h"
#include "sim/machine/kvmodel.h"
#include "sim/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  KvModel model;
  Error error = {0};
  if (kvmodel_parse((const char *)data, size, "f", &model, &error) != STATUS_OK) {
    require(strncmp(error.message, "f:", 2) == 0);
    require(utf8_is_text(error.message, strlen(error.message)));
    return 0;
  }
  const KvCache cache = kvmodel_cache(&model);
  KvSize at_most;
  require(kvcache_size(&cache, model.max_tokens, &at_most, NULL) == STATUS_OK);
  const KvState end = kvcache_seek(&cache, model.max_tokens);
  require(end.bytes == at_most.bytes && end.page_bytes >= end.bytes && end.bytes > 0);
  KvState state = {0};
  for (int step = 0; step < 40 && step < model.max_tokens; step++) kvcache_append(&cache, &state);
  const KvState same = kvcache_seek(&cache, state.tokens);
  require(same.tokens == state.tokens && same.window_tokens == state.window_tokens);
  require(same.pages == state.pages && same.window_pages == state.window_pages);
  require(same.bytes == state.bytes && same.page_bytes == state.page_bytes);
  return 0;
}
