/* Equations in texts: whether what is printed is so.
 *
 *     1 / 0.82 = 1.21       false: 1.2195
 *     63 / 128 = 49.2 %     true, as far as its digits go
 *
 * Read are numbers (1,024  0.82  49.2 %), + - x * / ^ ( ), e, and a number in front of a parenthesis. What has words on
 * its left, or a unit on its right, is left alone. */
#ifndef TILEWALK_LESSONS_ENGINE_EQUATION_H
#define TILEWALK_LESSONS_ENGINE_EQUATION_H

#include <stdbool.h>

enum { EQUATION_BYTES = 120 };

/* Whether a text holds an equation that is not so, to the digits of its right side; `found` receives the first. */
bool equation_is_false(const char *text, char found[EQUATION_BYTES]);

#endif
