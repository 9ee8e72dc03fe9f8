/* The question with the files of this machine, and the stage of a scene that it asks for. */
#ifndef TILEWALK_VIZ_REQUEST_REQUEST_H
#define TILEWALK_VIZ_REQUEST_REQUEST_H

#include "viz/scene/snapshot.h"

typedef Question Request;
enum {
  REQUEST_ALGORITHMS_MAX = QUESTION_ALGORITHMS_MAX,
  REQUEST_NAME_BYTES = QUESTION_NAME_BYTES,
  REQUEST_STATE_BYTES = QUESTION_STATE_BYTES
};

extern const QuestionFiles REQUEST_FILES;

/* Makes the parser of a command, or of a line. */
static inline OptionParser request_parser(const OptionSet *sets, void *target) {
  return (OptionParser){.sets = sets, .target = target, .files = &REQUEST_FILES};
}

/* Reads a state line into *request, which keeps what it does not say. from_file: perhaps a stranger's, which opens only
 * what comes with Tilewalk. */
static inline Status request_read(Request *request, const char *line, bool from_file, Error *error) {
  OptionParser parser = request_parser(QUESTION_SETS, request);
  parser.from_file = from_file;
  return options_parse_state(&parser, line, error);
}

/* As sim/question/question.h. */
static inline Status request_take_model(Request *request, Error *error) {
  return question_take_model(request, &REQUEST_FILES, error);
}
static inline Status request_problem(const Request *request, Problem *problem, Gpu *gpu, Error *error) {
  return question_problem(request, &REQUEST_FILES, problem, gpu, error);
}
static inline Status request_algorithms(Request *request, QuestionDefault which, Error *error) {
  return question_algorithms(request, &REQUEST_FILES, which, error);
}

/* Algorithms and problem, where nothing of the question is without effect. */
static inline Status request_asked(Request *request, QuestionDefault which, Problem *problem, Gpu *gpu, Error *error) {
  Status status = request_algorithms(request, which, error);
  if (!status) status = request_problem(request, problem, gpu, error);
  return status ? status : question_has_effect(request, gpu, error);
}

/* Sets up the stage of the one algorithm that is named (default fa2), or says why not; also when the request's step is
 * beyond the end. Completes the request. Free the stage even after an
 * error. */
Status request_stage(Request *request, Stage *stage, Error *error);

/* "--json", "--csv", "--details" and "-o FILE", for commands that print results. */
typedef struct {
  bool json, csv, details;
  char output[4096];
} OutputRequest;
extern const Option OUTPUT_FORMAT_OPTIONS[]; /* --json, --csv; target: OutputRequest */
extern const Option OUTPUT_FILE_OPTIONS[];   /* -o, --output */
Status output_request_check(const OutputRequest *output, Error *error);

#endif
