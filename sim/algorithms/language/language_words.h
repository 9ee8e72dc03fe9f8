/* The words of the language, in one list: what the reader reserves, what errors offer instead of a mistyped word, what
 * an editor colours, and what it completes. */
#ifndef TILEWALK_SIM_ALGORITHMS_LANGUAGE_LANGUAGE_WORDS_H
#define TILEWALK_SIM_ALGORITHMS_LANGUAGE_LANGUAGE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a word stands; some in several places. */
enum {
  WORDS_HEADER = 1,       /* begins a line of the header, or a kernel or launch */
  WORDS_LINE = 2,         /* begins a line of a kernel */
  WORDS_LAUNCH = 4,       /* begins a line of a launch */
  WORDS_LOOP = 8,         /* after `for` */
  WORDS_MOVE = 16,        /* after what is loaded or stored */
  WORDS_CONDITION = 32,   /* `when` and after it */
  WORDS_VALUE = 64,       /* functions, and what belongs to them */
  WORDS_SIDE = 128,       /* B_r, d, ... */
  WORDS_FORMULA = 256,    /* of declarations alone */
  WORDS_DECLARE = 512,    /* in declarations and `default` */
  WORDS_PROSE = 1024,     /* begins a line of which the rest is anything */
  WORDS_OF_LAUNCH = 2048, /* inside a line of a launch */
  WORDS_RANKS = 4096,     /* begins a line of `ranks` */
  WORDS_OF_RANKS = 8192,  /* inside one */
};

typedef struct {
  const char *text;
  uint16_t places;  /* WORDS_... */
  bool is_reserved; /* no name of a value */
} LanguageWord;

extern const LanguageWord LANGUAGE_WORDS[];
extern const int N_LANGUAGE_WORDS;

bool words_are_reserved(const char *text);

/* Whether the line begins with a word after which comes prose, and a space. */
bool words_begin_prose(const char *line);

/* The word of these places that a mistyped one most resembles; NULL: none is near. */
const char *words_nearest(const char *typed, unsigned places);

/* What may be written at text[at], of which the letters before it are the beginning: words of the place and names that
 * the text has, a line each. Returns how many letters are there already. Any text; out holds what fits. */
size_t words_complete(const char *text, size_t at, char *out, size_t size);

#endif
