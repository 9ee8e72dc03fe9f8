/* The request of shared memory that conflicts the most, of each line: which lanes met in which banks.
 *
 * A launch is watched while it runs; what is kept is as the machine made it, and how it would be under a swizzle. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_BANKS_H
#define TILEWALK_VIZ_KERNEL_KERNEL_BANKS_H

#include "viz/kernel/kernel_launch.h"
#include "viz/kernel/kernel_report.h"
#include "viz/scene/bank.h"
#include "viz/scene/kernel_scene.h"

/* The request as scenes have it. With row_bytes its addresses, passes and conflicts are those of a swizzle of rows of
 * so many bytes: units of 16 bytes XORed by the number of their row, 3 bits of it, as TMA does with rows of 128 bytes
 * (sim/machine/warp.h); plain_wavefronts are of what was seen. It takes its own swizzle off, too. */
KernelSceneRequest kernel_request_seen(const PtxSeen *seen, uint64_t row_bytes);

typedef struct {
  const KernelLaunch *launch;
  struct KernelBank {
    KernelSceneRequest as_is, swizzled; /* is_there: there was one with conflicts */
    uint64_t row_bytes;                 /* of the swizzle of fewest passes */
  } * worst;                            /* by pc */
} KernelBanks;

/* Watches the launch: before it runs. STATUS_NO_MEMORY. Free it in either case, after the launch. */
Status kernel_banks_watch(KernelBanks *banks, KernelLaunch *launch, Error *error);
void kernel_banks_free(KernelBanks *banks);

/* "banks": [{"line", "file", ...}] into an object that is open; the lines in their order, one request each. */
void kernel_banks_put(const KernelBanks *banks, const ReportSink *sink);

#endif
