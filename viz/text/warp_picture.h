/* One access of a warp, drawn in lines of text.
 *
 *   from global memory, a line of 128 bytes each      from the banks of shared memory, a cycle each
 *
 *     line 0   █░░█░░█░ ░█░░█░░█ ...                    cycle 1  █···█··· █···█··· ...  lanes 0 to 7
 *     line 1   █░░░░░░░ ········ ...                    cycle 2  █···█··· █···█··· ...  lanes 8 to 15
 *              a sector: 8 words                                 8 of the 32 banks
 *
 * Pure. UTF-8; text_print turns it into ASCII where the terminal wants that. */
#ifndef TILEWALK_VIZ_TEXT_WARP_PICTURE_H
#define TILEWALK_VIZ_TEXT_WARP_PICTURE_H

#include "sim/machine/warp.h"

enum {
  WARP_PICTURE_LINES = 12,   /* at most; what is left out is said in the last but one */
  WARP_PICTURE_COLUMNS = 76, /* at most */
  WARP_PICTURE_BYTES = 256,
};

typedef struct {
  int n;
  char line[WARP_PICTURE_LINES][WARP_PICTURE_BYTES];
} WarpPicture;

/* The lines of 128 bytes that are touched: which words the lanes ask for, which are moved in vain.
 * The access must be one that warp_check accepts. */
void warp_picture_memory(const WarpAccess *access, WarpPicture *picture);

/* The passes over the 32 banks, each with the lanes that are served in it. STATUS_BAD_REQUEST for
 * elements wider than a bank: such accesses are taken in parts, which these lines do not show. */
Status warp_picture_banks(const WarpAccess *access, WarpPicture *picture, Error *error);

#endif
