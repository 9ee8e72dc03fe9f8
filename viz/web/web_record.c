/* Records of lessons/engine/record.h in a page: what the browser keeps for this folder, by name. One page writes at a
 * time, so there is nothing to lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/record.h"
#include "viz/web/web_page.h"

bool record_path(const char *variable, const char *below, const char *name, char path[RECORD_PATH_BYTES]) {
  (void)variable;
  (void)below;
  return snprintf(path, RECORD_PATH_BYTES, "%s", name) < RECORD_PATH_BYTES;
}

Status record_read(const char *path, size_t max_bytes, char **bytes, size_t *length, Error *error) {
  *bytes = page_load(path);
  *length = *bytes ? strlen(*bytes) : 0;
  if (*length <= max_bytes) return STATUS_OK;
  free(*bytes);
  *bytes = NULL;
  *length = 0;
  return error_refuse(error, "%.200s is larger than %zu bytes", path, max_bytes);
}

Status record_lock(RecordLock *lock, const char *path, bool waits, Error *error) {
  (void)waits;
  lock->file = -1;
  if (snprintf(lock->path, sizeof lock->path, "%s", path) < (int)sizeof lock->path) return STATUS_OK;
  return error_refuse(error, "the name of the record is too long");
}

void record_unlock(RecordLock *lock) { (void)lock; }

Status record_write(const RecordLock *lock, const void *bytes, size_t length, Error *error) {
  if (page_keep(lock->path, bytes, length)) return STATUS_OK;
  return error_refuse(error, "this browser keeps nothing for this page (a private window?)");
}

Status record_set_aside(const RecordLock *lock, char other[RECORD_PATH_BYTES], Error *error) {
  char *bytes = page_load(lock->path);
  snprintf(other, RECORD_PATH_BYTES, "%.*s.damaged", RECORD_PATH_BYTES - 16, lock->path);
  const bool kept = bytes && page_keep(other, bytes, strlen(bytes)) && page_keep(lock->path, "", 0);
  free(bytes);
  return kept ? STATUS_OK : error_refuse(error, "the record could not be set aside");
}
