/* A program's line as it happens: its own words, with indices for subscripts.
 *
 *     O_is += P V_j     O[2,1] += P V[7]        S of a tile, which has no subscripts: S[2,7]
 *
 * Every function appends to `text` and returns it. */
#ifndef TILEWALK_VIZ_SCENE_LINE_WORDS_H
#define TILEWALK_VIZ_SCENE_LINE_WORDS_H

#include <stddef.h>

#include "viz/scene/line_facts.h"

/* "K[3]", "m′", "S[2,3]"; without indices "K", "m′", "S". */
const char *line_put_name(const Program *program, int name, const Event *event, char *text, size_t size);
const char *line_put_base(const Program *program, int name, char *text, size_t size);

/* All blocks of a name that is moved: "O"; as the program writes it where another name moves with these letters:
 * "O_is".
 */
const char *line_put_moved_name(const Program *program, int name, char *text, size_t size);

/* The blocks that the event moves, masks or sets first: "m[2], l[2]". */
const char *line_put_blocks(const Program *program, const Event *event, char *text, size_t size);

/* The line without its condition: "load K[3]", "l[2], O[2] *= e^(m[2] − m′)". Of a line with several moves, this one.
 */
const char *line_put(const Program *program, const Event *event, char *text, size_t size);

/* The same without "store"; of a line of more words, the statement alone that stands for it: what adds to a tile,
 * divides or scales it, else the first. */
const char *line_put_statement(const Program *program, const Event *event, int most_words, char *text, size_t size);

#endif
