/* A program's line as it happens: its own words, with indices for subscripts.
 *
 *     O_is += P V_j     O[2,1] += P V[7]        S of a tile, which has no subscripts: S[2,7]
 *
 * Every function appends to a text of a fixed size; a piece that does not fit is left out. */
#ifndef TILEWALK_VIZ_SCENE_LINE_WORDS_H
#define TILEWALK_VIZ_SCENE_LINE_WORDS_H

#include "viz/scene/line_facts.h"

typedef struct {
  char *text; /* ends in a zero */
  size_t size;
} Phrase;
void phrase_put(Phrase to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "K[3]", "m′", "S[2,3]"; without indices "K", "m′", "S". */
void line_put_name(const Program *program, int name, const Event *event, Phrase to);
void line_put_base(const Program *program, int name, Phrase to);

/* All blocks of a name that is moved: "O"; as the program writes it where another name moves with these letters:
 * "O_is".
 */
void line_put_moved_name(const Program *program, int name, Phrase to);

/* The blocks that the event moves, masks or sets first: "m[2], l[2]". */
void line_put_blocks(const Program *program, const Event *event, Phrase to);

/* The line without its condition: "load K[3]", "l[2], O[2] *= e^(m[2] − m′)". Of a line with several moves,
 * this one.
 */
void line_put(const Program *program, const Event *event, Phrase to);

/* The same without "store"; of a line of more words, the statement alone that stands for it: what adds to a tile,
 * divides or scales it, else the first. */
void line_put_statement(const Program *program, const Event *event, int most_words, Phrase to);

#endif
