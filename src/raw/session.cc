// SPDX-License-Identifier: Apache-2.0
// Reads a raw capture: the two halves at the same time, then what joins them.
#include "mpa/raw/session.h"

#include <array>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "cann.h"
#include "control_files.h"
#include "mpa/base/parallel.h"
#include "stages.h"

namespace mpa::raw {
namespace {

// Texts of one pool as texts of another.
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

constexpr Parts kFrameworkParts = Parts::kFramework | Parts::kDetails | Parts::kAllocations;

}  // namespace

Session ReadSession(const std::filesystem::path& path, Parts wanted) {
  Session session;
  const ControlFiles files = ReadControlFiles(path, session.info, session.issues);
  Session part;
  const std::array<std::function<void()>, 2> halves = {
      [&] {
        if (!session.info.prof.empty()) ReadCann(files, wanted, session);
      },
      [&] {
        if (session.info.framework.empty() || !Overlap(wanted, kFrameworkParts)) return;
        ReadFramework(session.info.framework, files.framework_clock, wanted, part);
      }};
  ParallelFor(halves.size(), [&](std::size_t i) { halves[i](); });
  TakeFramework(std::move(part), session);
  if (Overlap(wanted, Parts::kCann)) FindActivities(session);
  if (Overlap(wanted, Parts::kFramework)) LinkDeviceWork(session);
  return session;
}

std::int32_t StepOfDeviceTime(const Session& session, TimeNs start) {
  const Steps& steps = session.steps;
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    if (steps.device_start[i] >= 0 && start >= steps.device_start[i] &&
        start <= steps.device_end[i]) {
      return static_cast<std::int32_t>(i);
    }
  }
  return -1;
}

}  // namespace mpa::raw
