/* A table's rows: how many there are, and each in turn, by its number. */
#ifndef TILEWALK_TESTS_SUPPORT_EACH_H
#define TILEWALK_TESTS_SUPPORT_EACH_H

#include "sim/base/checked.h"

#ifndef EACH
#define EACH(k, table) for (size_t k = 0; k < COUNT_OF(table); k++)
#endif

#endif
