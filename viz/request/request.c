#include "viz/request/request.h"

#include "viz/request/description.h"
#include "viz/request/own.h"
#include "viz/request/pipeline_file.h"
#include "viz/text/number.h"

/* ---- Files ------------------------------------------------------------------------------------------------- */

/* A word that begins the name of a kernel, as "cudnn" does: whose algorithm it runs. False: there is none. */
static bool kernel_called(const char *word, const char *shown, Error *error) {
  DescriptionNames known;
  const Profile *kernel;
  if (description_names("kernels", &known, NULL)) return false;
  for (int k = 0; k < known.n; k++) {
    const char *name = known.names[k];
    if (strncmp(name, word, strlen(word)) != 0 || own_kernel(name, &kernel, NULL)) continue;
    error_refuse(error,
                 "there is no algorithm '%s': %s is a kernel, which moves the tiles of %s; give --kernel %s "
                 "--algorithm %s",
                 shown, name, kernel->schedule->name, name, kernel->schedule->name);
    return true;
  }
  return false;
}

const QuestionFiles REQUEST_FILES = {
    .gpu = description_gpu,
    .kernel = own_kernel,
    .model = description_model,
    .mask = own_mask,
    .program = own_program_read,
    .shipped = description_shipped,
    .kernel_called = kernel_called,
};

/* ---- Scenes ------------------------------------------------------------------------------------------------ */

/* The algorithm whose steps are walked. Of several the one that moves most: when it is done, all are. */
static Status choose_shown(const Request *r, StageConfig *config, Error *error) {
  Wide most = 0;
  config->schedule = r->algorithms[0];
  for (int k = 0; k < r->n_algorithms && r->n_algorithms > 1; k++) {
    Simulation run;
    Problem head = config->problem;
    const Status status = simulation_answer(&run, &head, r->algorithms[k], NULL, error);
    if (status) return status;
    config->rivals[config->n_rivals++] = r->algorithms[k];
    if (run.total_bytes <= most) continue;
    most = run.total_bytes;
    config->schedule = r->algorithms[k];
  }
  return STATUS_OK;
}

Status request_stage(Request *r, Stage *stage, Error *error) {
  StageConfig config = {.seed = (uint64_t)r->seed,
                        .l2_later = r->l2_later,
                        .row_in_block = r->row,
                        .without_max = r->without_max,
                        .q_scale = r->q_scale,
                        .pages = r->pages,
                        .ring = r->ring};
  memset(stage, 0, sizeof *stage);
  Status status = request_algorithms(r, REQUEST_ONE, error);
  if (status) return status;
  if (r->n_algorithms > SNAPSHOT_RUNS_MAX)
    return error_refuse(error, "a picture has at most %d algorithms; name fewer with --algorithm", SNAPSHOT_RUNS_MAX);
  if ((status = request_problem(r, &config.problem, &config.gpu, error))) return status;
  if ((status = choose_shown(r, &config, error))) return status;
  if ((status = stage_make(stage, &config, error))) return status;
  if (strcmp(config.gpu.name, PIPELINE_GPU) == 0)
    stage->pipeline = pipeline_for(pipeline_kernel_of(r->kernel, config.schedule), &config.problem.shape, NULL);
  if ((uint64_t)r->step > stage->n_steps)
    return error_refuse(error, "step %jd is beyond the end: %s has %s steps here", r->step, config.schedule->name,
                        number_count(stage->n_steps).text);
  return STATUS_OK;
}

/* ---- Output ------------------------------------------------------------------------------------------------ */

const Option OUTPUT_FORMAT_OPTIONS[] = {
    OPTION_SWITCH("json", "Print JSON.", OPTION_FLAG(OutputRequest, json)),
    OPTION_SWITCH("csv", "Print CSV with a heading line.", OPTION_FLAG(OutputRequest, csv)),
    OPTION_SWITCH("details", "Print all rows and tables, not one screen.", OPTION_FLAG(OutputRequest, details)),
    {0},
};

const Option OUTPUT_FILE_OPTIONS[] = {
    OPTION_ROW("output", "FILE", "Write to FILE.", .letter = 'o', OPTION_TEXT(OutputRequest, output, "the file name")),
    {0},
};

Status output_request_check(const OutputRequest *output, Error *error) {
  if (output->json && output->csv)
    return error_refuse(error, "--json and --csv are two formats for one output; give one of them");
  if ((output->json || output->csv) && strncmp(output->output, "-.", 2) == 0)
    return error_refuse(error, "-o %.16s sends the picture to the output, where --%s goes; give one", output->output,
                        output->json ? "json" : "csv");
  return STATUS_OK;
}
