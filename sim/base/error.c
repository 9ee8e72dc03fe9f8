#include "sim/base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/base/utf8.h"

Status error_set(Error *error, Status status, const char *format, ...) {
  if (!error || error->status) return status;
  error->status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  utf8_clean(error->message); /* a file name may hold anything */
  return status;
}
