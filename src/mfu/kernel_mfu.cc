// SPDX-License-Identifier: Apache-2.0
#include "mpa/mfu/kernel_mfu.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "attention_marks.h"
#include "mpa/base/text.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/module_ranges.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/model/op_values.h"
#include "operator_products.h"

namespace mpa {
namespace {

// Operations and types of kernels by their texts, each worked out once.
class ByTexts {
 public:
  explicit ByTexts(const RankTrace& trace) : trace_(trace), kernels_(trace.kernels) {}

  Flops FlopsByShapes(std::size_t row, const AttentionMarks& marks, std::int64_t mark) {
    const auto [found, is_new] = flops_.try_emplace(
        {kernels_.op_type[row], kernels_.shapes[row], kernels_.input_formats[row],
         kernels_.output_shapes[row], kernels_.output_formats[row], mark});
    if (is_new) {
      const KernelTensors tensors = KernelTensors::Parse(
          View(kernels_.shapes[row]), View(kernels_.input_formats[row]),
          View(kernels_.output_shapes[row]), View(kernels_.output_formats[row]));
      found->second = FlopsOf(View(kernels_.op_type[row]), tensors,
                              mark < 0 ? nullptr : &marks.args[static_cast<std::size_t>(mark)]);
    }
    return found->second;
  }

  TypeClass TypeOf(std::size_t row) {
    const auto [found, is_new] =
        types_.try_emplace({kernels_.op_type[row], kernels_.input_types[row], kernels_.hf32[row]});
    if (is_new) {
      const std::string_view hf32 = View(kernels_.hf32[row]);
      found->second = ComputeType(
          View(kernels_.op_type[row]), ParseTensorNames(View(kernels_.input_types[row])),
          hf32 == "YES" ? Hf32::kYes : (hf32 == "NO" ? Hf32::kNo : Hf32::kNotTold));
    }
    return found->second;
  }

 private:
  std::string_view View(StringId id) const { return trace_.strings.View(id); }

  const RankTrace& trace_;
  const Kernels& kernels_;
  std::map<std::tuple<StringId, StringId, StringId, StringId, StringId, std::int64_t>, Flops>
      flops_;
  std::map<std::tuple<StringId, StringId, StringId>, TypeClass> types_;
};

bool RunsOnCubeCores(std::string_view core) {
  return IsOneOf(core, {"AI_CORE", "AIC", "MIX_AIC", "KERNEL_AICORE", "KERNEL_MIX_AIC"});
}

// Types are separated by ';', and may be empty.
bool FirstTypeIsInt8(std::string_view types) {
  types = Trim(types);
  types.remove_prefix(std::min(types.find_first_not_of(";\""), types.size()));
  return ToLower(types.substr(0, types.find_first_of(";\""))) == "int8";
}

// Divides `count` by weights, so that the parts sum up to it.
std::vector<std::int64_t> Divide(std::int64_t count, const std::vector<std::int64_t>& weights) {
  __extension__ using Wide = __int128;
  Wide total = 0;
  for (const std::int64_t weight : weights) total += weight;
  int shift = 0;  // so that products fit
  while (total >> shift > std::numeric_limits<std::int64_t>::max()) ++shift;
  total = 0;
  for (const std::int64_t weight : weights) total += weight >> shift;
  std::vector<std::int64_t> parts;
  Wide weights_before = 0, given = 0;
  for (const std::int64_t weight : weights) {
    weights_before += weight >> shift;
    // The first i parts together are exact but for rounding down once.
    const Wide until_here = total > 0 ? static_cast<Wide>(count) * weights_before / total : 0;
    parts.push_back(static_cast<std::int64_t>(until_here - given));
    given = until_here;
  }
  return parts;
}

struct FlopsRanges {
  std::vector<RecordedFlops> ranges;
  std::vector<std::int64_t> of_op;  // for each of AllOpWork::ops its range, -1: none
};

// The ranges in which operations were counted. An operator belongs to the innermost range in which
// it begins, both ends included, on its own threads.
FlopsRanges FindFlopsRanges(const RankTrace& trace, const ThreadGroups& groups,
                            const AllOpWork& work) {
  FlopsRanges found;
  std::vector<NestSpan> spans;
  const MstxPlaces places(trace);
  for (const std::size_t i : trace.mstx.RowsByStart()) {
    if (trace.strings.View(trace.mstx.domain[i]) != "mfu_flops") continue;
    auto recorded = ParseRecordedFlops(trace.strings.View(trace.mstx.message[i]));
    const MstxPlace place = places.Of(i);
    if (!recorded || place.end <= place.start) continue;
    found.ranges.push_back(std::move(*recorded));
    spans.push_back({place.start, place.end, groups.OfMark(place.track)});
  }
  std::vector<NestSpan> begins;
  for (const OpWork& op : work.ops) {
    const TimeNs begin = trace.host_ops.start[op.op];
    begins.push_back({begin, begin, groups.Of(trace.host_ops.track[op.op])});
  }
  for (const NestPlace& place : Nest(spans, begins).places) found.of_op.push_back(place.module);
  return found;
}

class Finder {
 public:
  Finder(const RankTrace& trace, const ThreadGroups& groups, const AllOpWork& work,
         const ChipPeak& chip, MfuRule rule)
      : trace_(trace),
        kernels_(trace.kernels),
        work_(work),
        chip_(chip),
        rule_(rule),
        by_texts_(trace),
        marks_(FindAttentionMarks(trace, groups, work)),
        ranges_(FindFlopsRanges(trace, groups, work)) {}

  RankMfu Find() && {
    mfu_.kernels.resize(kernels_.Size());
    mark_of_kernel_.assign(kernels_.Size(), -1);
    FindOwners();
    if (rule_ == MfuRule::kRangesOnly) {
      for (KernelMfu& kernel : mfu_.kernels) kernel.flops.gap = FlopsGap::kUnknownOperator;
      for (std::size_t range = 0; range < kernels_of_range_.size(); ++range) GiveWhole(range);
    } else {
      FindShares();
    }
    for (std::size_t row = 0; row < kernels_.Size(); ++row) Compare(row);
    mfu_.ranges = std::move(ranges_.ranges);
    return std::move(mfu_);
  }

 private:
  void FindShares() {
    for (std::size_t row = 0; row < kernels_.Size(); ++row) {
      mfu_.kernels[row].flops = by_texts_.FlopsByShapes(row, marks_, mark_of_kernel_[row]);
      if (mfu_.kernels[row].flops.Known()) mfu_.kernels[row].source = FlopsSource::kShapes;
    }
    NameUncounted();
    if (trace_.device == DeviceKind::kGpu) CountOperators();
    for (std::size_t range = 0; range < kernels_of_range_.size(); ++range) Share(range);
  }

  // Types that do matrix work and have no formula.
  void NameUncounted() {
    std::map<StringId, bool> is_matrix_work;
    for (std::size_t row = 0; row < kernels_.Size(); ++row) {
      Flops& flops = mfu_.kernels[row].flops;
      if (flops.gap != FlopsGap::kUnknownOperator) continue;
      const StringId type = kernels_.op_type[row];
      const auto [found, is_new] = is_matrix_work.try_emplace(type, false);
      if (is_new) found->second = IsMatrixWork(ClassOfType(trace_.strings.View(type)));
      if (found->second) flops.gap = FlopsGap::kNoFormula;
    }
  }

  // Of a GPU, an operator with a formula and its kernels that do matrix work.
  struct CountedOp {
    OperatorProduct product;
    std::vector<std::uint32_t> rows;
  };

  // The operations of GPUs, which record no shapes of kernels: those of the innermost operator
  // around the launch that has a formula.
  void CountOperators() {
    for (std::size_t row = 0; row < kernels_.Size(); ++row) {
      KernelMfu& kernel = mfu_.kernels[row];
      kernel.work = ClassOfName(trace_.strings.View(kernels_.name[row]));
      if (IsMatrixWork(kernel.work)) kernel.flops.gap = FlopsGap::kNoLauncher;
    }
    const Nesting nesting(OpSpans(trace_));
    std::map<std::int64_t, CountedOp> counted;
    std::map<std::int64_t, std::int64_t> counted_around;  // an operator, and the one with a formula
    for (const OpWork& work : work_.ops) {
      for (const DeviceWork& device : work.kernels) {
        if (!device.IsComputeKernel()) continue;
        const auto row = static_cast<std::uint32_t>(device.kernel);
        KernelMfu& kernel = mfu_.kernels[row];
        if (!IsMatrixWork(kernel.work)) continue;
        const auto [found, is_new] = counted_around.try_emplace(work.op, Nesting::kNone);
        if (is_new) found->second = FindCounted(work.op, nesting, counted);
        kernel.counted_op = found->second;
        kernel.flops.gap = FlopsGap::kUnknownLauncher;
        if (kernel.counted_op >= 0) counted[kernel.counted_op].rows.push_back(row);
      }
    }
    for (const auto& [op, with_formula] : counted) ShareOf(with_formula);
  }

  std::int64_t FindCounted(std::int64_t op, const Nesting& nesting,
                           std::map<std::int64_t, CountedOp>& counted) {
    const HostOps& ops = trace_.host_ops;
    for (; op != Nesting::kNone; op = nesting.Parent(static_cast<std::size_t>(op))) {
      if (counted.contains(op)) return op;
      const auto row = static_cast<std::size_t>(op);
      const auto text = [&](StringId id) { return trace_.strings.View(id); };
      const auto [known, is_new] =
          products_.try_emplace({ops.name[row], ops.shapes[row], ops.types[row]});
      if (is_new) {
        const OpTypes types = SplitOpTypes(text(ops.types[row]));
        known->second = ProductOf(
            text(ops.name[row]),
            {.shapes = text(ops.shapes[row]), .types = types.types, .values = types.values});
      }
      if (!known->second) continue;
      counted[op].product = *known->second;
      return op;
    }
    return Nesting::kNone;
  }

  void ShareOf(const CountedOp& counted) {
    std::vector<std::int64_t> weights;
    for (const std::uint32_t row : counted.rows)
      weights.push_back(std::max<TimeNs>(kernels_.dur[row], 1));
    const std::vector<std::int64_t> parts = Divide(counted.product.flops.count, weights);
    for (std::size_t i = 0; i < counted.rows.size(); ++i) {
      KernelMfu& kernel = mfu_.kernels[counted.rows[i]];
      kernel.flops = counted.product.flops;
      kernel.type = counted.product.type;
      kernel.work = counted.product.work;
      if (!kernel.flops.Known()) continue;
      kernel.flops.count = parts[i];
      kernel.source = FlopsSource::kShapes;
    }
  }

  void FindOwners() {
    kernels_of_range_.resize(ranges_.ranges.size());
    for (std::size_t i = 0; i < work_.ops.size(); ++i) {
      const std::int64_t range = ranges_.of_op[i];
      for (const DeviceWork& work : work_.ops[i].kernels) {
        if (!work.IsComputeKernel()) continue;
        const auto row = static_cast<std::uint32_t>(work.kernel);
        mfu_.kernels[row].op = work_.ops[i].op;
        mfu_.kernels[row].range = range;
        mark_of_kernel_[row] = marks_.of_op[i];
        if (range >= 0) kernels_of_range_[static_cast<std::size_t>(range)].push_back(row);
      }
    }
  }

  bool HasShapes(std::uint32_t row) const {
    const std::string_view shapes = trace_.strings.View(kernels_.shapes[row]);
    return !shapes.empty() && shapes != "N/A";
  }

  void GiveWhole(std::size_t range) {
    std::vector<std::uint32_t> rows = kernels_of_range_[range];
    std::erase_if(rows, [&](std::uint32_t row) { return !HasShapes(row); });
    if (rows.empty()) return;
    const TypeClass type = FirstTypeIsInt8(trace_.strings.View(kernels_.input_types[rows[0]]))
                               ? TypeClass::kInt8
                               : TypeClass::kFp16;
    for (const std::uint32_t row : rows) {
      mfu_.kernels[row].source = FlopsSource::kRecorded;
      mfu_.kernels[row].flops = {.count = ranges_.ranges[range].count};
      mfu_.kernels[row].type = type;
    }
  }

  // Those of the kernels that multiply matrices: by their operator, otherwise by their core; all
  // when neither tells.
  std::vector<std::uint32_t> MatrixKernels(const std::vector<std::uint32_t>& rows) const {
    std::vector<std::uint32_t> by_operator, by_core;
    for (const std::uint32_t row : rows) {
      const FlopsGap gap = mfu_.kernels[row].flops.gap;
      if (gap != FlopsGap::kUnknownOperator && gap != FlopsGap::kNoFormula)
        by_operator.push_back(row);
      if (RunsOnCubeCores(trace_.strings.View(kernels_.core[row]))) by_core.push_back(row);
    }
    if (!by_operator.empty()) return by_operator;
    return by_core.empty() ? rows : by_core;
  }

  void Share(std::size_t range) {
    const std::vector<std::uint32_t> rows = MatrixKernels(kernels_of_range_[range]);
    const bool by_shapes = std::ranges::all_of(rows, [&](std::uint32_t row) {
      return mfu_.kernels[row].flops.Known() && mfu_.kernels[row].flops.count > 0;
    });
    std::vector<std::int64_t> weights;
    weights.reserve(rows.size());
    for (const std::uint32_t row : rows) {
      weights.push_back(by_shapes ? mfu_.kernels[row].flops.count : kernels_.dur[row]);
    }
    for (const std::uint32_t row : kernels_of_range_[range]) {
      mfu_.kernels[row].source = FlopsSource::kNone;
      mfu_.kernels[row].flops = {.gap = FlopsGap::kNotMatrixWork};
    }
    const std::vector<std::int64_t> parts = Divide(ranges_.ranges[range].count, weights);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      mfu_.kernels[rows[i]].source = FlopsSource::kRecorded;
      mfu_.kernels[rows[i]].flops = {.count = parts[i]};
    }
  }

  void Compare(std::size_t row) {
    KernelMfu& kernel = mfu_.kernels[row];
    if (!kernel.flops.Known()) {
      kernel.use.gap = PeakGap::kNoFlops;
      return;
    }
    if (rule_ == MfuRule::kRangesAndShapes && kernel.counted_op < 0)
      kernel.type = by_texts_.TypeOf(row);
    kernel.peak_tflops = PeakOf(chip_, kernel.type).tflops;
    kernel.use = UtilisationOf(kernel.flops, kernels_.dur[row], chip_, kernel.type);
    if (!kernel.use.Known() || chip_.frequency_mhz <= 0) return;
    const TimeNs start = kernels_.start[row];
    const auto mhz = MeanMhz(trace_.core_clocks, start, start + kernels_.dur[row]);
    if (mhz) kernel.use_of_measured_clock = kernel.use.ratio * chip_.frequency_mhz / *mhz;
  }

  const RankTrace& trace_;
  const Kernels& kernels_;
  const AllOpWork& work_;
  const ChipPeak& chip_;
  const MfuRule rule_;
  ByTexts by_texts_;
  std::map<std::tuple<StringId, StringId, StringId>, std::optional<OperatorProduct>> products_;
  AttentionMarks marks_;
  FlopsRanges ranges_;
  std::vector<std::vector<std::uint32_t>> kernels_of_range_;
  std::vector<std::int64_t> mark_of_kernel_;
  RankMfu mfu_;
};

}  // namespace

RankMfu FindKernelMfu(const RankTrace& trace, const ThreadGroups& groups, const AllOpWork& work,
                      const ChipPeak& chip, MfuRule rule) {
  return Finder(trace, groups, work, chip, rule).Find();
}

std::optional<RecordedFlops> ParseRecordedFlops(std::string_view label) {
  RecordedFlops recorded;
  if (label.empty() || label[0] == '-') return std::nullopt;  // a sign is not a digit
  const char* const end = label.data() + label.size();
  const auto [dash, error] = std::from_chars(label.data(), end, recorded.count);
  if (error != std::errc() || dash == end || *dash != '-' || dash + 1 == end) return std::nullopt;
  if (recorded.count == 0) return std::nullopt;
  recorded.name.assign(dash + 1, end);
  return recorded;
}

}  // namespace mpa
