/* Draws a request on shared memory (sim/machine/bank.h). Internal to viz/scene. */
#ifndef TILEWALK_VIZ_SCENE_BANK_DRAW_H
#define TILEWALK_VIZ_SCENE_BANK_DRAW_H

#include "sim/machine/bank.h"
#include "viz/scene/pen.h"

/* Lines of 32 words, those that are asked for and what lies between them where there are few; of `row_words` and
 * `pad_words` the padding is hatched (0: none). What has been given in `passes` passes is blue, what is being given
 * amber, the rest vermillion. Of global memory, where a line is 128 bytes, `by_sectors` colours what else comes with a
 * sector of 8 words. */
void draw_bank_words(const Pen *pen, Box box, const BankWords *words, int passes, uint64_t row_words,
                     uint64_t pad_words, bool by_sectors);

#endif
