/* A client of the library, as short as tilewalk.h promises: asks each line of its input, prints status and answer.
 * Before, it asks what once took the host's streams and signals with it: those are its own afterwards, too. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "viz/library/tilewalk.h"

static int kept_by_host(void) {
  static const char *const LINES[] = {"trace -N 64 --block 32", "render -N 64 -o -.svg", "kernel nothing.cu", NULL};
  int given = 0;
  for (size_t k = 0; k < sizeof LINES / sizeof *LINES; k++) {
    TilewalkAnswer *answer = tilewalk_ask_line(LINES[k]);
    given += tilewalk_length(answer) > 0;
    tilewalk_free(answer);
  }
  TilewalkAnswer *none = tilewalk_ask(1, NULL);
  struct sigaction now;
  const int refused = tilewalk_status(none) == 2 && sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
  tilewalk_free(none);
  return refused && given == 2;
}

int main(void) {
  char line[4096];
  if (tilewalk_abi() != TILEWALK_ABI || !kept_by_host()) return 1;
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    TilewalkAnswer *answer = tilewalk_ask_line(line);
    printf("%d\n", tilewalk_status(answer));
    if (tilewalk_status(answer) == 2) printf("%s\n", tilewalk_error(answer));
    fwrite(tilewalk_text(answer), 1, tilewalk_length(answer), stdout);
    tilewalk_free(answer);
  }
  return 0;
}
