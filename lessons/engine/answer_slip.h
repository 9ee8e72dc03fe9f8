/* Slips that everybody makes, told from the number alone: a thousand for 1,024, bits for bytes, elements for bytes,
 * half or twice, the share of the others, the other way up, one too many. A lesson's own `wrong` lines go first: they
 * know the question. */
#ifndef TILEWALK_LESSONS_ENGINE_ANSWER_SLIP_H
#define TILEWALK_LESSONS_ENGINE_ANSWER_SLIP_H

#include "lessons/engine/answer.h"

/* Whether a wrong answer is one of these slips; then `text` says which. A slip is told only where the typed number
 * would be right but for it, under the question's own tolerance. */
bool answer_slip(const AnswerKey *key, const Answer *answer, char text[ANSWER_NOTE_BYTES]);

#endif
