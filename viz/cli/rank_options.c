#include "viz/cli/rank_options.h"

#include <stdio.h>

#include "viz/request/description.h"

#define DEFAULT_LINK "nvlink4"

const Option RANK_OPTIONS[] = {
    OPTION_ROW("ranks", "P", "GPUs that attention, or a program with 'ranks', runs on. Default 4.",
               OPTION_NUMBER(RankOptions, n, "how many ranks there are", 1, RANKS_MAX)),
    OPTION_ROW("link", "NAME|FILE",
               "Between neighbours, or to what lies behind the GPU: nvlink2, nvlink3, nvlink4, nvlink5, pcie4, pcie5, "
               "ib-edr, ib-hdr, ib-ndr, host-ddr5, nvme4, or a file of your own. Default " DEFAULT_LINK ".",
               OPTION_TEXT(RankOptions, link, "the name of the link"), .choices = "@links"),
    {0},
};

Status rank_options_link(const RankOptions *o, GpuLink *link, Error *error) {
  return description_link(*o->link ? o->link : DEFAULT_LINK, link, error);
}

Status rank_options_check(const RankOptions *o, const Schedule *const *schedules, int n, Error *error) {
  bool any = !o->n && !*o->link;
  for (int k = 0; k < n; k++) any = any || schedules[k]->ranks.is_said;
  return any ? STATUS_OK
             : error_refuse(
                   error, "--%s: no program here says what ranks do; name one with 'ranks' (tilewalk list algorithms)",
                   o->n ? "ranks" : "link");
}

Status rank_options_links(const RankOptions *o, const Request *request, const Problem *problem, const Gpu *gpu,
                          Simulation *run, Error *error) {
  GpuLink link;
  Error inner = {0};
  const int64_t n = o->n ? o->n : request->ring.n ? request->ring.n : RANKS_DEFAULT;
  run->links = (RankLinks){0};
  if (!run->schedule->ranks.is_said) return STATUS_OK;
  Status status = rank_options_link(o, &link, error);
  if (status) return status;
  status = ranks_links(run, problem, n, &link, gpu, &inner);
  if (!status) return STATUS_OK;
  if (o->n || *o->link || status == STATUS_NO_MEMORY) return error_pass(error, &inner);
  snprintf(run->links.why, sizeof run->links.why, "%s", inner.message);
  return STATUS_OK;
}
