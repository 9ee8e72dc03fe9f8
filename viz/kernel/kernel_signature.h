/* The parameters of a kernel as its source writes them: names, types, const. PTX keeps none of these. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_SIGNATURE_H
#define TILEWALK_VIZ_KERNEL_KERNEL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

enum { SIGNATURE_MAX = 64, SIGNATURE_TEXT_BYTES = 80 };

typedef struct {
  char name[SIGNATURE_TEXT_BYTES], type[SIGNATURE_TEXT_BYTES]; /* "x", "const float *" */
  bool is_const;                                               /* what it points to */
} SignatureParameter;

typedef struct {
  int n;
  SignatureParameter parameters[SIGNATURE_MAX];
} Signature;

/* The __global__ function `name` (without template arguments) in a source. False: it is not there, or has more
 * parameters than fit. */
bool signature_find(const char *text, size_t length, const char *name, Signature *signature);

/* The parameters of its template, "<typename T, int N>"; false: it is none. The text ends in a zero byte. */
bool signature_template(const char *text, size_t length, const char *name, char *to, size_t size);

/* The name of the first __global__ function; false: there is none. */
bool signature_first(const char *text, size_t length, char *name, size_t size);

/* The last name in a mangled one: "_ZN2my5sgemmILi64EEviPKf" is "sgemm"; others are themselves. */
void signature_plain_name(const char *mangled, char *to, size_t size);

#endif
