/* Compiles the shipped programs when Tilewalk is built: `compile standard.walk fa1.walk ... -- lazy.walk ...
 * >programs.c`. Those before -- are what `all` and comparisons are over.
 *
 * The output is C: of each program the bytes of its Program that are not 0, and the table SCHEDULES. The compiler of
 * the output lays a Program out as that of this one did, or refuses. It is part of no library; a program of one's own
 * is read by program_read when it is asked for. */
#include <stdio.h>
#include <string.h>

#include "sim/algorithms/language/read.h"

static void print_program(const Program *p, int index) {
  const unsigned char *bytes = (const unsigned char *)p;
  size_t next = 0; /* byte behind the last printed */
  printf("static const union {\n  unsigned char bytes[sizeof(Program)];\n  Program program;\n} P%d = {{", index);
  for (size_t at = 0; at < offsetof(Program, path); at++) {
    if (!bytes[at]) continue;
    if (at != next) printf("\n[%zu]=", at);
    printf("%d,", bytes[at]);
    next = at + 1;
  }
  printf("}};\n");
}

int main(int n, char **paths) {
  static char text[PROGRAM_TEXT_BYTES + 1];
  static Program program;
  printf("/* Made from the .walk files by sim/algorithms/compile. */\n#include <stddef.h>\n\n"
         "#include \"sim/algorithms/schedule.h\"\n\n_Static_assert(offsetof(Program, path) == %zu, \"one layout\");\n",
         offsetof(Program, path));
  int n_compared = 0, n_programs = 0;
  for (int k = 1; k < n; k++) {
    if (strcmp(paths[k], "--") == 0) {
      n_compared = n_programs;
      continue;
    }
    FILE *file = fopen(paths[k], "rb");
    Error error = {0};
    if (!file) {
      fprintf(stderr, "compile: '%s' cannot be opened\n", paths[k]);
      return 2;
    }
    const size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    if (program_read(&program, text, length, paths[k], &error)) {
      fprintf(stderr, "%s\n", error.message);
      return 2;
    }
    print_program(&program, n_programs++);
  }
  printf("const Schedule *const SCHEDULES[] = {");
  for (int k = 0; k < n_programs; k++) printf("&P%d.program, ", k);
  printf("};\nconst int N_SCHEDULES = %d, N_PROGRAMS = %d;\n", n_compared, n_programs);
  return 0;
}
