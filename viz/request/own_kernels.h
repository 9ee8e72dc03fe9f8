/* Kernels by name or file, as --kernel takes them: problems point to them. */
#ifndef TILEWALK_VIZ_REQUEST_OWN_KERNELS_H
#define TILEWALK_VIZ_REQUEST_OWN_KERNELS_H

#include "sim/base/error.h"
#include "sim/l2/kernel_profile.h"

/* The description. It lives until others have taken its place in a list of fixed length; a file is read
 * again each time, and gives the same one as long as it says the same. Errors: as description_kernel. */
Status own_kernel(const char *name, const Profile **kernel, Error *error);

#endif
