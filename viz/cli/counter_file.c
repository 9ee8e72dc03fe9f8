#define _POSIX_C_SOURCE 200809L /* fileno, fstat */
#include "viz/cli/counter_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define SPOOL_MAX_BYTES ((uint64_t)8 << 30)

static Status cannot(const char *path, const char *why, Error *error) {
  return error_refuse(error, "cannot read %.200s: %s", path, why);
}

bool file_put_aside(FILE **file, uint64_t most) {
  char piece[1 << 16];
  FILE *from = *file, *to = tmpfile();
  uint64_t all = 0;
  bool fits = to != NULL;
  for (size_t n; fits && (n = fread(piece, 1, sizeof piece, from)) > 0;)
    fits = (all += n) <= most && fwrite(piece, 1, n, to) == n; /* clean: read again, not shown */
  fits = fits && !ferror(from) && fflush(to) == 0;
  if (from != stdin) fclose(from);
  *file = to;
  return fits;
}

Status counter_file_read(const char *path, CounterTable *table, Error *error) {
  *table = (CounterTable){0};
  const bool is_stdin = !strcmp(path, "-");
  FILE *file = is_stdin ? stdin : fopen(path, "rb");
  struct stat about;
  if (!file) return cannot(path, strerror(errno), error);
  Status status = STATUS_OK;
  if (fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode))
    status = cannot(path, "it is a folder", error);
  else if (fseek(file, 0, SEEK_END) != 0 && !file_put_aside(&file, SPOOL_MAX_BYTES))
    status = cannot(path, "the temporary file for a pipe is full or missing; save the counters to a file", error);
  if (file) rewind(file);
  Error why = {0};
  if (!status) {
    status = counter_table_read(table, file, &why);
    if (status) error_set(error, status, "%.80s: %s", path, why.message);
    if (!status && ferror(file)) {
      counter_table_free(table);
      status = cannot(path, "reading failed", error);
    }
  }
  if (file && file != stdin) fclose(file);
  return status;
}
