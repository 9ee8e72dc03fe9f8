/* GPUs, links and models by name or by file: what --gpu, --link and --model take.
 *
 * A name is looked up among the files that come with Tilewalk (assets/gpus, assets/links, assets/models);
 * anything else, and anything with a '/', is the path of a description file of the user's own. */
#ifndef TILEWALK_VIZ_REQUEST_DESCRIPTION_H
#define TILEWALK_VIZ_REQUEST_DESCRIPTION_H

#include "sim/machine/link.h"
#include "sim/question/question_files.h"

enum { DESCRIPTION_NAMES_MAX = 128, DESCRIPTION_NAME_BYTES = 64 };

typedef struct {
  char names[DESCRIPTION_NAMES_MAX][DESCRIPTION_NAME_BYTES]; /* in alphabetical order */
  int n;
} DescriptionNames;

/* The names of the files in assets/FOLDER ("gpus", "kernels", "links", "models" or "backends"). Files whose names no
 * option could take are left out. */
Status description_names(const char *folder, DescriptionNames *names, Error *error);

/* Loads what --gpu or --model names. "" and "paper" are the built-in machine, which needs
 * no file. */
Status description_gpu(const char *name, Gpu *gpu, Error *error);

/* The same of one whose products have a rate, so that times can be said. */
Status description_timed_gpu(const char *name, Gpu *gpu, Error *error);
Status description_link(const char *name, GpuLink *link, Error *error);              /* --link */
Status description_kernel(const char *name, Profile *profile, Error *error);         /* --kernel */
struct Backend;                                                                      /* viz/request/backend_rules.h */
Status description_backend(const char *name, struct Backend *backend, Error *error); /* --library */
/* A name may be that of a repository: "Qwen/Qwen3-8B", "meta-llama/Llama-3.1-70B-Instruct". A file may also be the
 * config.json of Hugging Face (viz/request/model_config.h). */
Status description_model(const char *name, KvModel *model, Error *error);

/* For a name that is read from a file, a lesson or a story: refuses all but those of the descriptions that come with
 * Tilewalk. A path is for the command line alone. */
Status description_shipped(Thing thing, const char *name, Error *error);

#endif
