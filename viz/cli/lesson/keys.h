/* Keys pressed at a terminal while something plays: without Enter, and not printed. */
#ifndef TILEWALK_VIZ_CLI_LESSON_KEYS_H
#define TILEWALK_VIZ_CLI_LESSON_KEYS_H

#include <stdbool.h>
#include <termios.h>

typedef struct {
  bool is_open; /* standard input is a terminal that can be moved about in */
  int rows;     /* of the terminal; 0: unknown */
  struct termios before;
} Keys;

/* Has the terminal give key by key, until keys_end. */
Keys keys_begin(void);
void keys_end(Keys *keys);

/* Waits so long for a key, and takes it: true. Control and c are a key, too, and interrupt. */
bool keys_pressed(Keys *keys, int wait_ms);

#endif
