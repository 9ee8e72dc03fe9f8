/* A page that draws has the files of its bundle alone, in their own language: no counters, no config.json. */
#include "viz/request/kernel_from_counters.h"
#include "viz/request/model_config.h"

bool kernel_is_counters(const char *text, size_t length) { return !text && length; }
bool model_config_is_json(const char *text, size_t length) { return !text && length; }

Status kernel_from_counters(const char *text, size_t length, const char *display_name, char *description, size_t size,
                            char *known, size_t known_size, Error *error) {
  (void)text, (void)length, (void)description, (void)size, (void)known, (void)known_size;
  return error_set(error, STATUS_BAD_FILE, "%.200s: this page reads no counters", display_name);
}
Status model_config_parse(const char *text, size_t length, const char *display_name, KvModel *model, Error *error) {
  (void)text, (void)length, (void)model;
  return error_set(error, STATUS_BAD_FILE, "%.200s: this page reads no config.json", display_name);
}
