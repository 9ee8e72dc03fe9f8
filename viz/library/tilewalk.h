/* libtilewalk: a question in, an answer out.
 *
 *     const char *words[] = {"sim", "-N", "4096", "--gpu", "h200"};
 *     TilewalkAnswer *a = tilewalk_ask(5, words);
 *     if (tilewalk_status(a) == 2) fprintf(stderr, "%s\n", tilewalk_error(a));
 *     else fwrite(tilewalk_text(a), 1, tilewalk_length(a), stdout);
 *     tilewalk_free(a);
 *
 * A question is what one would type behind `tilewalk`, a word each; `tilewalk COMMAND --help` lists a command's. The
 * commands that print can be asked (tilewalk_command names them), and `render`. The answer is the JSON document that
 * `--json` prints, or with `--csv` CSV, or with `--text`, and where a command has no JSON, its text. A scene is asked
 * for with the words "-o" and "-.svg", "-.png" or "-.pdf"; nothing else is written, and no other file than those that
 * the words name and those of Tilewalk itself is read. Those lie in share/tilewalk beside the library's folder, or
 * where TILEWALK_ASSETS says.
 *
 * Nothing is printed, no signal is handled, nothing ends the process, and nothing of one question is kept for the next.
 * One question is asked at a time: a program with several threads holds a lock around tilewalk_ask. Texts are UTF-8
 * and end with a zero, which their length does not count; they live as long as their answer. */
#ifndef TILEWALK_H
#define TILEWALK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a program that was built against an older header would no longer work. */
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
