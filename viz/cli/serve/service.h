/* A model that is served: what `tilewalk kvcache` and `tilewalk serve` are asked, completed. */
#ifndef TILEWALK_VIZ_CLI_SERVE_SERVICE_H
#define TILEWALK_VIZ_CLI_SERVE_SERVICE_H

#include <inttypes.h>
#include <stdlib.h>

#include "viz/document/figures.h"
#include "viz/request/request.h"

enum { SERVICE_STEPS_MAX = 100000 };

/* Sequences of one length. */
typedef struct {
  int64_t tokens, count;
} ServedRun;

typedef struct {
  OutputRequest output;
  char model_name[REQUEST_NAME_BYTES], gpu_name[REQUEST_NAME_BYTES], kernel_name[REQUEST_NAME_BYTES], lengths[4096];
  bool has_dtype, has_weights_dtype, lists, is_strict, is_printed;

  KvCache whole; /* of all GPUs together */
  KvDtype weights_dtype;
  int64_t n_gpus; /* that share out the heads (tensor parallelism) */
  int64_t tokens, batch;
  int64_t max_tokens; /* reserved for each sequence where allocation is contiguous */
  int64_t block;
  int64_t n_steps;       /* appended after `tokens` */
  int64_t budget_bytes;  /* of each GPU, for the cache; 0: not asked */
  int64_t weights_bytes; /* of the whole model; 0: not known */
  int64_t in_flight;     /* tokens of a sequence in one batch, which a window keeps beside its own; 1: decode */
  int64_t prompt, chunk; /* of a new sequence; chunk 0: all at once */
  int64_t prefix;        /* tokens that all sequences begin with, */
  int64_t shared;        /* and those of them that they keep and read together */
  Evict evict;

  /* What follows from it. */
  bool has_model, has_gpu, has_kernel;
  bool adds_prompt; /* beside the sequences that decode; else it is the longest of them */
  KvModel model;
  Gpu gpu;
  Profile kernel;
  Serving serving; /* its cache: what each GPU keeps */
  ServedRun *runs; /* in the order that was given; serve: ascending */
  int64_t n_runs, n, longest;
  Wide all_tokens;
} Service;

/* Completes what was asked. serves: times are asked, too. Free with service_free, also after an error. */
Status service_complete(Service *service, bool serves, Error *error);
void service_free(Service *service);

/* All sequences' caches on one GPU. */
typedef struct {
  Wide tokens, pages, window_pages, used_bytes, page_bytes, table_bytes;
  Wide prefix_bytes; /* of a prefix's whole pages, once */
} Kept;
Kept service_kept(const Service *service, const KvCache *cache);

/* States and the like, which do not grow, of one sequence on one of so many GPUs. */
Wide service_fixed_bytes(const Service *service, int64_t n_gpus);

/* A new token of every sequence: a part for each run, free() them, with room for a prefix and a chunk. NULL with
 * *error. */
ServingPart *service_decode(const Service *service, int64_t *n, Error *error);

/* The answers. */
Status kvcache_figures(const Service *service, Document *document, Error *error);
Status kvcache_list(Document *document, Error *error);
Status serve_figures(const Service *service, Document *document, Error *error);

/* What --lengths names: lengths, or a file of them where it has a / or a dot. free() it. NULL with *error. */
Lengths *batch_lengths(const char *text, Error *error);

/* `tilewalk sim --lengths`, padded against packed, under each of the request's algorithms. `lengths`: as batch_lengths
 * takes them. Errors: those of lengths and runs; a mask, a batch or keys that are given besides. */
Status batch_table(const Request *request, const char *lengths, Document *document, Error *error);

/* Figures that papers and projects print about serving, beside what `tilewalk serve` computes for the same question.
 *
 * assets/serving/printed.tsv, a row each, apart by tabs:
 *
 *     kind        calculated: by the same arithmetic; measured: a run, which a bound must not exceed
 *     question    serve's options as a one-line state: model=llama-2-7b gpu=a100-80gb context=5
 *     figure      SECTION.KEY of serve's JSON
 *     printed     the value, in the figure's unit
 *     source      who printed it, and where
 *
 * Errors: the file cannot be read, or a row of it, by its line. */
Status serve_printed(Document *document, Error *error);

/* Answers a question that is a one-line state. */
Status serve_of_line(const char *line, Document *document, Error *error);

/* Says that a length is beyond what the model was made for, or that nobody said what that is; "": neither. */
Number service_context(const Service *service);

#endif
