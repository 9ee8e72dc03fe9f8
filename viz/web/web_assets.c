/* The files that come with Tilewalk, in a browser: viz/request/assets.h over one block of bytes that the page fetched.
 *
 *     assets/gpus/h100 1234\n<1234 bytes>assets/gpus/a100-80gb 1200\n<1200 bytes>...
 *
 * viz/web/bundle.sh writes it. A path is the name itself; nothing else can be read, but for what the page itself wrote.
 */
#include "viz/web/web_assets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/request/assets.h"

enum { BUNDLES_MAX = 8, NAME_MAX_BYTES = 255 };

static struct {
  char *bytes;
  size_t length;
} bundles[BUNDLES_MAX];
static int n_bundles;

typedef struct {
  const char *name, *bytes;
  size_t name_length, length;
} Entry;

/* The next file of a bundle, from *at on; false at its end, or where it is not one. */
static bool next_entry(int bundle, size_t *at, Entry *entry) {
  const char *p = bundles[bundle].bytes + *at;
  const size_t rest = bundles[bundle].length - *at;
  const char *line_end = rest ? memchr(p, '\n', rest < NAME_MAX_BYTES + 24 ? rest : NAME_MAX_BYTES + 24) : NULL;
  const char *space = line_end ? memchr(p, ' ', (size_t)(line_end - p)) : NULL;
  if (!space) return false;
  char *number_end;
  const unsigned long length = strtoul(space + 1, &number_end, 10);
  const size_t head = (size_t)(line_end + 1 - p);
  if (number_end != line_end || length > rest - head) return false;
  *entry = (Entry){p, line_end + 1, (size_t)(space - p), length};
  *at += head + length;
  return true;
}

bool web_assets_take(char *bytes, size_t length) {
  if (n_bundles == BUNDLES_MAX) return false;
  bundles[n_bundles].bytes = bytes;
  bundles[n_bundles++].length = length;
  Entry entry;
  size_t at = 0;
  while (next_entry(n_bundles - 1, &at, &entry)) {
  }
  if (at == length) return true;
  n_bundles--;
  return false;
}

static bool is_named(const Entry *entry, const char *name) {
  return strlen(name) == entry->name_length && memcmp(entry->name, name, entry->name_length) == 0;
}

static bool is_below(const Entry *entry, const char *folder) {
  const size_t length = strlen(folder);
  return entry->name_length > length && memcmp(entry->name, folder, length) == 0 && entry->name[length] == '/';
}

static struct {
  char name[NAME_MAX_BYTES + 1];
  char *text;
} written[WEB_WRITTEN_MAX];

bool web_assets_write(int place, const char *name, const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = strlen(name) < sizeof written->name ? malloc(size) : NULL;
  if (!copy) return false;
  memcpy(copy, text, size);
  free(written[place].text);
  written[place].text = copy;
  memcpy(written[place].name, name, strlen(name) + 1);
  return true;
}

static bool find(const char *name, bool or_folder, Entry *entry) {
  for (int k = 0; k < WEB_WRITTEN_MAX; k++)
    if (written[k].text && strcmp(written[k].name, name) == 0) {
      *entry = (Entry){written[k].name, written[k].text, strlen(name), strlen(written[k].text)};
      return true;
    }
  for (int k = 0; k < n_bundles; k++)
    for (size_t at = 0; next_entry(k, &at, entry);)
      if (is_named(entry, name) || (or_folder && is_below(entry, name))) return true;
  return false;
}

Status assets_find(char *path, size_t size, const char *relative, Error *error) {
  Entry entry;
  if (find(relative, true, &entry) && strlen(relative) < size) {
    memcpy(path, relative, strlen(relative) + 1);
    return STATUS_OK;
  }
  return error_set(error, STATUS_BAD_REQUEST, "this page has no file %.200s", relative);
}

Status assets_list(const char *relative, bool (*take)(void *data, const char *name), void *data, Error *error) {
  char name[NAME_MAX_BYTES + 1];
  const size_t folder = strlen(relative) + 1;
  bool any = false;
  Entry entry;
  for (int k = 0; k < n_bundles; k++)
    for (size_t at = 0; next_entry(k, &at, &entry);) {
      if (!is_below(&entry, relative) || entry.name_length - folder >= sizeof name) continue;
      any = true;
      memcpy(name, entry.name + folder, entry.name_length - folder);
      name[entry.name_length - folder] = '\0';
      if (!strchr(name, '/') && !take(data, name)) return STATUS_OK;
    }
  return any ? STATUS_OK : error_set(error, STATUS_BAD_REQUEST, "this page has no folder %.200s", relative);
}

bool file_exists(const char *path) {
  Entry entry;
  return find(path, true, &entry);
}

Status file_read(const char *path, size_t max_bytes, char **buffer, size_t *length, Error *error) {
  Entry entry;
  *buffer = NULL;
  *length = 0;
  if (!find(path, false, &entry))
    return error_set(error, STATUS_BAD_REQUEST, "cannot open %.200s: a page in a browser reads only what came with it",
                     path);
  if (entry.length > max_bytes)
    return error_set(error, STATUS_TOO_LARGE, "%.200s is larger than %zu bytes, the most that is read of such a file",
                     path, max_bytes);
  char *copy = malloc(entry.length + 1);
  if (!copy) return error_set(error, STATUS_NO_MEMORY, "no memory for %.200s", path);
  memcpy(copy, entry.bytes, entry.length);
  copy[entry.length] = '\0';
  *buffer = copy;
  *length = entry.length;
  return STATUS_OK;
}

Status file_read_beside(const char *beside, const char *name, size_t max_bytes, char **buffer, size_t *length,
                        Error *error) {
  char path[NAME_MAX_BYTES + 1];
  const char *slash = strrchr(beside, '/');
  snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - beside) + 1 : 0, beside, name);
  return file_read(path, max_bytes, buffer, length, error);
}
