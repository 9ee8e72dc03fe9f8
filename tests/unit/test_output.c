/* A written file is whole or not there: on commit, abort, error, and when the writer is killed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>

#include "tests/support/test.h"
#include "tests/support/scratch.h"
#include "viz/export/output.h"

typedef Status Begin(FileWrite *, const char *, Error *);
static Begin *const begins[] = {file_write_begin, file_write_begin_named};

static size_t count_entries(void) {
  size_t n = 0;
  DIR *here = opendir(".");
  assert_non_null(here);
  for (struct dirent *entry; (entry = readdir(here));) n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
  closedir(here);
  return n;
}

static void assert_holds(const char *path, const char *text) {
  char got[64] = "";
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  got[fread(got, 1, sizeof got - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(got, text);
}

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* What is written there so is there then. */
static void replace(Begin *begin, const char *path, const char *text) {
  FileWrite out;
  must(begin(&out, path, fresh_error()));
  fputs(text, out.stream);
  must(file_write_commit(&out, &test_error));
  assert_holds(path, text);
}

TEST(a_commit_puts_the_file_in_place) {
  for (size_t i = 0; i < 2; i++) {
    FileWrite out;
    must(begins[i](&out, "new.txt", NULL));
    fputs("bytes", out.stream);
    assert_int_not_equal(access("new.txt", F_OK), 0);
    must(file_write_commit(&out, NULL));
    assert_holds("new.txt", "bytes");
    assert_int_equal(count_entries(), 1);
    file_write_abort(&out); /* does nothing any more */
    assert_int_equal(unlink("new.txt"), 0);
  }
}

/* /dev/shm is a folder like others: a file there is new, and replaced, not added to. */
TEST(a_file_in_shared_memory_is_a_file) {
  if (access("/dev/shm", W_OK) != 0) skip();
  const char *path = test_text("/dev/shm/tilewalk-test-%ld", (long)getpid());
  for (size_t i = 0; i < 4; i++) replace(begins[i % 2], path, "bytes");
  assert_int_equal(unlink(path), 0);
  FileWrite out;
  assert_int_equal(file_write_begin(&out, "/dev/no-such-device", NULL), STATUS_BAD_REQUEST);
}

/* A link stays a link, and what it names is made or replaced: also where nothing is yet, through two links, from a
 * folder. */
TEST(links_lead_to_the_file) {
  struct stat there;
  assert_int_equal(mkdir("below", 0700), 0);
  assert_int_equal(symlink("../real.txt", "below/second"), 0);
  assert_int_equal(symlink("below/second", "first"), 0);
  for (size_t i = 0; i < 4; i++) { /* the first time the links lead nowhere */
    replace(begins[i % 2], "first", "bytes");
    assert_holds("real.txt", "bytes");
    assert_int_equal(lstat("first", &there), 0);
    assert_true(S_ISLNK(there.st_mode));
    assert_int_equal(lstat("below/second", &there), 0);
    assert_true(S_ISLNK(there.st_mode));
  }
  FileWrite out;
  assert_int_equal(symlink("loop", "loop"), 0);
  assert_int_equal(file_write_begin(&out, "loop", NULL), STATUS_BAD_REQUEST);
}

TEST(the_old_file_stays_until_the_commit) {
  for (size_t i = 0; i < 2; i++) {
    FileWrite out;
    struct stat info;
    put("old.txt", "old");
    assert_int_equal(chmod("old.txt", 0640), 0);
    must(begins[i](&out, "old.txt", NULL));
    fputs("new", out.stream);
    fflush(out.stream);
    assert_holds("old.txt", "old");
    must(file_write_commit(&out, NULL));
    assert_holds("old.txt", "new");
    assert_int_equal(stat("old.txt", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(count_entries(), 1);
  }
}

TEST(an_abort_leaves_nothing) {
  for (size_t i = 0; i < 2; i++) {
    FileWrite out;
    put("old.txt", "old");
    must(begins[i](&out, "old.txt", NULL));
    fputs("new", out.stream);
    file_write_abort(&out);
    file_write_abort(&out);
    assert_holds("old.txt", "old");
    assert_int_equal(count_entries(), 1);
  }
}

TEST(a_killed_writer_leaves_nothing) {
  int probe = open(".", O_WRONLY | O_TMPFILE, 0600);
  if (probe < 0) skip(); /* a file system without unnamed files keeps a hidden one */
  close(probe);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    FileWrite out;
    if (file_write_begin(&out, "new.txt", NULL) != STATUS_OK) _exit(1);
    fputs("half", out.stream);
    fflush(out.stream);
    raise(SIGKILL);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(count_entries(), 0);
}

TEST(a_link_is_followed) {
  struct stat info;
  assert_int_equal(mkdir("real", 0700), 0);
  put("real/file.txt", "old");
  char absolute[4096];
  assert_non_null(realpath("real/file.txt", absolute));
  const char *const targets[] = {"real/file.txt", absolute};
  for (size_t k = 0; k < 2; k++) {
    assert_int_equal(symlink(targets[k], "link.txt"), 0);
    replace(file_write_begin, "link.txt", k ? "newer" : "new");
    assert_holds("real/file.txt", k ? "newer" : "new");
    assert_int_equal(lstat("link.txt", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(unlink("link.txt"), 0);
  }
}

static void assert_refused(const char *path, const char *message) {
  for (size_t i = 0; i < 2; i++) {
    FileWrite out;
    Error error = {STATUS_OK, ""};
    assert_int_equal(begins[i](&out, path, &error), STATUS_BAD_REQUEST);
    assert_string_equal(error.message, message);
    assert_null(out.stream);
    file_write_abort(&out);
  }
}

TEST(a_refusal_names_the_path_and_the_reason) {
  assert_int_equal(mkdir("folder", 0700), 0);
  put("file", "text");
  assert_refused("", "cannot write \"\": the name is empty; name a file");
  assert_refused("folder", "cannot write folder: it is a folder; name a file in it");
  assert_refused("nowhere/x.png", "cannot write nowhere/x.png: there is no such folder");
  assert_refused("file/x.png", "cannot write file/x.png: Not a directory");
  assert_int_equal(count_entries(), 2);
  assert_int_equal(chmod("file", 0444), 0);
  assert_int_equal(chmod("folder", 0555), 0);
  assert_int_equal(chmod(".", 0777), 0);
  const uid_t user = geteuid();
  if (user == 0) assert_int_equal(setresuid(65534, 65534, 0), 0); /* root may write anywhere */
  assert_refused("file", "cannot write file: Permission denied");
  assert_refused("folder/x", "cannot write folder/x: Permission denied");
  assert_int_equal(setresuid(user, user, user), 0);
}

/* Once with bytes that fit the stream's buffer (the flush fails), once with more (a write fails before). */
TEST(a_full_disk_is_reported) {
  for (int n = 1; n <= 100001; n += 100000) {
    FileWrite out;
    Error error = {STATUS_OK, ""};
    must(file_write_begin(&out, "/dev/full", NULL));
    for (int i = 0; i < n; i++) fputc('x', out.stream);
    assert_int_equal(file_write_commit(&out, &error), STATUS_BAD_REQUEST);
    assert_string_equal(error.message, "cannot write /dev/full: No space left on device");
  }
}

/* A descriptor closed behind its back stands in for a disk that fails: no half file, the old one untouched. */
TEST(a_failed_commit_changes_nothing) {
  for (size_t i = 0; i < 2; i++) {
    put("old.txt", "old");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      FileWrite out;
      Error error = {STATUS_OK, ""};
      if (begins[i](&out, "old.txt", NULL) != STATUS_OK) _exit(1);
      fputs("half", out.stream);
      close(fileno(out.stream)); /* the flush in the commit now fails */
      if (file_write_commit(&out, &error) != STATUS_BAD_REQUEST) _exit(2);
      _exit(strstr(error.message, "old.txt: Bad file descriptor") ? 0 : 3);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_holds("old.txt", "old");
    assert_int_equal(count_entries(), 1);
  }
}

EACH_TEST(enter_scratch, leave_scratch)
