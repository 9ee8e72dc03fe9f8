/* Closed lists of words, arrays that end with NULL: found, and written out. */
#ifndef TILEWALK_SIM_BASE_WORD_LIST_H
#define TILEWALK_SIM_BASE_WORD_LIST_H

#include <stddef.h>

/* Where the word is in the list; -1: nowhere. */
int word_list_find(const char *const *names, const char *word);

/* "a, b JOINT c", or with joint NULL "a b c". Returns text. */
const char *word_list_text(const char *const *names, const char *joint, char *text, size_t size);

#endif
