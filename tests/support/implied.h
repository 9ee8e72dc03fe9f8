/* The tensors of a program that declares nothing, by their rows in its table. */
#ifndef TILEWALK_TESTS_SUPPORT_IMPLIED_H
#define TILEWALK_TESTS_SUPPORT_IMPLIED_H

enum { IMPLIED_Q = 0, IMPLIED_K, IMPLIED_V, IMPLIED_S, IMPLIED_P, IMPLIED_O, IMPLIED_STATS, IMPLIED_COUNT };

#endif
