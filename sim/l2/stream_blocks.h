/* Blocks that a program moves, as granules of a stream: which go together, and of which kind each is. For
 * sim/l2/stream_make.c alone. */
#ifndef TILEWALK_SIM_L2_STREAM_BLOCKS_H
#define TILEWALK_SIM_L2_STREAM_BLOCKS_H

#include "sim/l2/stream.h"

typedef struct {
  const Schedule *schedule;
  uint8_t when;                       /* conditions that hold */
  NameSet shared;                     /* what CTAs of a cluster share */
  int8_t leader[PROGRAM_NAMES_MAX];   /* the name whose granule a block is a part of; -1: it is not moved */
  uint8_t kind[PROGRAM_NAMES_MAX];    /* StreamKind of a leader */
  uint8_t kernels[PROGRAM_NAMES_MAX]; /* a bit for each that moves a leader */
} StreamBlocks;

/* False: there are more kinds than a stream has. `when`: conditions that hold; shared: by CTAs of a cluster. */
bool stream_blocks_find(StreamBlocks *blocks, const Schedule *schedule, uint8_t when, NameSet shared);

/* Whether an operation moves blocks that the stream knows. */
bool stream_block_moves(const StreamBlocks *blocks, const ProgramOp *op);

/* Stores that come again: inside a loop that the block does not belong to, or on a second line. */
bool stream_blocks_stored_again(const StreamBlocks *blocks);

#endif
