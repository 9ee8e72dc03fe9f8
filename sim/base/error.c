#include "sim/base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/base/utf8.h"

Status error_set(Error *error, Status status, const char *format, ...) {
  if (!error || error->status != STATUS_OK) return status;
  error->status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  utf8_clean(error->message); /* a file name may hold anything */
  return status;
}

const char *status_string(Status status) {
  switch (status) {
  case STATUS_OK: return "ok";
  case STATUS_BAD_REQUEST: return "bad request";
  case STATUS_TOO_LARGE: return "too large";
  case STATUS_NO_MEMORY: return "out of memory";
  case STATUS_BAD_FILE: return "bad file";
  }
  return "unknown status";
}
