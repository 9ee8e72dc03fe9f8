/* What an SM does at each moment of a tile: the stamped build of four rungs, in which a thread of each warpgroup stores
 * the SM's clock as it waits, has what it waited for, has issued or has got its products (kernels/lib/rung.h, StampId).
 *
 *     producer    | asks | issues K | asks | issues V |          a store each, of one thread a warpgroup
 *     warpgroup   | waits | has K | S | softmax | P rounded |
 *
 *     launch,rung,d,N,heads,causal,block_q,block_k,sm,plain_us,stamped_us    the medians of launches in turn
 *     span,id,n,tenth,median,nine_tenths     cycles from "has it" to each moment, and to the next tile's (id: next), of
 *                                            all tiles of all CTAs but the first two and the last two of each
 *     stamp,role,tile,id,cycles              those of one SM, whose time was the median, from its first; its CTAs after
 *                                            one another; where two share it (rung 7), roles 1 and 2 are the two */
// Compiled for sm_90a alone: three of the rungs are.
#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/pass.h"

namespace stamped {
extern const Rung FA2_ASYNC, FA2_WGMMA, FA3_OVERLAP, FA3_BACKWARD;
}
namespace plain {
extern const Rung FA2_ASYNC, FA2_WGMMA, FA3_OVERLAP, FA3_BACKWARD;
}

namespace {

enum { LAUNCHES = 41, TILES_PRINTED = 128 };

/* A CTA's stamps, and the place that its tiles take among those of its SM. */
struct StampedCta {
  size_t index;
  unsigned sm, begin, end; /* of the SM's clock */
  int n_tiles, lane, first_tile;
};

struct Recording {
  std::vector<Stamps> stamps; /* [CTA][STAMP_TILES] */
  std::vector<StampedCta> ctas;
};

bool before(unsigned a, unsigned b) { return (int)(a - b) < 0; } /* the clock may wrap */

/* The largest difference of two tensors in fp16, as a part of the largest number: the compiler fuses other products and
 * sums around a stamp, so a last bit may differ. */
double difference(const std::vector<unsigned char> &a, const std::vector<unsigned char> &b) {
  double most = 0, largest = 0;
  for (size_t k = 0; k < a.size() / 2; k++) {
    const double x = element_value(DTYPE_FP16, a.data(), k), y = element_value(DTYPE_FP16, b.data(), k);
    if (x != x || y != y) return 1;
    most = std::max(most, fabs(x - y));
    largest = std::max(largest, fabs(x));
  }
  return largest > 0 ? most / largest : 1;
}

StampedCta cta_of(const Recording &r, size_t index) {
  StampedCta cta = {index, 0, 0, 0, 0, 0, 0};
  for (int role = 0; role < STAMP_ROLES; role++)
    cta.sm = std::max(cta.sm, r.stamps[index * STAMP_TILES].at[role][STAMP_SM]);
  bool any = false;
  for (size_t t = 0; t < STAMP_TILES; t++)
    for (int role = 0; role < STAMP_ROLES; role++)
      for (int id = 0; id < STAMP_SM; id++) {
        const unsigned at = r.stamps[index * STAMP_TILES + t].at[role][id];
        if (!at) continue;
        if (!any || before(at, cta.begin)) cta.begin = at;
        if (!any || before(cta.end, at)) cta.end = at;
        any = true;
        cta.n_tiles = (int)t + 1;
      }
  return cta;
}

/* Lanes of an SM: a CTA takes the first that is free when it begins. Sorts by SM, then time. */
void find_lanes(std::vector<StampedCta> *ctas) {
  std::sort(ctas->begin(), ctas->end(), [](const StampedCta &a, const StampedCta &b) {
    return a.sm != b.sm ? a.sm < b.sm : before(a.begin, b.begin);
  });
  for (size_t c = 0; c < ctas->size(); c++) {
    StampedCta &cta = (*ctas)[c];
    for (cta.lane = 0; cta.lane < STAMP_ROLES; cta.lane++) {
      const StampedCta *last = nullptr;
      for (size_t k = 0; k < c; k++)
        if ((*ctas)[k].sm == cta.sm && (*ctas)[k].lane == cta.lane) last = &(*ctas)[k];
      cta.first_tile = last ? last->first_tile + last->n_tiles : 0;
      if (!last || !before(cta.begin, last->end)) break;
    }
  }
}

Recording record(Pass &pass, size_t n_ctas, const GpuArray<Stamps> &on_gpu) {
  Recording r;
  on_gpu.fill(0);
  pass.run();
  r.stamps = on_gpu.get(STAMP_TILES * n_ctas);
  for (size_t c = 0; c < n_ctas; c++) {
    r.ctas.push_back(cta_of(r, c));
    if (!r.ctas.back().sm) r.ctas.pop_back(); /* never began: rung 9 has fewer than the blocks */
  }
  find_lanes(&r.ctas);
  return r;
}

void print_spans(const Recording &r) {
  std::vector<unsigned> spans[STAMP_IDS]; /* the last: to the next tile */
  for (const StampedCta &cta : r.ctas)
    for (int role = 1; role < STAMP_ROLES; role++)
      for (int t = 2; t + 2 < cta.n_tiles; t++) {
        const unsigned *at = r.stamps[cta.index * STAMP_TILES + (size_t)t].at[role],
                       *next = r.stamps[cta.index * STAMP_TILES + (size_t)t + 1].at[role];
        if (!at[STAMP_HAS] || at[STAMP_BEGINS] || at[STAMP_ENDS]) continue;
        for (int id = 0; id < STAMP_SM; id++)
          if (at[id] && id != STAMP_HAS && id != STAMP_WAITS) spans[id].push_back(at[id] - at[STAMP_HAS]);
        if (next[STAMP_HAS]) spans[STAMP_SM].push_back(next[STAMP_HAS] - at[STAMP_HAS]);
      }
  for (int id = 0; id < STAMP_IDS; id++) {
    std::vector<unsigned> &x = spans[id];
    if (x.empty()) continue;
    std::sort(x.begin(), x.end());
    if (id == STAMP_SM)
      printf("span,next");
    else
      printf("span,%d", id);
    printf(",%zu,%u,%u,%u\n", x.size(), x[x.size() / 10], x[x.size() / 2], x[x.size() * 9 / 10]);
  }
}

/* The SM whose time, from its first stamp to its last, is the median. */
unsigned median_sm(const Recording &r) {
  std::vector<std::pair<unsigned, unsigned>> times; /* cycles, SM */
  for (size_t c = 0; c < r.ctas.size();) {
    const StampedCta &first = r.ctas[c];
    unsigned end = first.end;
    for (; c < r.ctas.size() && r.ctas[c].sm == first.sm; c++)
      if (before(end, r.ctas[c].end)) end = r.ctas[c].end;
    times.push_back({end - first.begin, first.sm});
  }
  return median(times).second;
}

void print_stamps(const Recording &r, unsigned sm) {
  unsigned zero = 0;
  for (const StampedCta &cta : r.ctas)
    if (cta.sm == sm && cta.first_tile == 0 && (cta.lane == 0 || before(cta.begin, zero))) zero = cta.begin;
  for (const StampedCta &cta : r.ctas) {
    if (cta.sm != sm) continue;
    for (int t = 0; t < cta.n_tiles && cta.first_tile + t < TILES_PRINTED; t++)
      for (int role = 0; role < STAMP_ROLES; role++)
        for (int id = 0; id < STAMP_SM; id++)
          if (const unsigned at = r.stamps[cta.index * STAMP_TILES + (size_t)t].at[role][id])
            printf("stamp,%d,%d,%d,%u\n", role + cta.lane, cta.first_tile + t, id, at - zero);
  }
}

void run_launch(const Measured &l, const Rung *plain) {
  Pass pass(l), without({plain, l.d, l.N, l.heads, l.causal});
  const Attention &a = pass.attention;
  const bool stays = l.rung == &stamped::FA3_OVERLAP; /* its CTAs take row blocks until none is left */
  const size_t across = (size_t)(l.rung->trains ? (a.N_k + a.B_c - 1) / a.B_c : (a.N_q + a.B_r - 1) / a.B_r);
  cudaDeviceProp gpu;
  GPU(cudaGetDeviceProperties(&gpu, 0));
  const size_t blocks = across * (size_t)a.heads,
               n_ctas = stays ? std::min(blocks, (size_t)gpu.multiProcessorCount) : blocks;
  /* And room for another, should the last CTA of those that stay take too many tiles. */
  const GpuArray<Stamps> on_gpu((n_ctas + 1) * STAMP_TILES, "the stamps of CTAs");
  pass.attention.marks = (Mark *)on_gpu.data;
  std::vector<double> us[2];
  GpuTimer timer;
  for (int i = 0; i < 2 * LAUNCHES; i++) {
    const Pass &one = i % 2 ? pass : without;
    timer.begin();
    one.start();
    const double ms = timer.end_ms();
    if (i >= 6) us[i % 2].push_back(1e3 * ms);
  }
  const ProblemPiece result = l.rung->trains ? PIECE_dK : PIECE_O;
  if (difference(pass.fetched(result), without.fetched(result)) > 0x1p-8)
    refuse("--stamps: %s computes something else with stamps", l.rung->name);
  const Recording r = record(pass, n_ctas, on_gpu);
  const unsigned sm = median_sm(r);
  printf("launch,%s,%d,%d,%u,%.2f,%.2f\n", l.row().c_str(), a.B_r, a.B_c, sm - 1, median(us[0]), median(us[1]));
  print_spans(r);
  print_stamps(r, sm);
}

} // namespace

void stamps_print() {
  cudaDeviceProp gpu;
  GPU(cudaGetDeviceProperties(&gpu, 0));
  if (gpu.major != 9) refuse("--stamps needs compute capability 9.0; this GPU has %d.%d", gpu.major, gpu.minor);
  puts("launch,rung,d,N,heads,causal,block_q,block_k,sm,plain_us,stamped_us");
  puts("span,id,n,tenth,median,nine_tenths");
  puts("stamp,role,tile,id,cycles");
  const struct {
    const Rung *rung, *plain;
  } RUNGS[] = {{&stamped::FA2_ASYNC, &plain::FA2_ASYNC},
               {&stamped::FA2_WGMMA, &plain::FA2_WGMMA},
               {&stamped::FA3_OVERLAP, &plain::FA3_OVERLAP},
               {&stamped::FA3_BACKWARD, &plain::FA3_BACKWARD}};
  for (const auto &rung : RUNGS)
    for (const int d : {128, 64})
      for (const bool causal : {false, true}) run_launch({rung.rung, d, 4096, d == 64 ? 32 : 16, causal}, rung.plain);
}
