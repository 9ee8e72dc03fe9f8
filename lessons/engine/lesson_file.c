#define _POSIX_C_SOURCE 200809L
#include "lessons/engine/lesson_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/quote.h"

static FileStamp stamp_of(const char *path) {
  struct stat s;
  if (stat(path, &s) != 0) return (FileStamp){0};
  return (FileStamp){s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_size};
}

static bool same(FileStamp a, FileStamp b) {
  return a.seconds == b.seconds && a.nanoseconds == b.nanoseconds && a.bytes == b.bytes;
}

static Status refuse(const char *path, const char *what, Error *error) {
  return error_refuse(error, "'%.100s' %s: %s", quote_text(path).text, what, strerror(errno));
}

Status lesson_file_begin(LessonFile *file, const char *name, const char *start, Error *error) {
  memset(file, 0, sizeof *file);
  snprintf(file->path, sizeof file->path, "./%s", name);
  const int out = open(file->path, O_WRONLY | O_CREAT | O_EXCL, 0666);
  file->was_there = out < 0 && errno == EEXIST;
  bool good = file->was_there;
  if (out >= 0) {
    good = write(out, start, strlen(start)) == (ssize_t)strlen(start);
    good = close(out) == 0 && good;
  }
  const Status status = good ? STATUS_OK : refuse(file->path, "cannot be written", error);
  if (status)
    file->path[0] = '\0';
  else
    file->seen = file->next = stamp_of(file->path);
  return status;
}

bool lesson_file_changed(LessonFile *file) {
  const FileStamp now = stamp_of(file->path), before = file->next;
  file->next = now;
  if (!*file->path || same(now, file->seen) || !same(now, before) || !now.seconds) return false;
  file->seen = now;
  return true;
}

char *lesson_file_read(const char *path, Error *error) {
  struct stat s;
  const int in = open(path, O_RDONLY | O_NONBLOCK); /* a pipe is not waited for */
  char *text = in >= 0 && fstat(in, &s) == 0 ? malloc(LESSON_WORK_FILE_BYTES + 1) : NULL;
  if (in < 0) {
    refuse(path, "cannot be read", error);
  } else if (!text) {
    error_set(error, STATUS_NO_MEMORY, "no memory to read a file");
  } else if (!S_ISREG(s.st_mode) || s.st_size > LESSON_WORK_FILE_BYTES) {
    error_refuse(error, "'%.100s' is no file of at most %d KiB", quote_text(path).text, LESSON_WORK_FILE_BYTES / 1024);
    free(text);
    text = NULL;
  } else {
    const ssize_t n = read(in, text, LESSON_WORK_FILE_BYTES);
    text[n > 0 ? n : 0] = '\0';
  }
  if (in >= 0) close(in);
  return text;
}
