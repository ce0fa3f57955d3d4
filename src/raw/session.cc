// SPDX-License-Identifier: Apache-2.0
// Reads a raw capture: the two halves in parallel, then the joins between them.
#include "mpa/raw/session.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "clock.h"
#include "control_files.h"
#include "mpa/base/parallel.h"
#include "mpa/capture/record_kinds.h"
#include "stages.h"

namespace mpa::raw {
namespace {

// Translates texts of one pool to texts of another.
class TextMapping {
 public:
  TextMapping(const StringPool& from, StringPool& to) {
    ids_.reserve(from.Size());
    for (std::uint32_t i = 0; i < from.Size(); ++i) {
      ids_.push_back(to.Intern(from.View(static_cast<StringId>(i))));
    }
  }

  template <typename Table>
  void Apply(Table& table) const {
    std::apply([&](auto&... column) { (ApplyToColumn(column), ...); }, Table::Tie(table));
  }

 private:
  void ApplyToColumn(std::vector<StringId>& column) const {
    for (StringId& id : column) id = ids_[Index(id)];
  }
  template <typename T>
  void ApplyToColumn(std::vector<T>&) const {}

  std::vector<StringId> ids_;
};

auto FrameworkTables(Session& session) {
  return std::tie(session.ops, session.queue, session.python, session.collections,
                  session.allocations, session.steps, session.backward);
}

// Moves the framework tables of `part` into the session, with its texts.
void TakeFramework(Session part, Session& session) {
  session.issues.Merge(part.issues);
  FrameworkTables(session) = std::apply(
      [](auto&... table) { return std::make_tuple(std::move(table)...); }, FrameworkTables(part));
  const TextMapping mapping(part.strings, session.strings);
  std::apply([&](auto&... table) { (mapping.Apply(table), ...); }, FrameworkTables(session));
}

// Decided by the name of the directory, otherwise by the framework's files.
bool IsOfMindSpore(const SessionInfo& info) {
  if (info.path.filename().string().ends_with("_ascend_ms")) return true;
  if (info.framework.empty()) return false;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(info.framework, error)) {
    const RecordKind* kind =
        KindOfRecords(RecordSide::kFramework, entry.path().filename().string());
    if (kind != nullptr && kind->name.starts_with("mindspore")) return true;
  }
  return false;
}

constexpr Parts kFrameworkParts = Parts::kFramework | Parts::kDetails | Parts::kAllocations;

}  // namespace

Session ReadSession(const std::filesystem::path& path, Parts wanted) {
  Session session;
  const ControlFiles files = ReadControlFiles(path, session.info, session.issues);
  session.info.mindspore = IsOfMindSpore(session.info);
  Session part;
  const std::array<std::function<void()>, 2> halves = {
      [&] {
        if (!session.info.prof.empty()) ReadCann(files, wanted, session);
      },
      [&] {
        if (session.info.framework.empty() || !Overlap(wanted, kFrameworkParts)) return;
        ReadFramework(session.info.framework,
                      FittingClock(files.framework_clock, session.info, part.issues), wanted, part);
      }};
  ParallelFor(halves.size(), [&](std::size_t i) { halves[i](); });
  TakeFramework(std::move(part), session);
  if (Overlap(wanted, Parts::kCann)) FindActivities(session);
  if (Overlap(wanted, Parts::kFramework)) LinkDeviceWork(session);
  return session;
}

bool SchedulesCollectives(const Session& session, std::size_t kernel) {
  if (session.schedule_streams.empty()) return false;
  const auto task = static_cast<std::size_t>(session.kernels.task[kernel]);
  return std::binary_search(session.schedule_streams.begin(), session.schedule_streams.end(),
                            session.tasks.stream[task]);
}

Issues FindDamage(const std::filesystem::path& path) {
  SessionInfo info;
  Issues issues;
  const ControlFiles files = ReadControlFiles(path, info, issues);
  if (!info.framework.empty()) FittingClock(files.framework_clock, info, issues);
  return issues;
}

StepsOnDevice::StepsOnDevice(const Steps& steps) : steps_(steps) {
  TimeNs latest = -1;
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    if (steps.device_start[i] < 0) continue;
    latest = std::max(latest, steps.device_end[i]);
    rows_.push_back(i);
    latest_ends_.push_back(latest);
  }
}

std::int32_t StepsOnDevice::At(TimeNs time) const {
  const auto end = std::lower_bound(latest_ends_.begin(), latest_ends_.end(), time);
  if (end == latest_ends_.end()) return -1;
  const std::size_t row = rows_[static_cast<std::size_t>(end - latest_ends_.begin())];
  return steps_.device_start[row] <= time ? static_cast<std::int32_t>(row) : -1;
}

}  // namespace mpa::raw
