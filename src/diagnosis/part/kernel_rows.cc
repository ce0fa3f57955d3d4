// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "mpa/base/text.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/mfu/chip_of_rank.h"

namespace mpa {
namespace {

constexpr std::size_t kMostListed = 1000;
// A unit that is busy for a larger part of the time bounds the kernel, as the Python tool has it.
constexpr std::int16_t kBusy = 800;
// If all kernels without bound are shorter, none of them matters.
constexpr TimeNs kLongKernel = 20'000;

UnitLoads LoadsOf(const KernelLoads& loads, std::size_t row) {
  return {.vec = loads.aiv_vec[row],
          .mac = loads.aic_mac[row],
          .scalar = std::max(loads.aic_scalar[row], loads.aiv_scalar[row]),
          .mte1 = loads.aic_mte1[row],
          .mte2 = std::max(loads.aic_mte2[row], loads.aiv_mte2[row]),
          .mte3 = loads.aiv_mte3[row],
          .fixpipe = loads.aic_fixpipe[row]};
}

bool IsUnbound(const UnitLoads& loads) {
  const std::int16_t most = std::max(
      {loads.vec, loads.mac, loads.scalar, loads.mte1, loads.mte2, loads.mte3, loads.fixpipe});
  return most > 0 && most <= kBusy;
}

class KernelLister {
 public:
  explicit KernelLister(const RankTrace& trace) : trace_(trace), chip_(ChipRowOf(trace)) {}

  // The cores that the blocks of a kernel are for: of a mixed kernel those of its main part.
  std::int32_t CoresOf(std::size_t row) const {
    if (!chip_) return 0;
    const std::int64_t cube = trace_.chips.cube_cores[*chip_];
    const std::int64_t vector = trace_.chips.vector_cores[*chip_];
    const std::string_view core = View(trace_.kernels.core[row]);
    if (IsOneOf(core, {"AI_CORE", "MIX_AIC"})) return static_cast<std::int32_t>(cube);
    if (!IsOneOf(core, {"AI_VECTOR_CORE", "MIX_AIV"})) return 0;
    return static_cast<std::int32_t>(vector > 0 ? vector : cube);
  }

  bool LeavesCoresIdle(std::size_t row) const {
    const std::int32_t cores = CoresOf(row), blocks = trace_.kernel_loads.blocks[row];
    if (cores == 0 || blocks <= 0 || blocks % cores == 0) return false;
    // A mixed kernel that fills the vector cores is not held up by its cube part.
    const std::int64_t vector = trace_.chips.vector_cores[*chip_];
    const std::int32_t mixed = trace_.kernel_loads.mix_blocks[row];
    return View(trace_.kernels.core[row]) != "MIX_AIC" || vector == 0 || mixed <= 0 ||
           mixed % vector != 0;
  }

  KernelList List(std::vector<std::size_t> found) const {
    const Kernels& kernels = trace_.kernels;
    KernelList list;
    list.count = static_cast<std::int64_t>(found.size());
    for (const std::size_t row : found) list.time += kernels.dur[row];
    std::ranges::stable_sort(found, std::greater{}, [&](std::size_t a) { return kernels.dur[a]; });
    found.resize(std::min(found.size(), kMostListed));
    for (const std::size_t row : found) list.rows.push_back(RowOf(row));
    return list;
  }

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }

  KernelRow RowOf(std::size_t row) const {
    const Kernels& kernels = trace_.kernels;
    const KernelLoads& loads = trace_.kernel_loads;
    // Some captures write "N/A" for shapes that they do not know.
    const auto text = [&](StringId id) {
      return View(id) == "N/A" ? std::string() : std::string(View(id));
    };
    return {.name = text(kernels.name[row]),
            .type = text(kernels.op_type[row]),
            .core = text(kernels.core[row]),
            .dur = kernels.dur[row],
            .blocks = loads.blocks[row],
            .mix_blocks = loads.mix_blocks[row],
            .cores = CoresOf(row),
            .loads = LoadsOf(loads, row),
            .tensors = {text(kernels.shapes[row]), text(kernels.input_types[row]),
                        text(kernels.input_formats[row]), text(kernels.output_shapes[row]),
                        text(loads.output_types[row]), text(kernels.output_formats[row])}};
  }

  const RankTrace& trace_;
  const std::optional<std::size_t> chip_;
};

}  // namespace

bool IsAiCpu(std::string_view core) { return IsOneOf(core, {"AI_CPU", "KERNEL_AICPU"}); }

KernelList KernelsOnSomeCores(const RankTrace& trace) {
  const KernelLister lister(trace);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < trace.kernel_loads.Size(); ++i) {
    if (lister.LeavesCoresIdle(i)) found.push_back(i);
  }
  return lister.List(std::move(found));
}

KernelList KernelsWithoutBound(const RankTrace& trace) {
  std::vector<std::size_t> found;
  TimeNs longest = 0;
  for (std::size_t i = 0; i < trace.kernel_loads.Size(); ++i) {
    if (!IsUnbound(LoadsOf(trace.kernel_loads, i))) continue;
    found.push_back(i);
    longest = std::max(longest, trace.kernels.dur[i]);
  }
  return longest > kLongKernel ? KernelLister(trace).List(std::move(found)) : KernelList{};
}

std::vector<ClockRow> ClocksOfKernels(const RankTrace& trace) {
  if (trace.core_clocks.Empty()) return {};
  const Kernels& kernels = trace.kernels;
  std::map<std::string_view, ClockRow> by_name;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (IsAiCpu(trace.strings.View(kernels.core[i]))) continue;
    const auto clock =
        ClockDuring(trace.core_clocks, kernels.start[i], kernels.start[i] + kernels.dur[i]);
    if (!clock) continue;
    const std::string_view name = trace.strings.View(kernels.name[i]);
    const auto [found, is_new] =
        by_name.try_emplace(name, ClockRow{.name = std::string(name), .least = clock->least});
    ClockRow& row = found->second;
    ++row.count;
    row.time += kernels.dur[i];
    row.mhz += clock->mean * static_cast<double>(kernels.dur[i]);
    row.least = std::min(row.least, clock->least);
    row.most = std::max(row.most, clock->most);
  }
  std::vector<ClockRow> rows;
  for (auto& [name, row] : by_name) {
    if (row.time == 0) continue;
    row.mhz /= static_cast<double>(row.time);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater{}, &ClockRow::time);
  rows.resize(std::min(rows.size(), kMostListed));
  return rows;
}

}  // namespace mpa
