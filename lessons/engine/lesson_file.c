#define _POSIX_C_SOURCE 200809L
#include "lessons/engine/lesson_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lessons/engine/record.h"
#include "sim/base/quote.h"

static FileStamp stamp_of(const char *path) {
  struct stat s;
  if (stat(path, &s) != 0) return (FileStamp){0};
  return (FileStamp){s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_size};
}

static bool same(FileStamp a, FileStamp b) { return memcmp(&a, &b, sizeof a) == 0; }

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
  char *text;
  size_t n;
  Error why = {0};
  const Status status = record_read(path, LESSON_WORK_FILE_BYTES, &text, &n, &why);
  if (status == STATUS_NO_MEMORY)
    error_pass(error, &why);
  else if (status)
    error_refuse(error, "'%.100s' is no file of at most %d KiB that can be read", quote_text(path).text,
                 LESSON_WORK_FILE_BYTES / 1024);
  else if (!text)
    refuse(path, "cannot be read", error); /* errno: there is none */
  return text;
}
