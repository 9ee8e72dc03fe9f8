/* A client of the library, as short as tilewalk.h promises: asks each line of its input, prints status and answer. */
#include <stdio.h>
#include <string.h>

#include "viz/library/tilewalk.h"

int main(void) {
  char line[4096];
  if (tilewalk_abi() != TILEWALK_ABI) return 1;
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
