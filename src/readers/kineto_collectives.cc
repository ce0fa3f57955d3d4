// SPDX-License-Identifier: Apache-2.0
// Groups, kinds and sizes of the collectives of torch.profiler.
#include "kineto_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"

namespace mpa::readers {
namespace {

// "reducescatter" for _reduce_scatter_base: the words that the rest of the program knows.
std::string KindOf(std::string_view collective) {
  std::string kind = ToLower(collective);
  if (kind.starts_with('_')) kind.erase(0, 1);
  for (const std::string_view end : {"_coalesced", "_base", "_into_tensor", "_tensor"}) {
    if (kind.ends_with(end)) kind.erase(kind.size() - end.size());
  }
  std::erase(kind, '_');
  return kind;
}

// The name that HCCL has for a type of PyTorch; others stay as they are.
std::string_view DataTypeOf(std::string_view type) {
  if (type.starts_with("Float8")) return "FP8";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kNames = {
      {{"Float", "FP32"},
       {"Half", "FP16"},
       {"BFloat16", "BFP16"},
       {"Double", "FP64"},
       {"Long", "INT64"},
       {"Int", "INT32"},
       {"Short", "INT16"},
       {"Char", "INT8"},
       {"Byte", "UINT8"},
       {"Bool", "BOOL"}}};
  for (const auto& [of_torch, of_hccl] : kNames) {
    if (type == of_torch) return of_hccl;
  }
  return type;
}

// "[0, 1]"; nothing of a list that was cut ("[0, 1, ..., 63]").
std::vector<RankId> RanksIn(std::string_view text) {
  std::vector<RankId> ranks;
  if (!text.starts_with('[') || !text.ends_with(']')) return ranks;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto rank = io::ParseInt(Trim(text.substr(0, comma)));
    if (!rank) return {};
    ranks.push_back(*rank);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return ranks;
}

// Groups of different ranks may have one name, which numbers the groups of a rank: "1 [0, 2]",
// "1 [0, 2, ..., 62]". `ranks` is a list as text.
std::string LabelOf(std::string_view name, std::string_view ranks) {
  constexpr std::ptrdiff_t kFew = 8;
  if (ranks.empty()) return std::string(name);
  if (std::ranges::count(ranks, ',') < kFew) return fmt::format("{} {}", name, ranks);
  const std::size_t second = ranks.find(',', ranks.find(',') + 1);
  return fmt::format("{} {}, ...,{}", name, ranks.substr(0, second),
                     ranks.substr(ranks.rfind(',') + 1));
}

}  // namespace

Communications::Row CollectiveArgs::Read(const TraceEvent& event) {
  Communications::Row fields;
  std::string_view name, description, ranks;
  std::int64_t size = 0, in = -1, out = -1;
  std::string kind;
  for (const EventArg& arg : event.args) {
    if (arg.key == "Process Group Name" || arg.key == "commName") name = arg.value;
    if (arg.key == "Process Group Description") description = arg.value;
    if (arg.key == "Process Group Ranks") ranks = arg.value;
    if (arg.key == "Group size") size = io::ParseInt(arg.value).value_or(0);
    if (arg.key == "Collective name") kind = KindOf(arg.value);
    if (arg.key == "In msg nelems") in = io::ParseInt(arg.value).value_or(-1);
    if (arg.key == "Out msg nelems") out = io::ParseInt(arg.value).value_or(-1);
    if (arg.key == "dtype") fields.data_type = trace_.strings.Intern(DataTypeOf(arg.value));
  }
  fields.op_type = trace_.strings.Intern(kind);
  fields.count = kind == "reducescatter" ? out : in;
  if (name.empty()) return fields;
  std::vector<RankId> listed = RanksIn(ranks);
  if (size <= 0) size = static_cast<std::int64_t>(listed.size());
  const std::string label = LabelOf(name, ranks);
  fields.group = GroupOf({.name = trace_.strings.Intern(label),
                          .process_group = trace_.strings.Intern(description),
                          .ranks = static_cast<std::int32_t>(std::min<std::int64_t>(
                              size, std::numeric_limits<std::int32_t>::max()))},
                         {label, std::string(description), std::move(listed)});
  return fields;
}

std::int32_t CollectiveArgs::GroupOf(const CommGroups::Row& group, const JobGroup& of_job) {
  const auto next = static_cast<std::int32_t>(trace_.comm_groups.Size());
  const auto [found, is_new] = rows_.try_emplace(group.name, next);
  if (is_new) {
    trace_.comm_groups.Append(group);
    if (!of_job.ranks.empty()) trace_.job.groups.push_back(of_job);
  }
  return found->second;
}

Communications::Row CollectiveArgs::Adopt(Communications::Row row, const RankTrace& from,
                                          StringMapping& texts) {
  MapTexts(row, texts);
  if (row.group < 0) return row;
  CommGroups::Row group = from.comm_groups.At(static_cast<std::size_t>(row.group));
  const std::string_view label = from.strings.View(group.name);
  const auto of_job = std::ranges::find(from.job.groups, label, &JobGroup::id);
  MapTexts(group, texts);
  row.group = GroupOf(group, of_job == from.job.groups.end() ? JobGroup() : *of_job);
  return row;
}

void TakeFromOperators(std::vector<CollectiveOperator> operators, TrackNumbers& tracks,
                       RankTrace& trace) {
  std::map<std::int32_t, std::vector<const CollectiveOperator*>> threads;
  StableSort(operators, [](const auto& a, const auto& b) { return a.place.start < b.place.start; });
  for (const CollectiveOperator& op : operators)
    threads[tracks.Of(op.place.pid, op.place.tid)].push_back(&op);
  Communications& collectives = trace.communications;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    if (collectives.group[i] >= 0 || collectives.link[i] < 0) continue;
    const auto launch = static_cast<std::size_t>(collectives.link[i]);  // links are rows
    const TimeNs time = trace.launches.host_time[launch];
    const auto thread = threads.find(trace.launches.host_track[launch]);
    if (thread == threads.end()) continue;
    const auto later =
        std::upper_bound(thread->second.begin(), thread->second.end(), time,
                         [](TimeNs at, const auto* op) { return at < op->place.start; });
    if (later == thread->second.begin() || (*std::prev(later))->end < time) continue;
    const Communications::Row& asked = (*std::prev(later))->asked;
    collectives.group[i] = asked.group;
    if (asked.op_type != StringId::kEmpty) collectives.op_type[i] = asked.op_type;
    collectives.data_type[i] = asked.data_type;
    collectives.count[i] = asked.count;
  }
}

}  // namespace mpa::readers
