/* Own numbers for each student of a class: a seed from the student's name and a key that only the teacher knows.
 *
 * Who copies a neighbour's answers then hands in answers to other numbers. The seed is SipHash-2-4 of the name
 * (Aumasson and Bernstein, 2012), so a seed says nothing of the key; a short key can still be guessed by trying. */
#ifndef TILEWALK_LESSONS_ENGINE_CLASS_KEY_H
#define TILEWALK_LESSONS_ENGINE_CLASS_KEY_H

#include <stddef.h>
#include <stdint.h>

enum { CLASS_KEY_CHARS_MIN = 8 };

/* SipHash-2-4 of bytes[0..length) under a key of 16 bytes. */
uint64_t siphash(const unsigned char key[16], const void *bytes, size_t length);

/* The name as it is compared: one blank between its parts, none around it, ASCII letters small. Cut to `size`. */
enum { CLASS_NAME_BYTES = 256 };
void class_fold(const char *name, char folded[CLASS_NAME_BYTES]);

/* A number of CLASS_SEED_MIN to 1,000,009,998, which a person can type. The same for all spellings that class_fold
 * makes equal. Smaller numbers are nobody's: what prints answers without a key takes no others. */
enum { CLASS_SEED_MIN = 10000 };
uint64_t class_seed(const char *key, const char *student);

#endif
