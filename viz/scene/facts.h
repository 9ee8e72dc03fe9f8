/* What is true at a step: folded over the events before it, and asked of the walk after it.
 *
 *     Facts f;
 *     facts_at(&snapshot, &f);
 *     if (f.has[NEED_ONLY_LOAD]) ...   "It is loaded only once in this run."
 *
 * Nothing is walked: how often a line happens to a block before the cursor and in the whole run are closed forms
 * (place_count), and what a row sees of the keys before and behind a tile, in the order of the walk, follows from the
 * mask. So a step of 2^62 costs as much as one of 2^10. What cannot be said is unknown, and no need that asks for it
 * holds. A sentence may claim what its needs say, and no more. */
#ifndef TILEWALK_VIZ_SCENE_FACTS_H
#define TILEWALK_VIZ_SCENE_FACTS_H

#include "viz/scene/line_facts.h"
#include "viz/scene/snapshot.h"

#define FACT_UNKNOWN ((int64_t)-1)

/* What may have to hold for a sentence. "Row" is the row that is computed, "part" a split of the keys; keys "before"
 * and "left" are those of the present part, in the order of the walk. */
typedef enum {
  NEED_NOTHING = 0,
  NEED_START,
  NEED_END,
  /* masks */
  NEED_VAIN,    /* no row of the tile sees a key of it */
  NEED_HIDDEN,  /* the mask hides some of its scores, and how many is known */
  NEED_COUNTED, /* how many of its rows see a key is known */
  /* the row */
  NEED_ROW,        /* it is computed */
  NEED_UNSEEN,     /* it sees no key of this tile */
  NEED_SEEN,       /* it sees some */
  NEED_FIRST_KEYS, /* it saw none before in this part, and sees some here */
  NEED_NO_KEYS,    /* it saw none before in this part */
  NEED_ALL_KEYS,   /* none are left, and it sees some here */
  NEED_EMPTY_ROW,  /* it sees no key at all, of a part where there are parts, and the line's values of it are 0 */
  NEED_HIDDEN_AFTER,
  NEED_HIDDEN_BEFORE,
  NEED_HIDDEN_PATTERN, /* all keys hidden from it here are */
  /* its values */
  NEED_MAX_OF_TILE,
  NEED_MAX_OF_VALUE, /* result = max(old, best), all known */
  NEED_KEPT,         /* new = old */
  NEED_MAXIMUM,      /* of a tile, and old is the largest score that the row has seen; -infinity before the first */
  NEED_ROSE,         /* new > old, old is finite */
  NEED_FACTOR,       /* known */
  NEED_FACTOR_ONE,
  NEED_SUM,        /* known before and after the line */
  NEED_SUM_IS_NOW, /* known after it */
  NEED_SUM_STAYS,  /* and equal */
  NEED_DIVISOR,    /* known */
  NEED_OVERFLOW,
  NEED_BROKEN,
  NEED_WITHOUT_MAX,
  /* blocks that are added to */
  NEED_UNFINISHED, /* some are still to come */
  NEED_FINISHED,   /* none are */
  NEED_DIVIDED,    /* a line has divided this block before, and this one multiplies by what it was divided by */
  /* parts */
  NEED_PART,
  NEED_OVER_PARTS,
  /* loads and stores of this block */
  NEED_FIRST_LOAD,
  NEED_ONLY_LOAD,
  NEED_FOR_ROWS,
  NEED_FOR_COLUMNS,
  NEED_FOR_PART,
  NEED_FOR_KERNEL,
  NEED_FOR_LOOP, /* why again */
  NEED_STORED_BEFORE,
  NEED_STORED_BY_KERNEL,
  NEED_ONLY_STORE,
  NEED_LAST_STORE,
  NEED_STORES_KNOWN,
  NEED_LOADED_LATER,
  NEED_NEVER_LOADED_LATER,
  NEED_READ_BY_KERNEL,
  NEED_WRITTEN, /* the bytes of this name alone are known */
  NEED_IS_ADD,
  /* skips */
  NEED_STORES_SPARED,
  /* products */
  NEED_PAIRS,
  NEED_AREA,
  NEED_SCORES,
  NEED_ON_CHIP,
  NEED_COUNT
} Need;

typedef struct {
  const Schedule *schedule;
  LineFacts line;
  Event event;
  bool has[NEED_COUNT];

  int64_t rows, cols, rows_seeing, hidden; /* of the tile; FACT_UNKNOWN */
  int64_t row, keys_before, keys_here, keys_left;
  int64_t hidden_from_row;
  double old, best, result, factor, sum_before, sum, divisor; /* of the row; NAN: unknown */
  int64_t adds_before, adds_all;
  int64_t loads_before, loads_all, stores_before, stores_all;
  int64_t skip_nth, skip_of;
  Wide read, written, size; /* of the block's name, with the present event */
  int writer, reader;       /* kernels; -1 */
  int64_t n_splits;
} Facts;

void facts_at(const Snapshot *snapshot, Facts *facts);

#endif
