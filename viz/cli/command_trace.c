/* tilewalk trace: the event stream, written out. */
#define _POSIX_C_SOURCE 200809L /* sigaction */

#include "viz/cli/command.h"
#include "viz/request/pipeline_file.h"
#include "viz/cli/program_notes.h"
#include "viz/cli/trace/trace.h"
#include "viz/export/output.h"
#include "viz/text/progress.h"

typedef struct {
  Request request;
  OutputRequest output;
  int format;          /* of FORMATS */
  int64_t from, limit; /* limit 0: to the end */
  bool pipeline;
  const volatile sig_atomic_t *interrupted;
} TraceOptions;

static void csv_event(Trace *t, const Event *e) {
  FILE *out = t->out;
  fprintf(out, "%s,%ju,%d,%s,%s,%s,%d,", t->schedule->name, e->step, e->pass + 1, event_kind_name((EventKind)e->kind),
          t->schedule->tensors[e->tensor].text, tile_kind_name((TileKind)e->tile), e->split);
  if (e->i >= 0) fprintf(out, "%jd", e->i);
  fputc(',', out);
  if (e->j >= 0) fprintf(out, "%jd", e->j);
  fprintf(out, ",%jd,%jd,%jd,%jd,%ju,%ju\n", e->row0, e->row1, e->col0, e->col1, e->bytes, e->flops);
}

static const TraceFormat CSV_TRACE = {
    "algorithm,step,pass,event,tensor,tile,split,i,j,row_begin,row_end,col_begin,col_end,bytes,flops\n", "", NULL,
    csv_event};
static const char *const FORMATS[] = {"csv", "din", "xdin", "chrome", NULL}; /* xdin: din by its full name */
static const TraceFormat *const WRITERS[] = {&CSV_TRACE, &DIN_TRACE, &DIN_TRACE, &CHROME_TRACE};

static const TraceFormat *writer_of(const TraceOptions *o) { return WRITERS[o->format]; }

/* Walks one algorithm's events [from, from + limit) into the file. */
static Status write_events(const TraceOptions *o, Trace *t, Progress *progress, Error *error) {
  const TraceFormat *writer = writer_of(o);
  const Wide n_steps = schedule_n_steps(t->schedule, t->plan);
  const uint64_t total = o->limit ? (uint64_t)o->limit : n_steps < UINT64_MAX ? (uint64_t)n_steps : 0;
  Cursor cursor;
  Event event;
  if (!schedule_seek(t->schedule, t->plan, &cursor, (uint64_t)o->from)) return STATUS_OK; /* refused before */
  if (writer->begin && writer->begin(t, error)) return error->status;
  for (int64_t n = 0; (o->limit == 0 || n < o->limit) && schedule_next(t->schedule, t->plan, &cursor, &event); n++) {
    if (*o->interrupted)
      return error_set(error, STATUS_INTERRUPTED, "interrupted after %jd events; %s", n,
                       *o->output.output ? "nothing was kept" : "the output ends there");
    if (ferror(t->out)) return STATUS_OK; /* reported where the file is closed */
    writer->event(t, &event);
    if ((n & 0xffff) == 0) progress_update(progress, (uint64_t)n, total, progress_clock_s());
  }
  return STATUS_OK;
}

/* Completes every run and checks that its walk reaches --from, before anything is written. */
static Status prepare(const TraceOptions *o, const Problem *problem, Simulation *runs, Error *error) {
  for (int k = 0; k < o->request.n_algorithms; k++) {
    if (simulate(&runs[k], problem, o->request.algorithms[k], error)) return error->status;
    const Wide n_steps = schedule_n_steps(runs[k].schedule, &runs[k].plan);
    if ((Wide)(uint64_t)o->from > n_steps)
      return error_refuse(error, "--from %jd is beyond the end: %s has %s events", o->from, runs[k].schedule->name,
                          number_count(n_steps).text);
  }
  return STATUS_OK;
}

static Status write_pipeline(const Request *r, const Problem *problem, FILE *out, Error *error) {
  const char *usual = schedule_owns_columns(r->algorithms[0]) ? "fa3_backward" : "fa3_overlap";
  Pipeline *p = pipeline_for(pipeline_kernel(r->kernel) ? r->kernel : usual, &problem->shape, error);
  if (!p && error->status) return error->status;
  if (!p)
    return error_refuse(error, "no pipeline was recorded for d = %jd; there are stamps of d = 64 and 128 on an H100",
                        problem->shape.d);
  pipeline_trace(out, p);
  free(p);
  return STATUS_OK;
}

static Status write_trace(const TraceOptions *o, const Problem *problem, FILE *out, Io *io, Error *error) {
  if (o->pipeline) return write_pipeline(&o->request, problem, out, error);
  Simulation runs[REQUEST_ALGORITHMS_MAX];
  if (prepare(o, problem, runs, error)) return error->status;
  fputs(writer_of(o)->head, out);
  for (int k = 0; k < o->request.n_algorithms; k++) {
    Trace trace = {.out = out, .schedule = runs[k].schedule, .plan = &runs[k].plan, .index = k};
    Progress progress = progress_begin(io->err, trace.schedule->name, out != io->out || !text_is_terminal(out));
    const Status status = write_events(o, &trace, &progress, error);
    progress_end(&progress);
    if (status) return status;
  }
  fputs(writer_of(o)->tail, out);
  return STATUS_OK;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  TraceOptions *o = options;
  Problem problem;
  FileWrite file;
  (void)d;
  if (request_algorithms(&o->request, REQUEST_ONE, error)) return error->status;
  if (writer_of(o) == &DIN_TRACE && o->request.n_algorithms > 1)
    return error_refuse(error, "a Dinero trace has no place for a name: give one algorithm at a time");
  if (request_problem(&o->request, &problem, NULL, error)) return error->status;
  if (!o->pipeline) program_notes(o->request.algorithms, o->request.n_algorithms, io);
  o->interrupted = io_catch_interrupt(io);
  if (!*o->output.output) return write_trace(o, &problem, io->out, io, error);
  if (file_write_begin(&file, o->output.output, error)) return error->status;
  const Status status = write_trace(o, &problem, file.stream, io, error);
  if (!status) return file_write_commit(&file, error);
  file_write_abort(&file);
  return status;
}

static const Option TRACE_OPTIONS[] = {
    OPTION_ROW("format", "FORMAT",
               "csv: one line per event. din: the addresses of loads and stores as Dinero's extended din, for tilewalk "
               "replay and other cache simulators. chrome: for Perfetto or chrome://tracing. Default csv.",
               OPTION_CHOICE(TraceOptions, format, "is no trace format"), .names = FORMATS),
    OPTION_ROW("from", "STEP", "First event to write. Default 0.",
               OPTION_NUMBER(TraceOptions, from, "the first step", 0, INT64_MAX)),
    {.name = "pipeline",
     OPTION_FLAG(TraceOptions, pipeline),
     .help =
         "In place of events, for Perfetto: an SM with a kernel of the ladder as its clock stamps on an H100 have it, "
         "at this d (64 or 128): tensor cores at peak rate, warpgroups, slots. Of --kernel fa2_async, fa2_wgmma, "
         "fa3_overlap or fa3_backward; default: the last two, by the algorithm."},
    OPTION_ROW("limit", "COUNT", "Write at most this many events. Default: all.", OPTION_COUNT(TraceOptions, limit)),
    {0},
};

static const OptionSet SETS[] = {
    QUESTION_OPTION_SETS(TraceOptions, request),
    {"Trace", TRACE_OPTIONS, 0},
    {"Output", OUTPUT_FILE_OPTIONS, offsetof(TraceOptions, output)},
    {0},
};

const Command COMMAND_TRACE = {
    .name = "trace",
    .group = "check",
    .first = "format from limit output algorithm N d block",
    .summary = "events or addresses of a run; a file of them in a cache",
    .usage = "[OPTION...]",
    .description =
        "Writes what an algorithm does, event by event: load, product, mask, new max, rescale, accumulate, skip, "
        "normalise, store, each with its tile, its rows and columns, and the bytes it moves. In the chrome format one "
        "step of the stream is one microsecond: the order is the algorithm's, the clock is not a GPU's.",
    .examples =
        "  # 8 tokens, tiles of 2 x 2, causal: short enough to read\n"
        "  tilewalk trace -N 8 -d 4 --block 2 --causal\n\n"
        "  # three algorithms side by side; open the file at ui.perfetto.dev\n"
        "  tilewalk trace -N 256 -d 64 --block 64 --algorithm standard,fa1,fa2 --format chrome -o trace.json\n\n"
        "  # through a cache of 2 MiB: 16 ways, lines of 128 bytes, sectors of 32\n"
        "  tilewalk trace -N 4096 -d 128 --block 128 --format din | tilewalk trace - --cache 2M,16,128,32\n\n"
        "  # a Hopper kernel's pipeline as it was measured\n"
        "  tilewalk trace -N 4096 -d 128 --heads 16 --pipeline -o pipeline.json\n\n"
        "  # ten events from the middle of a long walk\n"
        "  tilewalk trace -N 1M --from 1000000000 --limit 10\n",
    .options_bytes = sizeof(TraceOptions),
    .sets = SETS,
    .apart = "pipeline ! format from limit",
    .answer = answer,
};
