/* config.json files of unknown origin: a model whose cache can be computed, or a one-line error. */
#include "tests/fuzz/fuzz.h"
#include "viz/request/model_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  KvModel model;
  Error error = {0};
  const Status status = model_config_parse((const char *)data, size, "config.json", &model, &error);
  if (status != STATUS_OK) {
    if (!error.message[0] || strchr(error.message, '\n')) abort();
    return 0;
  }
  const KvCache cache = kvmodel_cache(&model);
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(&cache, groups);
  int64_t layers = 0;
  for (int g = 0; g < n; g++) layers += groups[g].layers;
  if (model.n_fixed > KVMODEL_FIXED_MAX || model.n_remarks > KVMODEL_REMARKS_MAX) abort();
  for (int i = 0; i < model.n_fixed; i++)
    if (model.fixed[i].layers < 1 || model.fixed[i].bytes < 1) abort();
  if (strchr(model.unused, '\n')) abort();
  if (*model.no_cache) {
    if (n || kvcache_seek(&cache, 10000).bytes) abort();
    return 0;
  }
  if (n < 1 || layers != kvcache_layers(&cache) || layers > MODEL_CONFIG_LAYERS_MAX) abort();
  if (kvcache_seek(&cache, 10000).bytes == 0) abort();
  return 0;
}
