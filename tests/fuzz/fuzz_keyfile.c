/* Fuzz target for description files: any bytes are either read, every number with its source and
 * inside its range, or refused with one line that names the file. */
#include "tests/fuzz/fuzz.h"
#include "sim/base/keyfile.h"
#include "sim/base/utf8.h"

typedef struct {
  char name[KEYFILE_TEXT_BYTES];
  int64_t count, bytes;
  double rate[6];
} Record;

static const KeyfileField FIELDS[] = {
    {"name", KEYFILE_TEXT, offsetof(Record, name), true, 0, 0, "a name"},
    {"count", KEYFILE_COUNT, offsetof(Record, count), false, 1, 1e6, "a count"},
    {"bytes", KEYFILE_BYTES, offsetof(Record, bytes), false, 0, 1e12, "a size"},
    {"bandwidth", KEYFILE_BYTES_PER_S, offsetof(Record, rate[0]), false, 1, 1e15, "a bandwidth"},
    {"clock", KEYFILE_HERTZ, offsetof(Record, rate[1]), false, 1, 1e11, "a clock"},
    {"peak", KEYFILE_FLOPS_PER_S, offsetof(Record, rate[2]), false, 1, 1e18, "a peak"},
    {"time", KEYFILE_SECONDS, offsetof(Record, rate[3]), false, 1e-9, 1, "a time"},
    {"port", KEYFILE_BYTES_PER_CLOCK, offsetof(Record, rate[4]), false, 1, 4096, "a port"},
    {"exp", KEYFILE_OPS_PER_CLOCK, offsetof(Record, rate[5]), false, 1, 4096, "a rate"},
};
enum { N_FIELDS = sizeof FIELDS / sizeof FIELDS[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Record record = {0};
  KeyfileNote notes[N_FIELDS] = {0};
  Error error = {0};
  const Status status = keyfile_parse((const char *)data, size, "f", FIELDS, N_FIELDS, &record, notes, &error);
  if (status != STATUS_OK) {
    require(status == STATUS_BAD_FILE && error.status == status);
    require(strncmp(error.message, "f:", 2) == 0);
    require(utf8_is_text(error.message, strlen(error.message)));
    return 0;
  }
  require(error.message[0] == '\0');
  require(notes[0].line > 0 && record.name[0] && memchr(record.name, 0, sizeof record.name));
  for (int f = 1; f < N_FIELDS; f++) {
    if (notes[f].line == 0) continue;
    require(notes[f].source[0] && memchr(notes[f].source, 0, sizeof notes[f].source) != NULL);
    const double value = f == 1 ? (double)record.count : f == 2 ? (double)record.bytes : record.rate[f - 3];
    require(value >= FIELDS[f].min && value <= FIELDS[f].max);
  }
  return 0;
}
