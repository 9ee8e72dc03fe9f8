/* Programs by chance: one pass or two, rows or columns outside, S in HBM or not, any order of lines that is right. */
#ifndef TILEWALK_TESTS_SUPPORT_RANDOM_PROGRAM_H
#define TILEWALK_TESTS_SUPPORT_RANDOM_PROGRAM_H

#include "sim/algorithms/program.h"
#include "tests/support/rand.h"

enum { RANDOM_KINDS = 9 };

/* Writes the text of one of a kind in [0, RANDOM_KINDS), named random-`number`; another kind writes its name alone. */
void random_program(char text[PROGRAM_TEXT_BYTES], int number, int kind, Rand *rand);

#endif
