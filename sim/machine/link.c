#include "sim/machine/link.h"

#include <math.h>

#define FIELD(key, kind, member, required, min, max, help)                                                             \
  { key, kind, offsetof(GpuLink, member), required, min, max, help, NULL }

static const KeyfileField FIELDS[] = {
    FIELD("name", KEYFILE_NAME, name, true, 0, 0, "the name that --link takes"),
    FIELD("product", KEYFILE_TEXT, product, false, 0, 0, "the full name"),
    FIELD("bandwidth", KEYFILE_BYTES_PER_S, bytes_per_s, true, 1e3, 1e16, "of one direction, data sheet"),
    FIELD("latency", KEYFILE_SECONDS, latency_s, true, 0, 1, "of a message, at least"),
    FIELD("measured_on", KEYFILE_TEXT, measured_on, false, 0, 0, "what the rest was measured on"),
    FIELD("start", KEYFILE_SECONDS, start_s, false, 0, 1, "of an exchange, whatever its bytes"),
    FIELD("ramp", KEYFILE_BYTES, ramp_bytes, false, 1, 1e12, "bytes of an exchange that go at ramp_rate"),
    FIELD("ramp_rate", KEYFILE_BYTES_PER_S, ramp_bytes_per_s, false, 1e3, 1e16, "their rate"),
    FIELD("rest_rate", KEYFILE_BYTES_PER_S, rest_bytes_per_s, false, 1e3, 1e16, "that of the rest"),
    FIELD("most", KEYFILE_BYTES, most_bytes, false, 1, 1e15, "the largest exchange that was measured"),
    FIELD("call", KEYFILE_SECONDS, call_s, false, 0, 1, "the host's launch of a kernel beside it"),
    FIELD("sms", KEYFILE_COUNT, sms, false, 1, 1e5, "SMs that an exchange takes"),
};
_Static_assert(sizeof FIELDS / sizeof *FIELDS == LINK_FIELD_COUNT, "one row for each field");
enum { FIRST_MEASURED = 5 };

const KeyfileNote *link_note(const GpuLink *link, const char *key) { return keyfile_note(FIELDS, link->notes, key); }

Status link_parse(const char *buffer, size_t length, const char *display_name, GpuLink *link, Error *error) {
  GpuLink read;
  memset(&read, 0, sizeof read);
  const Status status = keyfile_parse(buffer, length, display_name, FIELDS, LINK_FIELD_COUNT, &read, read.notes, error);
  if (status) return status;
  int n = 0, line = 0;
  for (int f = FIRST_MEASURED; f < LINK_FIELD_COUNT; f++)
    if (read.notes[f].line) n++, line = read.notes[f].line;
  if (n && n < LINK_FIELD_COUNT - FIRST_MEASURED)
    return keyfile_refuse(display_name, line, error,
                          "%d of %d measured constants; give start, ramp, ramp_rate, rest_rate, most, call and sms, or "
                          "none of them",
                          n, LINK_FIELD_COUNT - FIRST_MEASURED);
  if (!read.product[0]) memcpy(read.product, read.name, sizeof read.product);
  *link = read;
  return STATUS_OK;
}

double link_bound_s(const GpuLink *link, double bytes) {
  return bytes > 0 ? link->latency_s + bytes / link->bytes_per_s : 0;
}

double link_predicted_s(const GpuLink *link, double bytes) {
  if (link->ramp_bytes == 0) return (double)NAN;
  const double ramp = fmin(bytes, (double)link->ramp_bytes);
  return bytes > 0 ? link->start_s + ramp / link->ramp_bytes_per_s + (bytes - ramp) / link->rest_bytes_per_s : 0;
}
