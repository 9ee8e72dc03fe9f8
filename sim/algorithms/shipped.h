/* Which of the shipped programs are taken where none is named: by what their text says and does, never by name. */
#ifndef TILEWALK_SIM_ALGORITHMS_SHIPPED_H
#define TILEWALK_SIM_ALGORITHMS_SHIPPED_H

#include "sim/algorithms/schedule.h"

/* `default alone` in its text: what is shown, traced and launched. */
const Schedule *shipped_default(void);

/* `default compared` in their texts: side by side, in the table's order. Returns how many, at most `most`. */
int shipped_compared(const Schedule **list, int most);

/* Those whose outputs must be the same as a program's: what it may race, and be divided by. Of attention those that are
 * compared. */
int shipped_alike(const Schedule *program, const Schedule **list, int most);
bool programs_are_alike(const Schedule *a, const Schedule *b);

/* The first that keeps the scores in HBM; that splits the keys; that takes a head in one CTA. */
const Schedule *shipped_unfused(void);
const Schedule *shipped_splitting(void);
const Schedule *shipped_whole_head(void);
const Schedule *shipped_sharing(void); /* that says what ranks do */

typedef enum { SHIPPED_ALL = 0, SHIPPED_SPLITS, SHIPPED_WRITES_LSE } ShippedWhich;

/* Their names, joined: "a", "a and b", "a, b and c" (last: " and "). Returns text. */
const char *shipped_names(ShippedWhich which, const char *last, char *text, size_t size);

#endif
