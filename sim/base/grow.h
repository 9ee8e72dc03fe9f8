#ifndef TILEWALK_SIM_BASE_GROW_H
#define TILEWALK_SIM_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for at least `needed` items in a growing array, doubling. False: no memory, and nothing changed. */
bool grow_array(void **items, size_t *capacity, size_t needed, size_t item_bytes);

#endif
