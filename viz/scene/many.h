/* One cache and many who read it: what Many draws, a pure function of a snapshot.
 *
 *     sequences   |prefix|[####][####][## ]      splits  [##  ]              GPUs   [◣][////][////]
 *                 |      |[####][#   ]                        [##  ]                [■][◣   ][////]
 *                 |      |[####]                                   [##  ]           [■][■   ][◣   ]
 *
 * Rows are sequences that decode at once; chunks of a prompt, each of which reads all before it; splits of the keys
 * of one head, a CTA each; or GPUs in a ring, whose column is the rank that a block of keys is of. The walk is the
 * clock: what it has loaded of K, every sequence and split has, at the same pace; row blocks of a prompt come one
 * after the other; a beat of a ring is as long as its longest block. Sizes and pages are kvcache's, for one layer
 * and the KV heads that are launched; what ranks do is sim/ranks.h's. So no counter ever falls. */
#ifndef TILEWALK_VIZ_SCENE_MANY_H
#define TILEWALK_VIZ_SCENE_MANY_H

#include "viz/scene/snapshot.h"

typedef enum { MANY_SEQUENCES = 0, MANY_CHUNKS, MANY_SPLITS, MANY_RANKS } ManyKind;

/* Tokens [first, keys) lie in this row; of them `read` have been read, [at, end) by the present event. */
typedef struct {
  int64_t first, keys, read, at, end;
  bool is_there; /* written, or just being so */
} ManyRow;

enum { MANY_ROWS = SERVED_SEQUENCES_MAX };

typedef struct {
  ManyKind kind;
  KvCache cache;
  int64_t n, present, first_shown, n_shown; /* rows; the chunk at work; those that are drawn */
  int64_t longest, chunk, shared;           /* tokens; shared: in whole pages */
  ManyRow rows[MANY_ROWS];                  /* the shown ones */
  Wide pages, saved_pages, used_bytes;      /* that are kept, and that are not as they are shared */
  Wide read_bytes, whole_bytes;             /* so far, of the whole */
  double loaded;                            /* the part of K that the walk has read */
  Wide ctas, ctas_unsplit, sms;             /* at once; n_sm of the machine */
  Error error;                              /* the tokens do not go around a ring */
  Ranks ranks;
  int64_t beat;               /* n at the end */
  double part;                /* of it that is over */
  Wide sent_bytes, all_bytes; /* over the links, until the last whole beat, and in all */
  int64_t idle_ranks;         /* in this beat */
  double idle;                /* of the ranks' time, in all */
} Many;

void many_make(Many *many, const Snapshot *now, double phase);

/* What rank r has to do with the keys of rank k, and in which beat. */
typedef struct {
  int64_t beat;
  RankPieceKind piece;
  Wide pairs;
} ManyBlock;
ManyBlock many_block(const Many *many, int64_t r, int64_t k);

#endif
