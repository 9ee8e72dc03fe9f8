#define _DEFAULT_SOURCE /* flock, realpath */
#include "lessons/engine/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "sim/base/path.h"

enum { SET_ASIDE_MAX = 100, LOCK_TRIES = 1000, LOCK_WAIT_MS = 10, SUFFIX_BYTES = 32 };

/* ---- Where */

bool record_path(const char *variable, const char *below, const char *name, char path[RECORD_PATH_BYTES]) {
  const char *chosen = getenv(variable), *home = getenv("HOME");
  int length = -1;
  if (chosen && chosen[0] == '/')
    length = snprintf(path, RECORD_PATH_BYTES, "%s/tilewalk/%s", chosen, name);
  else if (home && home[0] == '/')
    length = snprintf(path, RECORD_PATH_BYTES, "%s/%s/tilewalk/%s", home, below, name);
  if (length <= 0 || length >= RECORD_PATH_BYTES - SUFFIX_BYTES) return false;
  char *target = realpath(path, NULL);
  if (target && strlen(target) < RECORD_PATH_BYTES - SUFFIX_BYTES) strcpy(path, target);
  free(target);
  return true;
}

static Status refuse(Error *error, const char *what, const char *path, int reason) {
  return error_refuse(error, "%s %.200s: %s", what, path, strerror(reason));
}

/* path + suffix; the rooms that record_path leaves suffice. */
static void beside(const char *path, const char *suffix, char other[RECORD_PATH_BYTES]) {
  snprintf(other, RECORD_PATH_BYTES, "%.*s%s", RECORD_PATH_BYTES - SUFFIX_BYTES, path, suffix);
}

static int open_again(const char *path, int flags, mode_t mode) {
  int file;
  do file = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
  while (file < 0 && errno == EINTR);
  return file;
}

/* ---- Reading */

/* Reads up to `size` bytes, less only at the end; -1: an error. */
static ssize_t read_all(int file, char *bytes, size_t size) {
  size_t got = 0;
  while (got < size) {
    const ssize_t n = read(file, bytes + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    got += (size_t)n;
  }
  return (ssize_t)got;
}

static Status read_open(int file, const char *path, size_t max_bytes, char **bytes, size_t *length, Error *error) {
  struct stat there;
  if (fstat(file, &there) != 0) return refuse(error, "cannot read", path, errno);
  if (!S_ISREG(there.st_mode)) return error_refuse(error, "cannot read %.200s: it is no plain file", path);
  if ((size_t)there.st_size > max_bytes)
    return error_refuse(error, "cannot read %.200s: it is larger than %zu bytes", path, max_bytes);
  const size_t room = (size_t)there.st_size;
  char *read_bytes = malloc(room + 1);
  if (!read_bytes) return error_no_memory(error, "for %zu bytes of %.200s", room + 1, path);
  const ssize_t n = read_all(file, read_bytes, room);
  if (n < 0) {
    const int reason = errno;
    free(read_bytes);
    return refuse(error, "cannot read", path, reason);
  }
  read_bytes[n] = '\0';
  *bytes = read_bytes;
  *length = (size_t)n;
  return STATUS_OK;
}

Status record_read(const char *path, size_t max_bytes, char **bytes, size_t *length, Error *error) {
  *bytes = NULL;
  *length = 0;
  const int file = open_again(path, O_RDONLY, 0);
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) return STATUS_OK;
  if (file < 0) return refuse(error, "cannot read", path, errno);
  const Status status = read_open(file, path, max_bytes, bytes, length, error);
  close(file);
  return status;
}

/* ---- Locking */

/* The folders above the file, private as the XDG specification asks. */
static Status make_folders(const char *path, Error *error) {
  char part[RECORD_PATH_BYTES];
  struct stat there;
  for (size_t k = 1; path[k]; k++) {
    if (path[k] != '/') continue;
    snprintf(part, sizeof part, "%.*s", (int)k, path);
    if (mkdir(part, 0700) == 0) continue;
    const int reason = errno;
    if (stat(part, &there) != 0 || !S_ISDIR(there.st_mode))
      return refuse(error, "cannot make the folder", part, reason);
  }
  return STATUS_OK;
}

static Status take_lock(const RecordLock *lock, const char *name, bool waits, Error *error) {
  const struct timespec a_while = {0, LOCK_WAIT_MS * 1000000L};
  for (int k = 0; k < (waits ? LOCK_TRIES : 1); k++) {
    if (flock(lock->file, LOCK_EX | LOCK_NB) == 0) return STATUS_OK;
    if (errno != EWOULDBLOCK && errno != EINTR) return STATUS_OK; /* a file system without locks */
    if (waits && errno == EWOULDBLOCK) nanosleep(&a_while, NULL);
  }
  return error_refuse(error, "another program %s %.200s%s; end it, and try again", waits ? "has held" : "holds", name,
                      waits ? " for ten seconds" : "");
}

Status record_lock(RecordLock *lock, const char *path, bool waits, Error *error) {
  char name[RECORD_PATH_BYTES];
  snprintf(lock->path, sizeof lock->path, "%s", path);
  lock->file = -1;
  Status status = make_folders(path, error);
  if (status) return status;
  beside(path, ".lock", name);
  lock->file = open_again(name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (lock->file < 0) return refuse(error, "cannot write", name, errno);
  status = take_lock(lock, name, waits, error);
  if (status) record_unlock(lock);
  return status;
}

void record_unlock(RecordLock *lock) {
  if (lock->file >= 0) close(lock->file); /* which lets go */
  lock->file = -1;
}

/* ---- Writing. Each of these returns 0, or errno. */

static int write_all(int file, const char *bytes, size_t length) {
  for (size_t put = 0; put < length;) {
    const ssize_t n = write(file, bytes + put, length - put);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return ENOSPC;
    put += (size_t)n;
  }
  return 0;
}

static int sync_file(int file) {
  int failed;
  do failed = fsync(file);
  while (failed && errno == EINTR);
  return failed ? errno : 0;
}

static int sync_folder(const char *path) {
  char folder[RECORD_PATH_BYTES];
  snprintf(folder, sizeof folder, "%.*s", (int)(path_base(path) - path), path);
  const int file = open_again(folder, O_RDONLY | O_DIRECTORY, 0);
  if (file < 0) return errno;
  const int reason = sync_file(file);
  close(file);
  return reason == EINVAL ? 0 : reason; /* some file systems sync no folders */
}

static int fill(int file, const RecordLock *lock, const void *bytes, size_t length) {
  struct stat old;
  if (stat(lock->path, &old) == 0 && fchmod(file, old.st_mode & 0777) != 0) return errno;
  const int reason = write_all(file, bytes, length);
  return reason ? reason : sync_file(file);
}

Status record_write(const RecordLock *lock, const void *bytes, size_t length, Error *error) {
  char name[RECORD_PATH_BYTES];
  beside(lock->path, ".new", name);
  unlink(name); /* what a crash left; if it stays, it is in the way now */
  const int file = open_again(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) return refuse(error, "cannot write", name, errno);
  int reason = fill(file, lock, bytes, length);
  if (close(file) != 0 && !reason && errno != EINTR) reason = errno;
  if (!reason && rename(name, lock->path) != 0) reason = errno;
  if (reason) {
    unlink(name);
    return refuse(error, "cannot write", lock->path, reason);
  }
  reason = sync_folder(lock->path);
  return reason ? refuse(error, "cannot make sure of", lock->path, reason) : STATUS_OK;
}

Status record_set_aside(const RecordLock *lock, char other[RECORD_PATH_BYTES], Error *error) {
  struct stat there;
  for (int k = 1; k <= SET_ASIDE_MAX; k++) {
    char suffix[SUFFIX_BYTES];
    snprintf(suffix, sizeof suffix, ".damaged-%d", k);
    beside(lock->path, suffix, other);
    if (lstat(other, &there) == 0) continue;
    if (rename(lock->path, other) == 0) return STATUS_OK;
    return refuse(error, "cannot rename", lock->path, errno);
  }
  return error_refuse(error, "%d damaged records lie beside %.200s; look at them and remove some", SET_ASIDE_MAX,
                      lock->path);
}
