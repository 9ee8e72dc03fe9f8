#include "viz/cli/reply.h"

Document reply_new(const OutputRequest *output) {
  Document d = document_new(output->json ? DOCUMENT_JSON : output->csv ? DOCUMENT_CSV : DOCUMENT_TEXT);
  d.details = output->details;
  return d;
}

Status reply_print(Document *d, Status status, Io *io, Error *error) {
  if (!status) status = document_print(d, io->out, &io->style, error);
  document_free(d);
  return status;
}

Status reply_draw(Document *d, const ChartRequest *how, const char *path, Status status, Io *io, Error *error) {
  Chart *const chart = document_drawn_chart(d);
  const Bars *const bars = document_drawn_bars(d);
  if (!status)
    status = chart  ? io->drawing->chart(chart, how, path, io->out, error)
             : bars ? io->drawing->bars(bars, how, path, io->out, error)
                    : error_no_memory(error, "for a picture");
  document_free(d);
  return status;
}
