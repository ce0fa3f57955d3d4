// SPDX-License-Identifier: Apache-2.0
#include "attention_marks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/measure/backward_pairs.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/module_nest.h"
#include "mpa/measure/mstx_places.h"
#include "mpa/mfu/flops.h"

namespace mpa {
namespace {

// An operator that launches attention kernels.
struct AttentionOp {
  std::int32_t group = ThreadGroups::kAnyThread;
  TimeNs start = 0;
  std::size_t number = 0;  // among AllOpWork::ops

  bool operator<(const AttentionOp& other) const {
    return std::tie(group, start, number) < std::tie(other.group, other.start, other.number);
  }
};

bool LaunchesAttention(const RankTrace& trace, const OpWork& op, bool gradient) {
  return std::any_of(op.kernels.begin(), op.kernels.end(), [&](const DeviceWork& work) {
    if (!work.IsComputeKernel()) return false;
    const auto row = static_cast<std::size_t>(work.kernel);
    const std::string_view type = trace.strings.View(trace.kernels.op_type[row]);
    return ClassOfType(type) == KernelClass::kAttention &&
           (FlopsFamilyOf(type) == FlopsFamily::kAttentionGrad) == gradient;
  });
}

class Marks {
 public:
  Marks(const RankTrace& trace, const ThreadGroups& groups, const AllOpWork& work)
      : trace_(trace), groups_(groups), work_(work) {
    marks_.of_op.assign(work.ops.size(), -1);
  }

  AttentionMarks Find() && {
    ReadMarks();
    if (!marks_.args.empty()) PassToGradients();
    return std::move(marks_);
  }

 private:
  void ReadMarks() {
    std::vector<std::size_t> rows = trace_.mstx.RowsByStart();
    std::erase_if(rows, [&](std::size_t row) {
      return trace_.strings.View(trace_.mstx.domain[row]) != "flash_attn_args";
    });
    if (rows.empty()) return;  // most captures: nobody has to look for attention
    std::vector<AttentionOp> of_threads, of_any;
    for (std::size_t i = 0; i < work_.ops.size(); ++i) {
      if (!LaunchesAttention(trace_, work_.ops[i], /*gradient=*/false)) continue;
      const std::uint32_t op = work_.ops[i].op;
      const TimeNs start = trace_.host_ops.start[op];
      of_threads.push_back({groups_.Of(trace_.host_ops.track[op]), start, i});
      of_any.push_back({ThreadGroups::kAnyThread, start, i});
    }
    std::sort(of_threads.begin(), of_threads.end());
    std::sort(of_any.begin(), of_any.end());
    const MstxPlaces places(trace_);
    for (const std::size_t row : rows) {
      auto args = ParseAttentionArgs(trace_.strings.View(trace_.mstx.message[row]));
      const MstxPlace place = places.Of(row);
      const std::int32_t group = groups_.OfMark(place.track);
      const auto& ops = group == ThreadGroups::kAnyThread ? of_any : of_threads;
      const auto next = std::lower_bound(ops.begin(), ops.end(), AttentionOp{group, place.start});
      if (!args || next == ops.end() || next->group != group) continue;
      marks_.of_op[next->number] = static_cast<std::int64_t>(marks_.args.size());
      marks_.args.push_back(std::move(*args));
    }
  }

  NestSpan SpanOf(std::size_t op) const {
    const HostOps& ops = trace_.host_ops;
    return {ops.start[op], ops.start[op] + ops.dur[op], ops.track[op]};
  }

  // Marks are set in the forward pass only.
  void PassToGradients() {
    std::vector<NestSpan> forward, backward, with_args, gradients;
    for (const BackwardPair& pair : FindBackwardPairs(trace_)) {
      forward.push_back(SpanOf(pair.forward));
      backward.push_back(SpanOf(pair.backward));
    }
    std::vector<std::int64_t> args;
    std::vector<std::size_t> gradient_numbers;
    for (std::size_t i = 0; i < work_.ops.size(); ++i) {
      if (marks_.of_op[i] >= 0) {
        with_args.push_back(SpanOf(work_.ops[i].op));
        args.push_back(marks_.of_op[i]);
      } else if (LaunchesAttention(trace_, work_.ops[i], /*gradient=*/true)) {
        gradients.push_back(SpanOf(work_.ops[i].op));
        gradient_numbers.push_back(i);
      }
    }
    std::vector<std::int64_t> args_of_pair(forward.size(), -1);
    const ModuleNest in_forward = Nest(forward, with_args);
    for (std::size_t i = 0; i < with_args.size(); ++i) {
      const std::int64_t pair = in_forward.places[i].module;
      if (pair != NestPlace::kNone) args_of_pair[static_cast<std::size_t>(pair)] = args[i];
    }
    const ModuleNest in_backward = Nest(backward, gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const std::int64_t pair = in_backward.places[i].module;
      if (pair != NestPlace::kNone) {
        marks_.of_op[gradient_numbers[i]] = args_of_pair[static_cast<std::size_t>(pair)];
      }
    }
  }

  const RankTrace& trace_;
  const ThreadGroups& groups_;
  const AllOpWork& work_;
  AttentionMarks marks_;
};

}  // namespace

AttentionMarks FindAttentionMarks(const RankTrace& trace, const ThreadGroups& groups,
                                  const AllOpWork& work) {
  return Marks(trace, groups, work).Find();
}

}  // namespace mpa
