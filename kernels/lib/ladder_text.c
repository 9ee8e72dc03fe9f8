#include "kernels/lib/ladder_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LINE_BYTES = 1024, MOST_TEXT = 8 << 20, MOST_MEMBER = 4 << 20 };

typedef struct {
  char file[100];
  long from, bytes;
} Place;

static FILE *opened(const char *folder, const char *name, Error *error) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "rb");
  if (!f) error_refuse(error, "%s: cannot be opened; the ladder's kernels are recorded there", path);
  return f;
}

/* A line of index.tsv: kernel, file, first byte, bytes. */
static Status find(const char *folder, const char *kernel, Place *place, Error *error) {
  const size_t n = strlen(kernel);
  char line[LINE_BYTES];
  FILE *f = opened(folder, "index.tsv", error);
  if (!f) return STATUS_BAD_REQUEST;
  bool found = false;
  while (!found && fgets(line, sizeof line, f))
    found = !strncmp(line, kernel, n) &&
            sscanf(line + n, "\t%99[^\t/]\t%ld\t%ld", place->file, &place->from, &place->bytes) == 3;
  fclose(f);
  if (found && place->from >= 0 && place->bytes > 0 && place->bytes <= MOST_MEMBER) return STATUS_OK;
  return error_refuse(error, "%s has no kernel '%.200s'; kernels/collect/record_ladder.py records them", folder,
                      kernel);
}

/* Unpacks the gzip member at the beginning of `bytes`, whose checksum must hold. */
static Status gunzip(unsigned char *bytes, long n_bytes, const char *name, char **text, size_t *n_text, Error *error) {
  char *out = malloc(MOST_TEXT + 2); /* zlib ends a text only where there is room for a byte more */
  z_stream z = {.next_in = bytes, .avail_in = (uInt)n_bytes, .next_out = (Bytef *)out, .avail_out = MOST_TEXT + 1};
  if (!out || inflateInit2(&z, 16 + MAX_WBITS)) {
    free(out);
    return error_set(error, STATUS_NO_MEMORY, "%s: no memory to unpack it", name);
  }
  const bool is_whole = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out <= MOST_TEXT;
  inflateEnd(&z);
  if (!is_whole) {
    free(out);
    return error_set(error, STATUS_BAD_FILE, "%s: damaged, or more than %d bytes", name, MOST_TEXT);
  }
  out[z.total_out] = 0;
  *text = out, *n_text = z.total_out;
  return STATUS_OK;
}

Status ladder_text(const char *folder, const char *kernel, char **text, size_t *n_bytes, Error *error) {
  Place place;
  *text = NULL, *n_bytes = 0;
  Status status = find(folder, kernel, &place, error);
  if (status) return status;
  FILE *f = opened(folder, place.file, error);
  if (!f) return STATUS_BAD_REQUEST;
  unsigned char *packed = malloc((size_t)place.bytes);
  const bool is_read =
      packed && !fseek(f, place.from, SEEK_SET) && fread(packed, 1, (size_t)place.bytes, f) == (size_t)place.bytes;
  fclose(f);
  if (is_read)
    status = gunzip(packed, place.bytes, place.file, text, n_bytes, error);
  else if (packed)
    status = error_set(error, STATUS_BAD_FILE, "%s/%s: shorter than its index says", folder, place.file);
  else
    status = error_set(error, STATUS_NO_MEMORY, "%s: no memory", place.file);
  free(packed);
  return status;
}
