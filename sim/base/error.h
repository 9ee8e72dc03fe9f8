/* What a simulator call answers when it cannot do what was asked.
 *
 * A bad request is a normal event, not a bug: every public function of sim/ that can refuse returns a
 * Status and, given an Error, one line that says what is wrong, why, and what would be right.
 * STATUS_OK is zero. Only a front end prints, and only main exits. */
#ifndef TILEWALK_SIM_BASE_ERROR_H
#define TILEWALK_SIM_BASE_ERROR_H

typedef enum {
  STATUS_OK = 0,
  STATUS_BAD_REQUEST, /* the request contradicts itself or lies outside what is modelled */
  STATUS_TOO_LARGE,   /* a size does not fit the arithmetic, or would need unbounded work */
  STATUS_NO_MEMORY,   /* an allocation failed; nothing was changed */
  STATUS_INTERRUPTED, /* whoever asked said stop; nothing half-made is kept */
  STATUS_BAD_FILE,    /* an outside file breaks its format; the message has a line number */
} Status;

enum { ERROR_MESSAGE_BYTES = 320 };

typedef struct {
  Status status;
  char message[ERROR_MESSAGE_BYTES]; /* one line, no newline at the end; "" when STATUS_OK */
} Error;

/* Notes `status` and a printf-style one-line message in *error, unless it already holds one (the first
 * error sticks) or error is NULL. Returns `status`, so that a caller can `return error_set(...)`.
 * Messages that do not fit are cut at the end; what no terminal
 * should get (control characters, marks of direction, broken UTF-8) becomes '?'. */
Status error_set(Error *error, Status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Of a bad request. */
#define error_refuse(error, ...) error_set(error, STATUS_BAD_REQUEST, __VA_ARGS__)

/* "no memory to read x", from what stands behind the first two words. */
#define error_no_memory(error, ...) error_set(error, STATUS_NO_MEMORY, "no memory " __VA_ARGS__)

/* Hands an error of one's own on, where there is one; returns its status. */
static inline Status error_pass(Error *error, const Error *own) {
  return own->status ? error_set(error, own->status, "%s", own->message) : STATUS_OK;
}

#endif
