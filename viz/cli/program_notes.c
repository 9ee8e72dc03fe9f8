#include "viz/cli/program_notes.h"

#include "sim/numbers/program_check.h"

Status layer_note(const Request *request, Io *io, Error *error) {
  char note[QUESTION_NOTE_BYTES];
  const Status status = question_layer_note(request, &REQUEST_FILES, note, error);
  if (!status && *note && !io->has_told) text_say(io->err, "%s\n", note);
  return status;
}

void program_notes(const Schedule *const *schedules, int n, Io *io) {
  for (int k = 0; k < n && !io->has_told; k++) {
    bool is_new = true;
    for (int before = 0; before < k; before++) is_new = is_new && schedules[before] != schedules[k];
    if (is_new && schedules[k]->ranks.is_said)
      text_say(io->err,
               "%s: figures are of one GPU, but for those of links (sim, sweep --metric links); step by step: tilewalk "
               "sim --steps --algorithm %s\n",
               schedules[k]->name, schedule_word(schedules[k]));
    if (!is_new || !schedules[k]->path) continue;
    const ProgramVerdict verdict = program_verdict(schedules[k], NULL);
    if (!verdict.is_right) text_say(io->err, "%s: %s\n", schedule_word(schedules[k]), verdict.text);
  }
}
