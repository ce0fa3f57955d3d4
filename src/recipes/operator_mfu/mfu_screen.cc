// SPDX-License-Identifier: Apache-2.0
#include "mfu_screen.h"

#include <fmt/format.h>

namespace mpa {
namespace {

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

}  // namespace

std::vector<std::string> MfuScreen(std::string_view rank, const MfuSummary& summary) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {}", rank, ChipText(summary.chip)));
  lines.push_back(fmt::format("  {:<34} {:>8} {:>12} {:>9} {:>10} {:>8} {:>10}", "work", "kernels",
                              "ms", "of device", "TFLOPS", "MFU", "at clock"));
  for (const MfuShare& share : summary.shares) {
    const bool counted = share.flops > 0 && share.duration > 0;
    lines.push_back(fmt::format(
        "  {:<34} {:>8} {:>12.3f} {:>9} {:>10} {:>8} {:>10}{}", share.work, share.kernels,
        static_cast<double>(share.duration) / 1e6, PercentText(summary.ShareOfTime(share)),
        counted ? fmt::format("{:.2f}", share.flops / static_cast<double>(share.duration) / 1e3)
                : "-",
        PercentText(share.Use()), PercentText(share.UseOfMeasuredClock()),
        share.reason.empty() ? "" : "  " + share.reason));
  }
  if (summary.wastes.empty()) return lines;
  lines.push_back(fmt::format("  {:<34} {:>8} {:>12} {:>9} {:>10}", "most time wasted by",
                              "kernels", "ms wasted", "MFU", "type"));
  for (const MfuWaste& waste : summary.wastes) {
    lines.push_back(fmt::format("  {:<34} {:>8} {:>12.3f} {:>9} {:>10}  {}", waste.op_type,
                                waste.count, static_cast<double>(waste.wasted) / 1e6,
                                PercentText(waste.use), Text(waste.type), waste.input_shapes));
  }
  return lines;
}

}  // namespace mpa
