// SPDX-License-Identifier: Apache-2.0
// Kernels by operations for each byte and operations per second.
#include "mpa/mfu/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/mfu/chip_of_rank.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxKept = 100, kMaxDrawn = 60, kMaxNamed = 5;
constexpr const char* kNoBytes = "no shapes or data types of its tensors";

template <typename Rows>
void KeepLongest(Rows& rows, std::size_t most) {
  StableSort(rows, std::greater{}, [](const auto& row) { return row.duration; });
  if (rows.size() > most) rows.resize(most);
}

std::string NameOf(const RoofKernels& kernels) {
  constexpr std::size_t kMaxLetters = 60;
  return CutEnd(fmt::format("{} {}", kernels.op_type, kernels.input_shapes), kMaxLetters);
}

double Round(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

// The ranks together.
class RanksTogether {
 public:
  explicit RanksTogether(const std::vector<const Roofline*>& ranks) {
    std::map<std::tuple<std::string, std::string, TypeClass>, RoofKernels> kernels;
    std::map<std::pair<std::string, std::string>, RoofGap> gaps;
    for (const Roofline* rank : ranks) {
      time_ += rank->device_time;
      chips_.insert(rank->chip);
      for (const RoofKernels& row : rank->kernels) {
        RoofKernels& sum = kernels[{row.op_type, row.input_shapes, row.type}];
        peaks_[row.type].insert(row.peak_tflops);
        const RoofKernels before = std::exchange(sum, row);
        sum.count += before.count;
        sum.duration += before.duration;
        sum.flops += before.flops;
        sum.bytes += before.bytes;
      }
      for (const RoofGap& row : rank->left_out) {
        RoofGap& sum = gaps[{row.op_type, row.reason}];
        const RoofGap before = std::exchange(sum, row);
        sum.count += before.count;
        sum.duration += before.duration;
      }
    }
    for (auto& [key, row] : kernels) kernels_.push_back(std::move(row));
    for (auto& [key, row] : gaps) gaps_.push_back(std::move(row));
    KeepLongest(kernels_, kMaxDrawn);
    KeepLongest(gaps_, gaps_.size());
  }

  std::optional<PageChart> Chart() const {
    if (kernels_.empty()) return std::nullopt;
    PageChart chart{
        .kind = PageChart::Kind::kScatter,
        .title =
            "Speed of kernels by operations per byte of their tensors; the lines show the chip's"
            " limits",
        .unit = "TFLOPS",
        .label = Say("kernels"),
        .unit_of_places = "FLOP/byte"};
    std::map<TypeClass, PageSeries> series;
    for (const RoofKernels& row : kernels_) series[row.type];
    PageSeries share{.name = Say("% of the kernels' time")}, mfu{.name = "MFU (%)"},
        count{.name = Say("kernels")};
    for (const RoofKernels& row : kernels_) {
      const double tflops = row.flops / static_cast<double>(row.duration) / 1e3;
      chart.labels.push_back(NameOf(row));
      chart.at.push_back(Round(row.flops / row.bytes, 4));
      for (auto& [type, values] : series)
        values.values.push_back(type == row.type ? Round(tflops, 4)
                                                 : std::numeric_limits<double>::quiet_NaN());
      share.values.push_back(Round(PercentOf(row.duration, time_), 4));
      mfu.values.push_back(row.peak_tflops > 0 ? Round(100 * tflops / row.peak_tflops, 4)
                                               : std::numeric_limits<double>::quiet_NaN());
      count.values.push_back(static_cast<double>(row.count));
    }
    for (auto& [type, values] : series) {
      values.name = type == TypeClass::kUnknown ? Say("unknown type") : std::string(Text(type));
      values.tint = Tint::kDataType;
      values.shade = static_cast<std::size_t>(type);
      AddRoof(type, values.name, chart);
      chart.series.push_back(std::move(values));
    }
    chart.beside = {std::move(share), std::move(mfu), std::move(count)};
    chart.note = LeftOut();
    return chart;
  }

 private:
  void AddRoof(TypeClass type, const std::string& name, PageChart& chart) const {
    const double memory =
        chips_.size() == 1 ? LimitsOf(*chips_.begin()).memory_gbs / 1e3 : 0;  // of each byte
    const std::set<double>& peaks = peaks_.at(type);
    const double peak = peaks.size() == 1 ? *peaks.begin() : 0;
    if (memory <= 0 && peak <= 0) return;
    std::string text;
    if (peak > 0) text = fmt::format("{} {:.1f} TFLOPS", name, peak);
    if (memory > 0)
      text.append(text.empty() ? "" : ", ").append(Say("memory {:.0f} GB/s", 1e3 * memory));
    chart.roofs.push_back({std::move(text), peak, memory});
  }

  std::string LeftOut() const {
    TimeNs drawn = 0;
    for (const RoofKernels& row : kernels_) drawn += row.duration;
    const std::string shown =
        Say("{:.1f} % of the kernels' time is in the picture.", PercentOf(drawn, time_));
    if (gaps_.empty()) return shown;
    std::string gaps;
    for (std::size_t i = 0; i < std::min(kMaxNamed, gaps_.size()); ++i) {
      if (i > 0) gaps += Translated(", ");
      gaps += Say("{} {:.1f} % ({})", Translated(gaps_[i].op_type),
                  PercentOf(gaps_[i].duration, time_), Translated(gaps_[i].reason));
    }
    const std::size_t more = gaps_.size() - std::min(kMaxNamed, gaps_.size());
    if (more == 1) return Say("{} Left out: {}, and 1 type more.", shown, gaps);
    return more == 0 ? Say("{} Left out: {}.", shown, gaps)
                     : Say("{} Left out: {}, and {} more types.", shown, gaps, more);
  }

  TimeNs time_ = 0;
  std::vector<RoofKernels> kernels_;
  std::vector<RoofGap> gaps_;
  std::set<std::string> chips_;
  std::map<TypeClass, std::set<double>> peaks_;
};

}  // namespace

std::int64_t ElementsOf(const Shape& shape) {
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  if (shape.empty()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size <= 0 || count > kMax / size) return 0;
    count *= size;
  }
  return count;
}

TensorBytes BytesOf(const KernelTensors& tensors, const std::vector<std::string>& input_types) {
  TensorBytes bytes;
  std::int64_t read = 0;
  for (std::size_t i = 0; i < tensors.inputs.size(); ++i) {
    const std::int64_t elements = ElementsOf(tensors.inputs[i]);
    const std::int64_t element = i < input_types.size() ? BytesOfElement(input_types[i]) : 0;
    if (elements > 0 && element == 0) return {};
    read += elements * element;
  }
  const std::int64_t element = input_types.empty() ? 0 : BytesOfElement(input_types[0]);
  for (const Shape& shape : tensors.outputs) bytes.written += ElementsOf(shape) * element;
  bytes.all = read + bytes.written;
  return bytes;
}

Roofline RooflineOf(const RankTrace& trace, const RankMfu& mfu) {
  const Kernels& kernels = trace.kernels;
  const auto view = [&](StringId text) { return trace.strings.View(text); };
  Roofline found{.chip = trace.job.chip};
  // Kernels of one type, with one way to write their tensors.
  using Key = std::tuple<StringId, StringId, StringId, StringId, TypeClass>;
  std::map<Key, std::pair<RoofKernels, double>> sums;  // with the bytes of one
  std::map<std::pair<StringId, std::string_view>, RoofGap> gaps;
  const auto leave_out = [&](std::size_t row, std::string_view reason) {
    RoofGap& gap = gaps[{kernels.op_type[row], reason}];
    ++gap.count;
    gap.duration += kernels.dur[row];
  };
  for (std::size_t row = 0; row < mfu.kernels.size(); ++row) {
    const KernelMfu& kernel = mfu.kernels[row];
    const TimeNs dur = kernels.dur[row];
    found.device_time += dur;
    if (!kernel.flops.Known()) {
      leave_out(row, Text(kernel.flops.gap));
      continue;
    }
    const auto [at, is_new] =
        sums.try_emplace({kernels.op_type[row], kernels.shapes[row], kernels.output_shapes[row],
                          kernels.input_types[row], kernel.type});
    auto& [sum, bytes] = at->second;
    if (is_new) {
      const KernelTensors tensors =
          KernelTensors::Parse(view(kernels.shapes[row]), view(kernels.input_formats[row]),
                               view(kernels.output_shapes[row]), view(kernels.output_formats[row]));
      bytes = static_cast<double>(
          BytesOf(tensors, ParseTensorNames(view(kernels.input_types[row]))).all);
      sum.op_type = view(kernels.op_type[row]);
      sum.input_shapes = WithoutQuotes(view(kernels.shapes[row]));
      sum.type = kernel.type;
      sum.peak_tflops = kernel.peak_tflops;
    }
    if (bytes <= 0 || dur <= 0 || kernel.flops.count <= 0) {
      leave_out(row, bytes <= 0 ? kNoBytes : "no time or no operations");
      continue;
    }
    ++sum.count;
    sum.duration += dur;
    sum.flops += static_cast<double>(kernel.flops.count);
    sum.bytes += bytes;
  }
  for (auto& [key, sum] : sums) {
    if (sum.first.count > 0) found.kernels.push_back(std::move(sum.first));
  }
  for (auto& [key, gap] : gaps) {
    gap.op_type = view(key.first).empty() ? "unknown type" : std::string(view(key.first));
    gap.reason = key.second;
    found.left_out.push_back(std::move(gap));
  }
  KeepLongest(found.kernels, kMaxKept);
  KeepLongest(found.left_out, kMaxKept);
  return found;
}

std::optional<Roofline> RooflineOf(const RankTrace& trace) {
  if (trace.device == DeviceKind::kGpu || trace.kernels.Empty()) return std::nullopt;
  // Which operator launched a kernel matters to marks and ranges alone.
  const bool marked = std::ranges::any_of(trace.mstx.domain, [&](StringId domain) {
    return IsOneOf(trace.strings.View(domain), {"mfu_flops", "flash_attn_args"});
  });
  const AllOpWork work = marked ? FindOpWork(trace) : AllOpWork();
  return RooflineOf(trace, FindKernelMfu(trace, ThreadGroups(trace), work, ChipOf(trace, {})));
}

std::optional<PageChart> RooflineChart(const std::vector<const Roofline*>& ranks) {
  return RanksTogether(ranks).Chart();
}

}  // namespace mpa
