// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of flash_attn_args marks.
#include "attention_marks.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "mpa/io/json_document.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/module_ranges.h"
#include "mpa/mfu/flops.h"

namespace mpa {
namespace {

using nlohmann::json;

// The first of `names` that the object has with a value; null counts as none.
const json* Find(const json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

std::optional<std::int64_t> AsInt(const json* value) {
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

// Empty when an element is not a whole number: half a list is worse than none.
std::vector<std::int64_t> AsInts(const json* value) {
  std::vector<std::int64_t> numbers;
  if (value == nullptr || !value->is_array()) return numbers;
  for (const json& element : *value) {
    const std::optional<std::int64_t> number = AsInt(&element);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::optional<AttentionArgs> ParseAttentionArgs(std::string_view text) {
  const json object = io::TryParseJson(text);
  if (!object.is_object()) return std::nullopt;
  AttentionArgs args;
  args.heads = AsInt(Find(object, {"head_num", "num_heads"}));
  if (object.contains("input_layout")) {
    const json* layout = Find(object, {"input_layout"});
    if (layout == nullptr || !layout->is_string()) return std::nullopt;
    args.layout = layout->get<std::string>();
    args.sparse_mode = AsInt(Find(object, {"sparse_mode"}));
    args.query_ends = AsInts(Find(object, {"actual_seq_qlen", "actual_seq_lengths"}));
    args.kv_ends = AsInts(Find(object, {"actual_seq_kvlen", "actual_seq_lengths_kv"}));
    return args;
  }
  const json* causal = Find(object, {"is_causal"});
  if (causal == nullptr || !causal->is_boolean()) return std::nullopt;
  args.layout = "BNSD";
  args.sparse_mode = causal->get<bool>() ? 2 : 0;
  return args;
}

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
