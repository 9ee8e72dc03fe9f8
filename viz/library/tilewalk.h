/* libtilewalk: a question in, an answer out.
 *
 *     const char *words[] = {"sim", "-N", "4096", "--gpu", "h200"};
 *     TilewalkAnswer *a = tilewalk_ask(5, words);
 *     if (tilewalk_status(a) == 2) fprintf(stderr, "%s\n", tilewalk_error(a));
 *     else fwrite(tilewalk_text(a), 1, tilewalk_length(a), stdout);
 *     tilewalk_free(a);
 *
 *     cc mine.c $(pkg-config --cflags --libs tilewalk)
 *
 * QUESTIONS. What one would type behind `tilewalk`, a word each; `tilewalk COMMAND --help` lists a command's.
 * tilewalk_command names those that can be asked: the ones that print, and `render`. Left out are those that want a
 * terminal, a window or a compiler's time.
 *
 * ANSWERS. The JSON document that `--json` prints (assets/schema.json describes it; its first key is the version of its
 * form), or with `--csv` CSV, or with `--text` what people read; where a command has no JSON, its text. A scene, a
 * chart or a kernel's picture is asked for with the words "-o" and "-.svg", "-.png" or "-.pdf", and is the answer.
 *
 * FILES. None is written. Read are those that the words name, and Tilewalk's own, which lie in share/tilewalk beside
 * the library's folder, or where the environment's TILEWALK_ASSETS says.
 *
 * ERRORS. Values: status 2 and one line. Nothing is printed, no signal is handled, nothing ends the process, and a
 * question that failed leaves nothing behind. When memory runs out, that is the line; without memory for the line the
 * answer is NULL, which every function here takes.
 *
 * MEMORY. An answer is the caller's until tilewalk_free. Its texts live as long as it does; they are UTF-8 and end with
 * a zero, which their length does not count (a PNG has zeros of its own).
 *
 * THREADS. One question at a time: a program with several threads holds a lock around tilewalk_ask, which may use
 * several cores itself. Answers may be read and freed anywhere.
 *
 * ABI. TILEWALK_ABI and the library's soname (libtilewalk.so.1) change together, when a program that was built against
 * an older header would no longer work. New functions, commands and keys change neither. */
#ifndef TILEWALK_H
#define TILEWALK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The header's, and that of the library that was loaded: a program compares them where it loads one by name. */
enum { TILEWALK_ABI = 1 };
int tilewalk_abi(void);

/* "0.3.0". */
const char *tilewalk_version(void);

/* The name of the k-th command that can be asked, from 0; NULL behind the last. */
const char *tilewalk_command(size_t k);

typedef struct TilewalkAnswer TilewalkAnswer;

/* Asks. NULL when there is no memory; every other failure is an answer. Free it with tilewalk_free. */
TilewalkAnswer *tilewalk_ask(size_t n_words, const char *const *words);

/* The same, for a question in one line, parted into words as a shell would: blanks part, '...', "..." and \ hold
 * together. */
TilewalkAnswer *tilewalk_ask_line(const char *line);

/* 0: done; 1: done, and a comparison that was asked for did not hold; 2: the question was wrong, and tilewalk_error
 * says in one line what, why, and what would be right. Of NULL 2. */
int tilewalk_status(const TilewalkAnswer *answer);

/* The answer, "" with status 2; its length in bytes. */
const char *tilewalk_text(const TilewalkAnswer *answer);
size_t tilewalk_length(const TilewalkAnswer *answer);

/* The one line of a status 2; else what the command remarks beside its answer, "" for nothing. */
const char *tilewalk_error(const TilewalkAnswer *answer);

void tilewalk_free(TilewalkAnswer *answer); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
