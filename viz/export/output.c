#define _GNU_SOURCE /* O_TMPFILE */
#include "viz/export/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sim/base/path.h"

enum { NAMES_TO_TRY = 100 };

static Status refuse(const char *path, const char *reason, Error *error) {
  return error_refuse(error, "cannot write %.200s: %s", path, reason);
}

/* Fills `temporary` with the attempt-th hidden name beside the target; false when it would be too long. */
static bool name_temporary(FileWrite *write, int attempt) {
  const int folder = (int)(path_base(write->target) - write->target);
  int length = snprintf(write->temporary, sizeof write->temporary, "%.*s.%.64s.%ld-%d", folder, write->target,
                        write->target + folder, (long)getpid(), attempt);
  return length > 0 && (size_t)length < sizeof write->temporary;
}

static int open_named(FileWrite *write) {
  errno = ENAMETOOLONG;
  for (int attempt = 0; attempt < NAMES_TO_TRY; attempt++) {
    if (!name_temporary(write, attempt)) break;
    int file = open(write->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) return file;
    if (errno != EEXIST) break;
  }
  write->temporary[0] = '\0';
  return -1;
}

static int open_unnamed(const FileWrite *write) {
  char folder[FILE_WRITE_PATH_BYTES];
  memcpy(folder, write->target, sizeof folder);
  char *slash = strrchr(folder, '/');
  if (slash) slash[1] = '\0';
#ifdef O_TMPFILE
  return open(slash ? folder : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
#else
  return -1; /* a file with a name serves */
#endif
}

/* Whether a path is one of another name for an open file: /dev/stdout, /dev/fd/3, /proc/self/fd/3. The folder /dev/shm
 * holds files like others. */
static bool is_device(const char *path) {
  return (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) || strncmp(path, "/proc/", 6) == 0;
}

/* Makes the target what a chain of symbolic links leads to, also where that is not there yet: the rename is to replace
 * the file, not a link to it. */
static Status follow_links(FileWrite *write, const char *path, Error *error) {
  enum { LINKS_MAX = 40 }; /* as in Linux */
  char next[FILE_WRITE_PATH_BYTES];
  for (int k = 0; k < LINKS_MAX; k++) {
    if (is_device(write->target)) write->is_direct = true;
    if (write->is_direct) return STATUS_OK;
    const ssize_t n = readlink(write->target, next, sizeof next - 1);
    if (n < 0) return STATUS_OK; /* no link, or nothing at all */
    next[n] = '\0';
    const size_t folder = *next == '/' ? 0 : (size_t)(path_base(write->target) - write->target);
    if (folder + (size_t)n >= sizeof write->target) return refuse(path, strerror(ENAMETOOLONG), error);
    memcpy(write->target + folder, next, (size_t)n + 1);
  }
  return refuse(path, strerror(ELOOP), error);
}

/* Checks `path`, notes where the bytes go, and what is there already (old->st_mode is 0 when nothing is). */
static Status set_target(FileWrite *write, const char *path, struct stat *old, Error *error) {
  memset(write, 0, sizeof *write);
  memset(old, 0, sizeof *old);
  if (!*path) return refuse("\"\"", "the name is empty; name a file", error);
  if (strlen(path) >= sizeof write->target) return refuse(path, strerror(ENAMETOOLONG), error);
  strcpy(write->target, path);
  Status status = follow_links(write, path, error);
  if (status) return status;
  if (stat(path, old) != 0) return errno == ENOENT ? STATUS_OK : refuse(path, strerror(errno), error);
  if (S_ISDIR(old->st_mode)) return refuse(path, "it is a folder; name a file in it", error);
  if (access(path, W_OK) != 0) return refuse(path, strerror(errno), error);
  if (!S_ISREG(old->st_mode)) write->is_direct = true;
  return STATUS_OK;
}

static Status begin(FileWrite *write, const char *path, bool may_be_unnamed, Error *error) {
  struct stat old;
  Status status = set_target(write, path, &old, error);
  if (status) return status;

  int file = -1;
  if (write->is_direct) {
    file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
  } else {
    if (may_be_unnamed) file = open_unnamed(write);
    if (file < 0) file = open_named(write);
    if (file >= 0 && old.st_mode) fchmod(file, old.st_mode & 0777);
  }
  if (file >= 0) write->stream = fdopen(file, "wb");
  if (write->stream) return STATUS_OK;
  status = refuse(path, errno == ENOENT ? "there is no such folder" : strerror(errno), error);
  if (file >= 0) close(file);
  if (write->temporary[0]) unlink(write->temporary);
  return status;
}

Status file_write_begin(FileWrite *write, const char *path, Error *error) { return begin(write, path, true, error); }

Status file_write_begin_named(FileWrite *write, const char *path, Error *error) {
  return begin(write, path, false, error);
}

/* Gives an unnamed file its temporary name. */
static bool link_temporary(FileWrite *write) {
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(write->stream));
  for (int attempt = 0; attempt < NAMES_TO_TRY; attempt++) {
    if (!name_temporary(write, attempt)) break;
    if (linkat(AT_FDCWD, self, AT_FDCWD, write->temporary, AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) break;
  }
  int reason = errno;
  write->temporary[0] = '\0';
  errno = reason;
  return false;
}

Status file_write_commit(FileWrite *write, Error *error) {
  assert(write->stream);
  /* A write that failed earlier has lost its errno; the flush usually fails again, for the same reason. */
  bool has_failed = ferror(write->stream) != 0;
  errno = 0;
  bool is_written = fflush(write->stream) == 0 && !has_failed;
  if (is_written && !write->is_direct && fsync(fileno(write->stream)) != 0 && errno != EINVAL && errno != ENOSYS)
    is_written = false; /* some file systems cannot be asked */
  if (is_written && !write->is_direct && !write->temporary[0]) is_written = link_temporary(write);
  int reason = errno;
  if (fclose(write->stream) != 0 && is_written) {
    is_written = false;
    reason = errno;
  }
  write->stream = NULL;
  if (is_written && !write->is_direct && rename(write->temporary, write->target) != 0) {
    is_written = false;
    reason = errno;
  }
  if (is_written) return STATUS_OK;
  if (write->temporary[0]) unlink(write->temporary);
  return refuse(write->target, reason ? strerror(reason) : "a write failed; is the disk full?", error);
}

void file_write_abort(FileWrite *write) {
  if (!write->stream) return;
  fclose(write->stream);
  write->stream = NULL;
  if (write->temporary[0]) unlink(write->temporary);
}

Status file_write_whole(const char *path, const void *bytes, size_t n, Error *error) {
  FileWrite file;
  const Status status = file_write_begin(&file, path, error);
  if (status) return status;
  fwrite(bytes, 1, n, file.stream);
  return file_write_commit(&file, error);
}
