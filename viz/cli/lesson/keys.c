#define _GNU_SOURCE /* winsize */
#include "viz/cli/lesson/keys.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CONTROL_C = 3, KEY_BYTES = 64 };

Keys keys_begin(void) {
  Keys keys = {0};
  struct winsize size = {0};
  const char *term = getenv("TERM");
  if (!term || strcmp(term, "dumb") == 0 || tcgetattr(STDIN_FILENO, &keys.before)) return keys;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) keys.rows = size.ws_row;
  struct termios now = keys.before;
  now.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
  keys.is_open = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
  return keys;
}

void keys_end(Keys *keys) {
  if (keys->is_open) tcsetattr(STDIN_FILENO, TCSANOW, &keys->before);
  keys->is_open = false;
}

bool keys_pressed(Keys *keys, int wait_ms) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  char key[KEY_BYTES];
  if (!keys->is_open || poll(&input, 1, wait_ms) <= 0) return false;
  const ssize_t n = read(STDIN_FILENO, key, sizeof key);
  if (n > 0 && memchr(key, CONTROL_C, (size_t)n)) {
    keys_end(keys);
    raise(SIGINT);
  }
  return true;
}
