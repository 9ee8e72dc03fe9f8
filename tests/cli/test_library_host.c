/* The library is a guest: whatever is asked, signal handlers, descriptors and the folder stay the host's, and four
 * threads that hold a lock around each question get the same answers. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "viz/library/tilewalk.h"

/* A question for each command that would be long, or refused, without words; of others their name is one. */
static const char *const QUESTIONS[] = {
    "crosscheck --recorded --kernel-name standard --shard 1/40 --csv", /* long: asked once */
    "advise -N 64 --gpu t4",
    "algorithms fa2",
    "kernel tests/support/kernels/recorded/basics.ptx --entry saxpy --grid 5 --block 256 --arg i32:1100 --arg f32:2 "
    "--arg f32[1280]:normal:1 --arg f32[1280]:zero",
    "kernel nothing.cu",
    "render -N 64 -o -.svg",
    "replay assets/nothing.din",
    "softmax --scores 3,1,2",
    "trace -N 64 --block 32",
};
enum { THREADS = 4, N_MAX = 64 };

static const char *lines[N_MAX];
static TilewalkAnswer *first[N_MAX];
static int n_lines;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
  void (*handlers[32])(int);
  int descriptors[256];
  char folder[1024];
} Host;

static Host host_now(void) {
  Host h = {0};
  struct sigaction now;
  for (int n = 1; n < 32; n++)
    if (sigaction(n, NULL, &now) == 0) h.handlers[n] = now.sa_handler;
  for (int fd = 0; fd < 256; fd++) h.descriptors[fd] = fcntl(fd, F_GETFD);
  assert_non_null(getcwd(h.folder, sizeof h.folder));
  return h;
}

TEST(the_host_is_as_it_was_after_every_command) {
  const char *name;
  EACH (k, QUESTIONS) lines[n_lines++] = QUESTIONS[k];
  for (size_t c = 0; (name = tilewalk_command(c)); c++) {
    bool has = false;
    for (int k = 0; k < n_lines; k++) has = has || strncmp(lines[k], name, strlen(name)) == 0;
    assert_true(n_lines < N_MAX);
    if (!has) lines[n_lines++] = name;
  }
  const Host before = host_now();
  for (int k = 0; k < n_lines; k++) {
    first[k] = tilewalk_ask_line(lines[k]);
    const Host after = host_now();
    if (memcmp(&before, &after, sizeof before) != 0) fail_msg("'%s' leaves the host another", lines[k]);
  }
  TilewalkAnswer *none = tilewalk_ask(1, NULL);
  assert_int_equal(tilewalk_status(none), 2);
  tilewalk_free(none);
}

/* How many answers are not the first's. */
static void *ask_all(void *differ) {
  for (int k = 1; k < n_lines; k++) {
    pthread_mutex_lock(&lock);
    TilewalkAnswer *answer = tilewalk_ask_line(lines[k]);
    pthread_mutex_unlock(&lock);
    *(int *)differ += tilewalk_status(answer) != tilewalk_status(first[k]) ||
                      strcmp(tilewalk_text(answer), tilewalk_text(first[k])) != 0;
    tilewalk_free(answer);
  }
  return NULL;
}

TEST(four_threads_get_the_same_answers) {
  pthread_t threads[THREADS];
  int differ[THREADS] = {0};
  for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_create(&threads[t], NULL, ask_all, &differ[t]), 0);
  for (int t = 0; t < THREADS; t++) {
    assert_int_equal(pthread_join(threads[t], NULL), 0);
    assert_int_equal(differ[t], 0);
  }
  for (int k = 0; k < n_lines; k++) tilewalk_free(first[k]);
}
