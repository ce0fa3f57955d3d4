// SPDX-License-Identifier: Apache-2.0
// Reads a raw capture: the two halves in parallel, then the joins between them.
#include "mpa/raw/session.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "clock.h"
#include "control_files.h"
#include "mpa/base/fields.h"
#include "mpa/base/parallel.h"
#include "mpa/capture/record_kinds.h"
#include "stages.h"

namespace mpa::raw {
namespace {

// Appends the tables of `from`, whose texts are those of another pool.
void AppendTables(Session& from, Session& session) {
  std::vector<StringId> texts;
  for (std::uint32_t i = 0; i < from.strings.Size(); ++i) {
    texts.push_back(session.strings.Intern(from.strings.View(StringId{i})));
  }
  const auto map = [&](auto& column) {
    if constexpr (std::is_same_v<decltype(column), std::vector<StringId>&>) {
      for (StringId& text : column) text = texts[Index(text)];
    } else if constexpr (std::is_same_v<decltype(column), RareColumn<StringId>&>) {
      column.Map([&](StringId text) { return texts[Index(text)]; });
    }
  };
  const auto append = [&](auto& to, auto& more) {
    if constexpr (requires { more.Columns(); }) {
      std::apply([&](auto&... column) { (map(column), ...); }, more.Columns());
      if (to.Empty()) {
        to = std::move(more);
      } else {
        to.AppendAll(more);
      }
    }
  };
  const auto append_all = [&](auto to, auto more) {
    std::apply([&](auto&... a) { std::apply([&](auto&... b) { (append(a, b), ...); }, more); }, to);
  };
  append_all(FieldsOf(session), FieldsOf(from));
  append_all(FieldsOf(session.traffic), FieldsOf(from.traffic));
}

// Rows of `table` that a column refers to, once those rows stand behind the ones there are.
template <typename Table>
void Shift(std::vector<std::int32_t>& rows, const Table& table) {
  const auto first = static_cast<std::int32_t>(table.Size());
  for (std::int32_t& row : rows) {
    if (row >= 0) row += first;
  }
}

void ShiftReferences(const Session& session, Session& later) {
  Shift(later.tasks.call, session.calls);
  Shift(later.collectives.call, session.calls);
  Shift(later.kernels.task, session.tasks);
  Shift(later.parts.task, session.tasks);
  Shift(later.parts.collective, session.collectives);
  Shift(later.kernels.counters, session.counters);
  for (std::size_t i = 0; i < later.tasks.Size(); ++i) {
    const bool is_kernel = later.tasks.kind[i] == TaskKind::kKernel;
    if (later.tasks.detail[i] < 0) continue;
    later.tasks.detail[i] +=
        static_cast<std::int32_t>(is_kernel ? session.kernels.Size() : session.parts.Size());
  }
}

void AppendCounters(Session& session, Session& later) {
  Counters& all = session.counters;
  Counters& more = later.counters;
  if (all.names.empty()) {
    all = std::move(more);
  } else if (more.names == all.names) {
    all.values.insert(all.values.end(), more.values.begin(), more.values.end());
  } else if (more.Size() > 0) {
    session.issues.Count("counters of kernels left out, another PROF_* has other metrics",
                         later.info.prof.filename().string());
    std::ranges::fill(later.kernels.counters, -1);
  }
}

// True when the rows of `later` begin before those of `earlier` have.
template <typename Table>
bool StartsBefore(const Table& later, const Table& earlier) {
  return !later.Empty() && !earlier.Empty() && later.start.front() < earlier.start.back();
}

// Appends what a later collection of the same devices holds.
void AppendCollection(Session later, Session& session) {
  session.issues.Merge(later.issues);
  if (StartsBefore(later.calls, session.calls) || StartsBefore(later.tasks, session.tasks)) {
    session.issues.Count(
        "a PROF_* is left out, its records overlap those of another; give each PROF_* alone",
        later.info.prof.filename().string());
    return;
  }
  ShiftReferences(session, later);
  AppendCounters(session, later);
  AppendTables(later, session);
  auto& streams = session.schedule_streams;
  streams.insert(streams.end(), later.schedule_streams.begin(), later.schedule_streams.end());
  std::ranges::sort(streams);
}

// Each collection has times without work of its own.
void ReadCollection(const ControlFiles& files, Parts wanted, Session& session) {
  ReadCann(files, wanted, session);
  if (Intersects(wanted, Parts::kCann)) FindActivities(session);
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
  std::vector<Collection> collections = ReadCollections(path, session.issues);
  const ControlFiles& files = collections.front().files;
  session.info = collections.front().info;
  session.info.mindspore = IsOfMindSpore(session.info);
  Session part;
  const std::array<std::function<void()>, 2> halves = {
      [&] {
        if (session.info.prof.empty()) return;
        ReadCollection(files, wanted, session);
        for (std::size_t i = 1; i < collections.size(); ++i) {
          Session later;
          later.info = collections[i].info;
          ReadCollection(collections[i].files, wanted, later);
          AppendCollection(std::move(later), session);
        }
      },
      [&] {
        if (session.info.framework.empty() || !Intersects(wanted, kFrameworkParts)) return;
        ReadFramework(session.info.framework,
                      FittingClock(files.framework_clock, session.info, part.issues), wanted, part);
      }};
  ParallelFor(halves.size(), [&](std::size_t i) { halves[i](); });
  session.issues.Merge(part.issues);
  AppendTables(part, session);
  session.info.end = collections.back().info.end;
  if (Intersects(wanted, Parts::kFramework)) LinkDeviceWork(session);
  return session;
}

bool SchedulesCollectives(const Session& session, std::size_t kernel) {
  if (session.schedule_streams.empty()) return false;
  const auto task = static_cast<std::size_t>(session.kernels.task[kernel]);
  return std::ranges::binary_search(session.schedule_streams, session.tasks.stream[task]);
}

Issues FindDamage(const std::filesystem::path& path) {
  Issues issues;
  const std::vector<Collection> collections = ReadCollections(path, issues);
  const auto& [info, files] = collections.front();
  if (!info.framework.empty()) FittingClock(files.framework_clock, info, issues);
  return issues;
}

}  // namespace mpa::raw
