#define _GNU_SOURCE /* dladdr, readlink, open, fstat */
#include "viz/request/assets.h"

#include <assert.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include "sim/base/path.h"

static bool path_to_folder(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

bool program_folder(char *folder, size_t size) {
#ifdef __APPLE__
  uint32_t bytes = (uint32_t)size;
  errno = ENAMETOOLONG;
  if (_NSGetExecutablePath(folder, &bytes) != 0) return false;
#else
  const ssize_t length = readlink("/proc/self/exe", folder, size);
  if (length >= 0 && (size_t)length >= size) errno = ENAMETOOLONG;
  if (length < 0 || (size_t)length >= size) return false;
  folder[length] = '\0';
#endif
  return path_to_folder(folder);
}

static const char *const parents[] = {"..", "../..", "../../..", "../../../.."};

/* The folder of the shared library that this is a part of, else of the running program. */
static bool own_folder(char *folder, size_t size) {
  Dl_info own;
  if (!dladdr(&parents, &own) || !own.dli_fname || !strstr(own.dli_fname, ".so")) return program_folder(folder, size);
  const int length = snprintf(folder, size, "%s", own.dli_fname);
  return length > 0 && (size_t)length < size && path_to_folder(folder);
}

static bool try_path(char *path, size_t size, const char *root, const char *below, const char *relative) {
  int length = snprintf(path, size, "%s/%s/%s", root, below, relative);
  return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

Status assets_find(char *path, size_t size, const char *relative, Error *error) {
  char bin[ASSETS_PATH_BYTES];
  struct stat there;
  if (relative[0] == '/' || strncmp(relative, "../", 3) == 0 || strstr(relative, "/../"))
    return error_refuse(error, "'%.120s' is no name of a file that comes with Tilewalk", relative);

  const char *chosen = getenv("TILEWALK_ASSETS");
  if (chosen && *chosen) {
    if (stat(chosen, &there) != 0 || !S_ISDIR(there.st_mode))
      return error_refuse(
          error, "TILEWALK_ASSETS=%.120s is no folder; it must name the assets folder of a Tilewalk tree", chosen);
    if (try_path(path, size, chosen, "..", relative)) return STATUS_OK;
    return error_refuse(error, "no %s beside TILEWALK_ASSETS=%.120s; it must name the assets folder of a Tilewalk tree",
                        relative, chosen);
  }
  if (!own_folder(bin, sizeof bin))
    return error_refuse(error, "cannot tell where the program is; set TILEWALK_ASSETS to its assets folder");
  if (try_path(path, size, bin, "../share/tilewalk", relative)) return STATUS_OK;
  for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++)
    if (try_path(path, size, bin, parents[i], relative)) return STATUS_OK;
  if (try_path(path, size, bin, "../../share/tilewalk", relative)) return STATUS_OK; /* from lib/tilewalk */
  return error_refuse(
      error, "no %s in %.80s/../share/tilewalk or above it; install again, or set TILEWALK_ASSETS to the assets folder",
      relative, bin);
}

Status assets_list(const char *relative, bool (*take)(void *data, const char *name), void *data, Error *error) {
  char path[ASSETS_PATH_BYTES];
  const Status status = assets_find(path, sizeof path, relative, error);
  if (status) return status;
  DIR *directory = opendir(path);
  if (!directory) return error_refuse(error, "cannot list %.200s; it must be a folder that can be read", path);
  for (const struct dirent *entry; (entry = readdir(directory));)
    if (!take(data, entry->d_name)) break;
  closedir(directory);
  return STATUS_OK;
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

static Status read_open_file(int file, const char *path, size_t max_bytes, char **buffer, size_t *length,
                             Error *error) {
  struct stat info;
  if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode))
    return error_refuse(error, "cannot read %.200s: it is a folder; name a file in it", path);
  for (size_t room = 0;;) {
    if (*length == room) {
      room = 2 * room + 65536 < max_bytes ? 2 * room + 65536 : max_bytes + 1;
      char *grown = realloc(*buffer, room + 1);
      if (!grown) return error_no_memory(error, "for %zu bytes of %.200s", room + 1, path);
      *buffer = grown;
    }
    const ssize_t n = read(file, *buffer + *length, room - *length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_refuse(error, "cannot read %.200s: %s", path, strerror(errno));
    *length += (size_t)n;
    (*buffer)[*length] = '\0';
    if (*length > max_bytes)
      return error_set(error, STATUS_TOO_LARGE, "%.200s is larger than %zu bytes, the most that is read of such a file",
                       path, max_bytes);
    if (n == 0) return STATUS_OK;
  }
}

static Status read_path(const char *path, int flags, size_t max_bytes, char **buffer, size_t *length, Error *error) {
  assert(max_bytes < SIZE_MAX / 2);
  *buffer = NULL;
  *length = 0;
  struct stat info;
  if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) flags |= O_NONBLOCK; /* /proc/kmsg would wait for more */
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
  if (file < 0)
    return error_refuse(error, "cannot open %.200s: %s; name a file that can be read", path, strerror(errno));
  Status status = STATUS_OK;
  if (flags & ~O_NONBLOCK && (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)))
    status = error_refuse(error, "cannot read %.200s: it is no regular file", path);
  if (!status) status = read_open_file(file, path, max_bytes, buffer, length, error);
  close(file);
  if (status) {
    free(*buffer);
    *buffer = NULL;
    *length = 0;
  }
  return status;
}

Status file_read(const char *path, size_t max_bytes, char **buffer, size_t *length, Error *error) {
  return read_path(path, 0, max_bytes, buffer, length, error);
}

/* Whether a part of the path is "..". */
static bool leads_up(const char *name) {
  for (const char *p = name; *p; p += *p == '/') {
    const size_t part = strcspn(p, "/");
    if (part == 2 && p[0] == '.' && p[1] == '.') return true;
    p += part;
  }
  return false;
}

Status file_read_beside(const char *beside, const char *name, size_t max_bytes, char **buffer, size_t *length,
                        Error *error) {
  char path[ASSETS_PATH_BYTES];
  *buffer = NULL;
  *length = 0;
  if (name[0] == '/' || leads_up(name))
    return error_refuse(error, "'%.200s' leads out of the folder of the file that names it", name);
  const int n = snprintf(path, sizeof path, "%.*s%s", (int)(path_base(beside) - beside), beside, name);
  if (n < 0 || (size_t)n >= sizeof path) return error_refuse(error, "a path is too long");
  return read_path(path, O_NONBLOCK | O_NOFOLLOW, max_bytes, buffer, length, error);
}
