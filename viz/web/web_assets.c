/* The files that come with Tilewalk, in a browser: viz/request/assets.h over those that the page gave. A path is the
 * name itself; nothing else can be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "viz/request/assets.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

enum { FILES_MAX = 2048, NAME_MAX_BYTES = 255 };

static struct File {
  char *name, *bytes;
  size_t length;
} files[FILES_MAX];
static int n_files;

static struct File *find(const char *name) {
  for (struct File *file = files; file < files + n_files; file++)
    if (strcmp(file->name, name) == 0) return file;
  return NULL;
}

/* Takes `bytes`, from malloc, as the file of that name, in place of another. */
EXPORT bool web_asset(const char *name, char *bytes, size_t length) {
  struct File *file = find(name);
  char *own = file ? file->name : strdup(name);
  if (!own || !bytes || (!file && n_files == FILES_MAX)) {
    free(bytes);
    return false;
  }
  if (file)
    free(file->bytes);
  else
    file = &files[n_files++];
  *file = (struct File){own, bytes, length};
  return true;
}

/* The same of a text that is the page's. */
EXPORT bool web_file(const char *name, const char *text) { return web_asset(name, strdup(text), strlen(text)); }

/* The file's name below the folder; NULL: it lies elsewhere. */
static const char *below(const struct File *file, const char *folder) {
  const size_t n = strlen(folder);
  return strncmp(file->name, folder, n) == 0 && file->name[n] == '/' ? file->name + n + 1 : NULL;
}

bool file_exists(const char *path) {
  for (const struct File *file = files; file < files + n_files; file++)
    if (below(file, path)) return true;
  return find(path);
}

Status assets_find(char *path, size_t size, const char *relative, Error *error) {
  if (file_exists(relative) && strlen(relative) < size) {
    memcpy(path, relative, strlen(relative) + 1);
    return STATUS_OK;
  }
  return error_refuse(error, "this page has no file %.200s", relative);
}

Status assets_list(const char *relative, bool (*take)(void *data, const char *name), void *data, Error *error) {
  for (const struct File *file = files; file < files + n_files; file++) {
    const char *name = below(file, relative);
    if (name && !strchr(name, '/') && !take(data, name)) return STATUS_OK;
  }
  return file_exists(relative) ? STATUS_OK : error_refuse(error, "this page has no folder %.200s", relative);
}

Status file_read(const char *path, size_t max_bytes, char **buffer, size_t *length, Error *error) {
  const struct File *file = find(path);
  *buffer = NULL;
  *length = 0;
  if (!file) return error_refuse(error, "cannot open %.200s: a page in a browser reads only what came with it", path);
  if (file->length > max_bytes)
    return error_set(error, STATUS_TOO_LARGE, "%.200s is larger than %zu bytes, the most that is read of such a file",
                     path, max_bytes);
  char *copy = malloc(file->length + 1);
  if (!copy) return error_no_memory(error, "for %.200s", path);
  memcpy(copy, file->bytes, file->length);
  copy[file->length] = '\0';
  *buffer = copy;
  *length = file->length;
  return STATUS_OK;
}

Status file_read_beside(const char *beside, const char *name, size_t max_bytes, char **buffer, size_t *length,
                        Error *error) {
  char path[NAME_MAX_BYTES + 1];
  snprintf(path, sizeof path, "%.*s%s", (int)(path_base(beside) - beside), beside, name);
  return file_read(path, max_bytes, buffer, length, error);
}
