/* A link between a GPU and what lies behind it: other GPUs, the host's memory, a disk. A file of assets/links, in the
 * form of sim/base/keyfile.h.
 *
 *     bound       latency + bytes / bandwidth                                 data sheets: no message is faster
 *     predicted   start + bytes of the ramp / its rate + the rest / its rate   where exchanges were measured
 *
 * Bandwidth is that of one direction; both directions go at once. Measured constants are those of one library on one
 * pair of GPUs, which each file names: NCCL takes SMs for as long as an exchange is on, and the host takes `call` to
 * launch a kernel beside it. Not modelled: several hops, links that others use as well. */
#ifndef TILEWALK_SIM_MACHINE_LINK_H
#define TILEWALK_SIM_MACHINE_LINK_H

#include <stdint.h>

#include "sim/base/keyfile.h"

enum { LINK_FIELD_COUNT = 12 };

typedef struct {
  char name[KEYFILE_TEXT_BYTES], product[KEYFILE_TEXT_BYTES], measured_on[KEYFILE_TEXT_BYTES];
  double bytes_per_s; /* one direction, data sheet */
  double latency_s;   /* of a message, at least */
  /* Measured; 0: nobody has. */
  double start_s; /* of an exchange, whatever its bytes: the host's call and what is waited for */
  int64_t ramp_bytes;
  double ramp_bytes_per_s, rest_bytes_per_s;
  int64_t most_bytes; /* the largest exchange that was measured */
  double call_s;      /* the host's launch of a kernel, besides the kernel */
  int64_t sms;        /* that an exchange takes from kernels beside it */
  KeyfileNote notes[LINK_FIELD_COUNT];
} GpuLink;

/* Reads a description. *link is unchanged on error. Measured constants are given all or none. */
Status link_parse(const char *buffer, size_t length, const char *display_name, GpuLink *link, Error *error);

/* The source of a field. */
const KeyfileNote *link_note(const GpuLink *link, const char *key);

/* Seconds of a message of so many bytes; 0 bytes: no message. predicted: NAN where nothing was measured. */
double link_bound_s(const GpuLink *link, double bytes);
double link_predicted_s(const GpuLink *link, double bytes);

#endif
