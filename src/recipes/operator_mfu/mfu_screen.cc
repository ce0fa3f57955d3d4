// SPDX-License-Identifier: Apache-2.0
#include "mfu_screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"

namespace mpa {
namespace {

constexpr std::size_t kMostShares = 12;

std::string FlopsText(const MfuShare& share) {
  if (share.flops <= 0 || share.duration <= 0) return "-";
  return fmt::format("{:.2f}", share.flops / static_cast<double>(share.duration) / 1e3);
}

}  // namespace

std::string ChipText(const ChipPeak& chip) {
  const PeakTflops peak = PeakOf(chip, TypeClass::kFp16);
  if (peak.gap != PeakGap::kNone) return "peak of the chip unknown";
  std::string text = fmt::format("peak {:.1f} TFLOPS with FP16", peak.tflops);
  if (!chip.peak_tflops) {
    text += fmt::format(" ({} cores at {:g} MHz)", chip.cores, chip.frequency_mhz);
  }
  return text;
}

std::string PercentText(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.1f} %", *ratio * 100) : "-";
}

std::string WasteHeading(std::string_view unit) {
  return fmt::format("  {:<24} {:>7} {:>8} {:>7} {:>5}  {}", "most time wasted by", "kernels", unit,
                     "MFU", "type", "shapes");
}

std::string WasteLine(const MfuWaste& waste, const AmountScale& scale) {
  const std::string start = fmt::format(
      "  {:<24} {:>7} {:>8} {:>7} {:>5}  ", CutEnd(Printable(waste.op_type), 24), waste.count,
      scale.Text(scale.Rounded(waste.wasted)), PercentText(waste.use), Text(waste.type));
  return start + CutEnd(Printable(waste.input_shapes), kScreenColumns - ColumnsOf(start));
}

std::vector<std::string> MfuScreen(std::string_view rank, const MfuSummary& summary) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {}", rank, ChipText(summary.chip)));
  TimeNs longest = 0;
  for (const MfuShare& share : summary.shares) longest = std::max(longest, share.duration);
  const AmountScale scale(Quantity::kTime, longest);
  lines.push_back(fmt::format("  {:<24} {:>8} {:>8} {:>9} {:>8} {:>7} {:>8}", "work", "kernels",
                              scale.unit(), "of device", "TFLOPS", "MFU", "at clock"));
  for (std::size_t i = 0; i < std::min(kMostShares, summary.shares.size()); ++i) {
    const MfuShare& share = summary.shares[i];
    lines.push_back(fmt::format("  {:<24} {:>8} {:>8} {:>9} {:>8} {:>7} {:>8}",
                                CutEnd(Printable(share.work), 24), share.kernels,
                                scale.Text(scale.Rounded(share.duration)),
                                PercentText(summary.ShareOfTime(share)), FlopsText(share),
                                PercentText(share.Use()), PercentText(share.UseOfMeasuredClock())));
    if (share.reason.empty()) continue;
    lines.push_back("    no MFU: " + CutEnd(share.reason, kScreenColumns - 12));
  }
  if (summary.shares.size() > kMostShares) {
    lines.push_back(
        fmt::format("  ... {} more in MFUSummary", summary.shares.size() - kMostShares));
  }
  if (summary.wastes.empty()) return lines;
  const AmountScale wasted(Quantity::kTime, summary.wastes.front().wasted);
  lines.push_back(WasteHeading(wasted.unit()));
  for (const MfuWaste& waste : summary.wastes) lines.push_back(WasteLine(waste, wasted));
  return lines;
}

}  // namespace mpa
