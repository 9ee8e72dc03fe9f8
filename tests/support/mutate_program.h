/* Small edits of program text: some that change what it computes, some that do not. */
#ifndef TILEWALK_TESTS_SUPPORT_MUTATE_PROGRAM_H
#define TILEWALK_TESTS_SUPPORT_MUTATE_PROGRAM_H

#include <stdbool.h>

#include "sim/algorithms/program.h"
#include "tests/support/rand.h"

/* Texts have room for PROGRAM_TEXT_BYTES. */
bool mutate_replace(char *text, const char *from, const char *to, int nth); /* false: there is no nth */
char *mutate_nth_line(char *text, int nth);                                 /* NULL: none */
int mutate_lines_of(const char *text);

/* One edit: a line or a part less, another name, another operator. False: nothing was found to edit. */
bool mutate_program(const Program *p, char *text, Rand *r);

/* Whether the edit is one that leaves the numbers as they were. */
bool mutate_changes_no_number(const char *was, const char *is);

/* From and to, NULL at the end: rewritings of one line that change nothing. */
extern const char *const MUTATE_REWRITINGS[][2];

#endif
