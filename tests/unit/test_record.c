/* Records survive: every system call of a save fails, is cut short, is interrupted, or is the last of the program. The
 * calls are the linker's --wrap (see the Makefile), so nothing outside this program changes. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "lessons/engine/lesson_progress.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/scratch.h"

/* ---- System calls that fail */

typedef enum { NO_FAULT = 0, FAIL, INTERRUPT, SHORTEN, CRASH_BEFORE, CRASH_AFTER } Fault;
enum { CRASHED = 99, CALLS_MAX = 200 };

static struct {
  Fault fault;
  int reason;    /* of FAIL: errno */
  bool for_good; /* FAIL: every later call fails too */
  int at;        /* the call that is hit, from 0 */
  int n;         /* calls so far */
  char log[CALLS_MAX][80];
} sys;

static void arm(Fault fault, int reason, int at) {
  memset(&sys, 0, sizeof sys);
  sys.fault = fault;
  sys.reason = reason;
  sys.at = at;
}

/* Called with the name and object of each call. True: it fails, with errno set. */
static bool hit(const char *call, const char *object) {
  const int n = sys.n++;
  const char *slash = object ? strrchr(object, '/') : NULL;
  if (n < CALLS_MAX) snprintf(sys.log[n], sizeof sys.log[n], "%s %.60s", call, slash && slash[1] ? slash + 1 : "");
  if (n != sys.at && !(sys.for_good && n > sys.at)) return false;
  if (sys.fault == CRASH_BEFORE) _exit(CRASHED);
  if (sys.fault == INTERRUPT) {
    static const char *const SLOW[] = {"open", "read", "write", "fsync", "flock"}; /* that a signal can interrupt */
    EACH (k, SLOW)
      if (strcmp(call, SLOW[k]) == 0) return errno = EINTR, true;
  }
  if (sys.fault == FAIL) return errno = sys.reason, true;
  return false;
}

static bool is_hit(Fault fault) { return sys.fault == fault && sys.n - 1 == sys.at; }

static void after(void) {
  if (is_hit(CRASH_AFTER)) _exit(CRASHED);
}

/* Half of what was asked for, at least one byte. */
static size_t cut(size_t size) { return is_hit(SHORTEN) && size > 1 ? size / 2 : size; }

/* What the Makefile has the linker wrap for this test; the name with _chk is that of _FORTIFY_SOURCE.
 * wrapped: open read write fsync close rename unlink mkdir flock fchmod stat fstat lstat __read_chk */
#define WRAP(type, name, declared, passed, object)                                                                     \
  type __real_##name declared;                                                                                         \
  type __wrap_##name declared;                                                                                         \
  type __wrap_##name declared {                                                                                        \
    if (hit(#name, object)) return -1;                                                                                 \
    const type result = __real_##name passed;                                                                          \
    const int reason = errno;                                                                                          \
    after();                                                                                                           \
    errno = reason;                                                                                                    \
    return result;                                                                                                     \
  }

WRAP(ssize_t, read, (int file, void *bytes, size_t size), (file, bytes, cut(size)), NULL)
/* What _FORTIFY_SOURCE makes of a read. */
ssize_t __wrap___read_chk(int file, void *bytes, size_t size, size_t room);
ssize_t __wrap___read_chk(int file, void *bytes, size_t size, size_t room) {
  assert_true(size <= room);
  return __wrap_read(file, bytes, size);
}
WRAP(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, cut(size)), NULL)
WRAP(int, fsync, (int file), (file), NULL)
WRAP(int, flock, (int file, int how), (file, how), NULL)
WRAP(int, fchmod, (int file, mode_t mode), (file, mode), NULL)
WRAP(int, fstat, (int file, struct stat *there), (file, there), NULL)
WRAP(int, stat, (const char *path, struct stat *there), (path, there), path)
WRAP(int, lstat, (const char *path, struct stat *there), (path, there), path)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), path)
WRAP(int, unlink, (const char *path), (path), path)
WRAP(int, rename, (const char *from, const char *to), (from, to), from)

/* A close that fails has closed all the same. */
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file) {
  const bool fails = hit("close", NULL);
  const int reason = errno, result = __real_close(file);
  after();
  if (fails) errno = reason;
  return fails ? -1 : result;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (hit("open", path)) return -1;
  const int file = __real_open(path, flags, mode);
  after();
  return file;
}

/* ---- A home */

static char home[SCRATCH_BYTES], record[160];

static int set_up(void **state) {
  (void)state;
  arm(NO_FAULT, 0, 0);
  if (!scratch_folder(home)) return -1;
  snprintf(record, sizeof record, "%s/state/tilewalk/lessons.json", home);
  return setenv("XDG_STATE_HOME", test_text("%s/state", home), 1);
}

static int tear_down(void **state) {
  (void)state;
  arm(NO_FAULT, 0, 0);
  return !scratch_remove(home);
}

static FILE *warnings;
static LessonProgress p; /* that is open */
static char said[4096];

static void open_progress(void) {
  memset(said, 0, sizeof said);
  warnings = fmemopen(said, sizeof said - 1, "w");
  assert_non_null(warnings);
  must(lesson_progress_open(&p, warnings, fresh_error()));
}

static void close_progress(void) {
  lesson_progress_close(&p);
  fclose(warnings);
}

static void save(void) { must(lesson_progress_save(&p, fresh_error())); }

static int count_lines(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

/* One line has been said, and it says why. */
static void is_said_once(const char *why) {
  fflush(warnings);
  assert_int_equal(count_lines(said), 1);
  if (!strstr(said, why)) fail_msg("'%s' does not say '%s'", said, why);
}

/* The bytes of a file of the record's folder; NULL: there is none. For the caller to free. */
static char *slurp(const char *suffix) {
  const char *path = test_text("%s%s", record, suffix);
  char *text;
  size_t length;
  must(record_read(path, 1 << 16, &text, &length, fresh_error()));
  return text;
}

static void holds(const char *suffix, const char *text) {
  char *now = slurp(suffix);
  assert_string_equal(now, text);
  free(now);
}

static void put(const char *text) {
  RecordLock lock;
  must(record_lock(&lock, record, true, fresh_error()));
  must(record_write(&lock, ALL_OF(text), fresh_error()));
  record_unlock(&lock);
}

/* The record of somebody who has answered `old` and, on top, in a lesson of its own, nothing yet. */
static void put_old_record(void) {
  open_progress();
  lesson_progress_begin(&p, "lesson", 7);
  lesson_progress_answer(&p, "lesson", "old", true, 1, 0);
  save();
  close_progress();
}

/* A run that answers one more question of it. */
static void answer(const char *id) {
  open_progress();
  lesson_progress_answer(&p, "lesson", id, true, 1, 0);
  save();
  assert_string_equal(said, "");
  close_progress();
}

static LessonStanding standing_of(const char *lesson) {
  open_progress();
  const LessonStanding standing = lesson_progress_of(&p, lesson);
  close_progress();
  return standing;
}

/* What is there now, as a whole: answers `old` and `new` of "lesson". */
static void look(bool *has_old, bool *has_new) {
  open_progress();
  assert_string_equal(said, "");
  *has_old = lesson_progress_is_right(&p, "lesson", "old");
  *has_new = lesson_progress_is_right(&p, "lesson", "new");
  assert_int_equal(lesson_progress_of(&p, "lesson").seed, 7);
  close_progress();
}

/* ---- Faults at every step */

/* One run of a program that opens the record, answers a question, and saves: its exit status. */
static int run_disturbed(Fault fault, int reason, int at, bool for_good, int *n_calls) {
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    FILE *quiet = fmemopen(said, sizeof said - 1, "w");
    memset(said, 0, sizeof said);
    arm(fault, reason, at);
    sys.for_good = for_good;
    if (lesson_progress_open(&p, quiet, fresh_error())) _exit(1);
    if (!lesson_progress_of(&p, "lesson").has_begun) lesson_progress_begin(&p, "lesson", 8); /* as those who ask do */
    lesson_progress_answer(&p, "lesson", "new", true, 1, 0);
    if (lesson_progress_save(&p, fresh_error())) _exit(2);
    const int n = sys.n;
    lesson_progress_answer(&p, "lesson", "new", true, 2, 0);
    if (lesson_progress_save(&p, fresh_error())) _exit(3); /* going on, with one warning at most, of what failed */
    arm(NO_FAULT, 0, 0);
    fflush(quiet);
    if (count_lines(said) > (fault == FAIL)) _exit(4);
    if (write(pipes[1], &n, sizeof n) != sizeof n) _exit(5);
    _exit(0);
  }
  int status, n = 0;
  close(pipes[1]);
  if (read(pipes[0], &n, sizeof n) != sizeof n) n = 0;
  close(pipes[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (n_calls) *n_calls = n;
  return WEXITSTATUS(status);
}

/* For each call of a save and each fault: the old record or the new one, and the next save works. */
TEST(the_old_record_or_the_new_one) {
  static const struct {
    Fault fault;
    int reason;
    bool for_good;
  } FAULTS[] = {{FAIL, EIO, false},  {FAIL, ENOSPC, false},    {FAIL, EACCES, false},
                {FAIL, EROFS, true}, {FAIL, ENOSPC, true},     {INTERRUPT, EINTR, false},
                {SHORTEN, 0, false}, {CRASH_BEFORE, 0, false}, {CRASH_AFTER, 0, false}};
  int n_calls = 0, n_old = 0, n_new = 0;
  put_old_record();
  char *before = slurp("");
  assert_int_equal(run_disturbed(NO_FAULT, 0, -1, false, &n_calls), 0);
  assert_true(n_calls >= 20);
  EACH (f, FAULTS)
    for (int at = 0; at < n_calls; at++) {
      bool has_old, has_new;
      put(before);
      const Fault fault = FAULTS[f].fault;
      const int status = run_disturbed(fault, FAULTS[f].reason, at, FAULTS[f].for_good, NULL);
      assert_true(status == (fault >= CRASH_BEFORE ? CRASHED : 0));
      look(&has_old, &has_new);
      assert_true(has_old);
      if (fault == INTERRUPT || fault == SHORTEN) assert_true(has_new);
      n_old += !has_new;
      n_new += has_new;
      answer("later");
      look(&has_old, &has_new);
      assert_true(has_old);
      assert_null(slurp(".damaged-1"));
      assert_null(slurp(".new"));
    }
  free(before);
  assert_true(n_old > 0 && n_new > 0);
}

/* A power cut keeps what was synced: the bytes before the rename, the rename before the end. */
TEST(bytes_are_synced_before_the_rename_and_the_folder_after) {
  put_old_record();
  open_progress();
  lesson_progress_answer(&p, "lesson", "new", true, 1, 0);
  arm(NO_FAULT, 0, 0);
  save();
  int at = 0;
  static const char *const ORDER[] = {"open lessons.json.lock",
                                      "flock ",
                                      "open lessons.json",
                                      "open lessons.json.new",
                                      "write ",
                                      "fsync ",
                                      "close ",
                                      "rename lessons.json.new",
                                      "open ",
                                      "fsync ",
                                      "close ",
                                      "close "};
  for (size_t k = 0; k < COUNT_OF(ORDER); k++, at++) {
    while (at < sys.n && strcmp(sys.log[at], ORDER[k]) != 0) at++;
    assert_true(at < sys.n);
  }
  arm(NO_FAULT, 0, 0);
  close_progress();
}

/* ---- Many at once */

TEST(eight_writers_lose_nothing) {
  enum { WRITERS = 8, SAVES = 12 };
  put_old_record();
  for (int w = 0; w < WRITERS; w++) {
    if (fork() != 0) continue;
    open_progress();
    if (w % 2 && !lesson_progress_of(&p, "own").has_begun) lesson_progress_begin(&p, "own", 7); /* several do */
    for (int k = 0; k < SAVES; k++) {
      lesson_progress_answer(&p, w % 2 ? "own" : "lesson", test_text("w%d-%d", w, k), true, 1, 0);
      if (lesson_progress_save(&p, fresh_error())) _exit(1);
    }
    for (int tries = 0; json_object_size(p.changes) && tries < 20;
         tries++) { /* on a slow machine ten seconds are short */
      p.has_waited = false;
      if (lesson_progress_save(&p, &(Error){0})) _exit(1);
    }
    _exit(json_object_size(p.changes) ? 1 : 0);
  }
  for (int w = 0; w < WRITERS; w++) {
    int status;
    assert_true(wait(&status) > 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  assert_int_equal(standing_of("lesson").n_right, WRITERS / 2 * SAVES + 1);
  assert_int_equal(standing_of("own").n_right, WRITERS / 2 * SAVES);
}

/* Every field comes back as it was put in; a lesson that was never begun has not begun. */
TEST(what_is_kept_comes_back) {
  open_progress();
  lesson_progress_begin(&p, "01-a", 7);
  lesson_progress_at(&p, "01-a", 3, false);
  lesson_progress_answer(&p, "01-a", "one", true, 2, 1);
  lesson_progress_answer(&p, "01-a", "two", false, 1, 0);
  lesson_progress_begin(&p, "02-b", 8);
  lesson_progress_at(&p, "02-b", 9, true);
  save();
  close_progress();
  const LessonStanding a = standing_of("01-a"), b = standing_of("02-b"), c = standing_of("03-c");
  assert_true(a.has_begun && !a.is_finished && a.seed == 7 && a.block == 3 && a.n_right == 1 && a.n_asked == 2);
  assert_true(b.has_begun && b.is_finished && b.seed == 8 && b.block == 9 && b.n_right == 0 && b.n_asked == 0);
  assert_true(!c.has_begun && !c.is_finished);
  open_progress();
  assert_true(lesson_progress_is_right(&p, "01-a", "one") && !lesson_progress_is_right(&p, "01-a", "two"));
  close_progress();
}

/* Another program has the lock: who has waited once does not wait again, is told once, and loses nothing. */
TEST(a_held_lock_is_waited_for_once) {
  struct timespec began, ended;
  open_progress();
  lesson_progress_begin(&p, "01-a", 7);
  save();
  const int other = open(test_text("%s.lock", record), O_RDWR | O_CREAT, 0600);
  assert_true(other >= 0 && flock(other, LOCK_EX) == 0);
  p.has_waited = true; /* the first wait takes ten seconds */
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (int k = 0; k < 20; k++) {
    lesson_progress_answer(&p, "01-a", k % 2 ? "one" : "two", true, 1, 0);
    save();
  }
  clock_gettime(CLOCK_MONOTONIC, &ended);
  assert_true(ended.tv_sec - began.tv_sec < 100); /* twenty waits take 200 s */
  is_said_once("");
  close(other);
  save();
  close_progress();
  assert_int_equal(standing_of("01-a").n_right, 2);
}

/* Who begins again means it, and says so by having seen the old one. */
TEST(beginning_again_begins_again) {
  put_old_record();
  open_progress();
  lesson_progress_begin(&p, "lesson", 8);
  save();
  close_progress();
  const LessonStanding s = standing_of("lesson");
  assert_int_equal(s.seed, 8);
  assert_int_equal(s.n_asked, 0);
}

/* ---- What is there and cannot be used */

/* It is left as it is: nothing is set aside, nothing is written, one line is said. */
static void is_left_alone(const char *why) {
  open_progress();
  lesson_progress_begin(&p, "lesson", 1);
  save();
  lesson_progress_answer(&p, "lesson", "new", true, 1, 0);
  save();
  is_said_once(why);
  close_progress();
  assert_null(slurp(".damaged-1"));
  assert_null(slurp(".new"));
}

TEST(a_record_of_a_newer_version_is_left_as_it_is) {
  static const char NEWER[] = "{\"tilewalk-lessons\": 2, \"answers\": [1, 2, 3]}";
  put(NEWER);
  is_left_alone("newer Tilewalk");
  holds("", NEWER);
}

TEST(what_is_no_plain_file_is_not_waited_for) {
  put("x");
  assert_int_equal(unlink(record), 0);
  assert_int_equal(mkfifo(record, 0600), 0);
  is_left_alone("no plain file");
  assert_int_equal(unlink(record), 0);
  assert_int_equal(mkdir(record, 0700), 0);
  is_left_alone("no plain file");
}

TEST(a_record_that_is_too_large_is_left_as_it_is) {
  put("x");
  assert_int_equal(truncate(record, (4 << 20) + 1), 0);
  is_left_alone("larger than");
}

/* A link to the record, as people keep such files elsewhere, stays a link. */
TEST(a_link_stays_a_link) {
  char elsewhere[160];
  struct stat there;
  bool has_old, has_new;
  put_old_record();
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere.json", home);
  assert_int_equal(rename(record, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, record), 0);
  answer("new");
  assert_int_equal(lstat(record, &there), 0);
  assert_true(S_ISLNK(there.st_mode));
  look(&has_old, &has_new);
  assert_true(has_old && has_new);
}

/* A file stands where the folder should be: said once, and the lesson goes on. */
TEST(a_home_that_cannot_be_written_is_said_once) {
  const char *path = test_text("%s/state", home);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
  open_progress();
  lesson_progress_begin(&p, "lesson", 1);
  for (int k = 0; k < 3; k++) {
    lesson_progress_answer(&p, "lesson", k ? "a" : "b", true, 1, 0);
    save();
  }
  is_said_once("cannot make the folder");
  assert_int_equal(lesson_progress_of(&p, "lesson").n_right, 2);
  /* and when it can be written again, nothing of it was lost */
  assert_int_equal(unlink(path), 0);
  lesson_progress_answer(&p, "lesson", "c", true, 1, 0);
  save();
  close_progress();
  assert_int_equal(standing_of("lesson").n_right, 3);
}

static mode_t mode_of(const char *path) {
  struct stat there;
  assert_int_equal(stat(path, &there), 0);
  return there.st_mode & 0777;
}

/* The owner's alone, whatever the umask; an older record keeps its mode. */
TEST(folders_and_records_are_private) {
  static const char *const FOLDERS[] = {"state", "state/tilewalk"};
  const mode_t mask = umask(0);
  put_old_record();
  umask(mask);
  EACH (k, FOLDERS) {
    assert_int_equal(mode_of(test_text("%s/%s", home, FOLDERS[k])), 0700);
  }
  assert_int_equal(mode_of(record), 0600);
  assert_int_equal(chmod(record, 0640), 0);
  answer("new");
  assert_int_equal(mode_of(record), 0640);
}

/* Damage is what no version writes. It goes aside under a free name, and what is done is kept in a new record. */
TEST(damage_is_set_aside) {
  static const char *const DAMAGE[] = {"{\"tilewalk-lessons\": 1, \"less", "[]", "{\"tilewalk-lessons\": 0}",
                                       "{\"tilewalk-lessons\": 1, \"lessons\": {\"x\": {\"seed\": 1.5}}}"};
  EACH (k, DAMAGE) {
    put(DAMAGE[k]);
    open_progress();
    lesson_progress_begin(&p, "lesson", 7);
    save();
    fflush(warnings);
    assert_non_null(strstr(said, "set aside"));
    close_progress();
    holds(test_text(".damaged-%zu", k + 1), DAMAGE[k]);
    assert_true(standing_of("lesson").has_begun);
  }
}

TEST(without_a_home_nothing_is_kept) {
  char path[RECORD_PATH_BYTES];
  setenv("XDG_STATE_HOME", "relative", 1);
  unsetenv("HOME");
  assert_false(record_path("XDG_STATE_HOME", ".local/state", "lessons.json", path));
  setenv("HOME", "/nowhere", 1);
  assert_true(record_path("XDG_STATE_HOME", ".local/state", "lessons.json", path));
  assert_string_equal(path, "/nowhere/.local/state/tilewalk/lessons.json");
}

static Status read_one(void *context, Error *error) {
  char *bytes;
  size_t length;
  const Status status = record_read(context, 1 << 20, &bytes, &length, error);
  free(bytes);
  return status;
}

TEST(an_allocation_may_fail) {
  put_old_record();
  assert_true(alloc_fail_each(read_one, record) >= 1);
}

EACH_TEST(set_up, tear_down)
