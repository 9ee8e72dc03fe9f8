/* Kernels, masks and programs by name or file: problems point to them. A thread has its own, so that questions of
 * several threads do not meet. */
#ifndef TILEWALK_VIZ_REQUEST_OWN_H
#define TILEWALK_VIZ_REQUEST_OWN_H

#include "sim/l2/kernel_profile.h"

enum { OWN_PROGRAMS_MAX = 8 };

/* The description. It lives until others have taken its place in a list of fixed length; a file is read again each
 * time, and gives the same one as long as it says the same. Errors: as description_kernel. */
Status own_kernel(const char *name, const Profile **kernel, Error *error);

/* All that come with Tilewalk, for advice. */
ProfileList own_kernels;

/* `strided:4`, `documents:./lengths.txt`, `./blocks.txt`: for the matrix of a completed shape. It lives as a kernel
 * does. Errors: no such mask or file, a file of another size (with its line), too many blocks. */
Status own_mask(const char *name, const Shape *shape, const Pattern **pattern, Error *error);

/* `./mine.walk`. It lives until it is forgotten, and the same path gives the same one as long as the file has not
 * changed. Errors: no such file, too long, what the language refuses (with file and line), more than OWN_PROGRAMS_MAX.
 */
Status own_program_read(const char *path, const Schedule **schedule, Error *error);

/* Forgets all programs but those named, and frees them: nothing else may point to them any more. For a front end in
 * which programs are edited, and would fill the places one by one. */
void own_programs_forget_but(const Schedule *const *used, int n);

/* Everything, at the end of a question: a thread may end after it. */
void own_forget(void);

#endif
