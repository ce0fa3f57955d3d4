// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/runs.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/measure/collectives.h"

namespace mpa {
namespace {

// Numbers texts in the order in which they are first seen.
class TextNumbers {
 public:
  explicit TextNumbers(std::vector<std::string>& texts) : texts_(texts) {}

  std::uint32_t Of(std::string_view text) {
    const auto next = static_cast<std::uint32_t>(texts_.size());
    const auto [found, is_new] = numbers_.try_emplace(std::string(text), next);
    if (is_new) texts_.emplace_back(text);
    return found->second;
  }

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// A run of an operator, in numbers that all ranks share.
struct Run {
  std::uint32_t group = 0, name = 0;
  std::uint32_t occurrence = 0, rank = 0;
  const RankRuns::Row* row = nullptr;

  auto Name() const { return std::tuple(group, name); }
  auto Key() const { return std::tie(group, name, occurrence, rank); }
};

std::vector<Run> RunsOf(const std::vector<const RankRuns*>& parts,
                        std::vector<std::string>& texts) {
  TextNumbers shared(texts);
  std::vector<Run> runs;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    std::vector<std::uint32_t> number_of;
    number_of.reserve(parts[rank]->texts.size());
    for (const std::string& text : parts[rank]->texts) number_of.push_back(shared.Of(text));
    std::map<std::tuple<std::uint32_t, std::uint32_t>, std::uint32_t> seen;
    for (const RankRuns::Row& row : parts[rank]->rows) {
      if (std::max({row.group, row.name, row.type, row.data_type}) >= number_of.size()) {
        Fail(ErrorKind::kCorrupt, "the part of a rank refers to a text that it does not contain");
      }
      Run run{.group = number_of[row.group],
              .name = number_of[row.name],
              .rank = static_cast<std::uint32_t>(rank),
              .row = &row};
      run.occurrence = seen[run.Name()]++;
      runs.push_back(run);
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.Key() < b.Key(); });
  return runs;
}

using RunAt = std::vector<Run>::const_iterator;

// Every rank that has the name ran it as often as the others. The runs are those of one name, in
// order of occurrence.
bool IsEven(RunAt first, RunAt last) {
  const std::uint32_t most = (last - 1)->occurrence + 1;
  const auto ranks = std::count_if(first, last, [](const Run& run) { return run.occurrence == 0; });
  return last - first == ranks * static_cast<std::ptrdiff_t>(most);
}

// NCCL exchanges data of all ranks by sends and receives at once.
bool IsExchange(const RankTrace& trace, std::size_t operation) {
  return trace.device == DeviceKind::kGpu && CollectiveKindOf(trace, operation) == kExchangeKind;
}

// A kernel is named by its function, without the parameters.
std::string_view NameOf(const RankTrace& trace, std::size_t operation) {
  const std::string_view name = trace.strings.View(trace.communications.name[operation]);
  return trace.device == DeviceKind::kGpu ? name.substr(0, name.find('(')) : name;
}

RankRuns RunsOfTrace(const RankTrace& trace, bool only_collectives) {
  const Communications& ops = trace.communications;
  const bool is_gpu = trace.device == DeviceKind::kGpu;
  RankRuns part;
  TextNumbers numbers(part.texts);
  for (const std::size_t i : ops.RowsByStart()) {
    const bool p2p = IsPointToPoint(trace, i) && !IsExchange(trace, i);
    if (only_collectives && (p2p || (ops.group[i] < 0 && !is_gpu))) continue;
    std::string_view group_name;
    std::int32_t group_ranks = 0;
    if (ops.group[i] >= 0) {
      const auto group = static_cast<std::size_t>(ops.group[i]);
      group_name = BareGroupName(trace.strings.View(trace.comm_groups.name[group]));
      group_ranks = trace.comm_groups.ranks[group];
    }
    part.rows.push_back({.group = numbers.Of(group_name),
                         .name = numbers.Of(NameOf(trace, i)),
                         .type = numbers.Of(OperatorTypeOf(trace, i)),
                         .data_type = numbers.Of(trace.strings.View(ops.data_type[i])),
                         .start = ops.start[i],
                         .dur = ops.dur[i],
                         .count = ops.count[i],
                         .operation = static_cast<std::int32_t>(i),
                         .step = -1,
                         .group_ranks = group_ranks,
                         .p2p = p2p});
  }
  return part;
}

}  // namespace

RankRuns CommunicationRuns(const RankTrace& trace) { return RunsOfTrace(trace, false); }

RankRuns CollectiveRuns(const RankTrace& trace) { return RunsOfTrace(trace, true); }

JointRuns JoinRuns(const std::vector<const RankRuns*>& parts) {
  std::vector<std::string> texts;
  const std::vector<Run> runs = RunsOf(parts, texts);
  JointRuns joint;
  for (auto first = runs.begin(); first != runs.end();) {
    const auto last = std::find_if(
        first, runs.end(), [name = first->Name()](const Run& run) { return run.Name() != name; });
    if (IsEven(first, last)) {
      for (auto run = first; run != last; ++run) {
        if (run == first || run->occurrence != (run - 1)->occurrence) {
          joint.all.push_back({texts[run->group], texts[run->name], {}});
        }
        joint.all.back().members.push_back({run->rank, run->row});
      }
    } else {
      ++joint.uneven;
    }
    first = last;
  }
  return joint;
}

}  // namespace mpa
