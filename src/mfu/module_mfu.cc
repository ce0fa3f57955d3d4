// SPDX-License-Identifier: Apache-2.0
#include "mpa/mfu/module_mfu.h"

#include <fmt/format.h>

#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/measure/device_work.h"
#include "mpa/report/report.h"

namespace mpa {
namespace {

// "54.61%", "50.0%".
std::string Percent(double ratio) { return PythonFloat(Rounded(ratio * 100, 2)) + "%"; }

}  // namespace

std::string AverageMfu(const ModuleStatisticRow& row, const RankMfu& mfu,
                       std::string_view unknown) {
  const std::size_t kernels = row.work.size() / static_cast<std::size_t>(row.count);
  std::vector<Tally<double>> ratios(kernels);
  bool any = false;
  for (std::size_t i = 0; i < row.work.size(); ++i) {
    if (!row.work[i].IsComputeKernel()) continue;
    const Utilisation& use = mfu.kernels[static_cast<std::size_t>(row.work[i].kernel)].use;
    if (!use.Known() || use.ratio <= 0) continue;
    ratios[i % kernels].AddOne(use.ratio);
    any = true;
  }
  std::string text;
  if (!any) return text;
  for (const Tally<double>& of_place : ratios) {
    if (of_place.count == 0 && unknown.empty()) continue;
    if (!text.empty()) text += ',';
    text += of_place.count > 0 ? Percent(of_place.Mean()) : std::string(unknown);
  }
  return text;
}

RatedKernels CountRated(const RankMfu& mfu) {
  RatedKernels rated;
  for (const KernelMfu& kernel : mfu.kernels) {
    if (!kernel.use.Known()) continue;
    ++rated.count;
    if (kernel.use.ratio > 1) ++rated.impossible;
  }
  return rated;
}

void AddImpossibleMfu(std::string_view rank, const RatedKernels& rated, Report& report) {
  if (rated.impossible == 0) return;
  report.notes.push_back(
      fmt::format("{}: MFU above 100 % of {} of {} kernels; the operations that were counted for"
                  " them or the numbers of the chip are wrong",
                  rank, rated.impossible, rated.count));
}

}  // namespace mpa
