// SPDX-License-Identifier: Apache-2.0
#include "scheduler_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"

namespace mpa::readers {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{8} << 20;
constexpr std::int64_t kMostThreads = std::numeric_limits<std::int32_t>::max();

// Pieces that end with lines.
std::vector<std::string_view> PiecesOf(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > kPieceBytes) {
      const std::size_t line = text.find('\n', kPieceBytes);
      if (line != std::string_view::npos) end = line + 1;
    }
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return pieces;
}

struct Piece {
  std::vector<SchedulerEvent> events;  // of kLost, `target` is the number of lost ones
  StringPool names;
  std::map<std::int32_t, std::int32_t> process_of;
  std::int64_t broken = 0;
  std::size_t lines = 0, first_broken = 0;
  bool last_is_broken = false;
};

void Keep(const SchedulerLine& line, Piece& piece) {
  const auto number = [](std::int64_t id) { return static_cast<std::int32_t>(id); };
  SchedulerEvent event;
  event.time = line.time;
  event.kind = line.kind;
  event.core = static_cast<std::int16_t>(line.core);
  event.current = number(line.current.id);
  event.other = number(line.other.id);
  event.target = line.target;
  event.state = line.state;
  switch (line.kind) {
    case SchedulerKind::kSwitch:
    case SchedulerKind::kWakeup:
    case SchedulerKind::kMigrate:
      event.current_name = piece.names.Intern(line.current.name);
      event.other_name = piece.names.Intern(line.other.name);
      break;
    case SchedulerKind::kInterruptBegin:
    case SchedulerKind::kSoftBegin:
      event.other_name = piece.names.Intern(line.interrupt);
      event.target = line.number;
      break;
    case SchedulerKind::kInterruptEnd:
    case SchedulerKind::kSoftEnd:
      event.target = line.number;
      break;
    case SchedulerKind::kLost:
      event.target = static_cast<std::int32_t>(std::min(line.lost, kMostThreads));
      break;
  }
  piece.events.push_back(event);
  if (line.current.process > 0 && line.current.process <= kMostThreads)
    piece.process_of[event.current] = number(line.current.process);
}

void ReadPiece(std::string_view text, Piece& piece) {
  SchedulerLine line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ++piece.lines;
    LineOutcome outcome = ReadSchedulerLine(text.substr(0, end), line);
    if (outcome == LineOutcome::kEvent &&
        (line.current.id > kMostThreads || line.other.id > kMostThreads))
      outcome = LineOutcome::kBroken;
    if (outcome == LineOutcome::kEvent) Keep(line, piece);
    if (outcome == LineOutcome::kBroken && piece.broken++ == 0) piece.first_broken = piece.lines;
    piece.last_is_broken = outcome == LineOutcome::kBroken && end == text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Moves the events of a piece behind those before it.
void Join(Piece&& piece, SchedulerEvents& all) {
  std::vector<StringId> names(piece.names.Size());
  for (std::uint32_t id = 0; id < names.size(); ++id)
    names[id] = all.names.Intern(piece.names.View(StringId{id}));
  for (SchedulerEvent& event : piece.events) {
    event.current_name = names[Index(event.current_name)];
    event.other_name = names[Index(event.other_name)];
  }
  all.events.insert(all.events.end(), piece.events.begin(), piece.events.end());
  all.process_of.merge(piece.process_of);
}

// The marks of lost events stand before the next event of their core. Returns how many were lost.
std::int64_t TakeLost(SchedulerEvents& all) {
  std::map<std::int32_t, TimeNs> last;
  std::map<std::int32_t, std::size_t> open;  // by core, among the lost
  std::int64_t count = 0;
  const auto first = std::ranges::find_if(
      all.events, [](const SchedulerEvent& event) { return event.kind != SchedulerKind::kLost; });
  const TimeNs begin = first == all.events.end() ? 0 : first->time;
  for (const SchedulerEvent& event : all.events) {
    if (event.kind == SchedulerKind::kLost) {
      count += event.target;
      const auto before = last.find(event.core);
      if (open.try_emplace(event.core, all.lost.size()).second)
        all.lost.push_back({event.core, before == last.end() ? begin : before->second, begin});
      continue;
    }
    last[event.core] = event.time;
    if (const auto found = open.find(event.core); found != open.end()) {
      all.lost[found->second].end = event.time;
      open.erase(found);
    }
  }
  std::erase_if(all.events,
                [](const SchedulerEvent& event) { return event.kind == SchedulerKind::kLost; });
  for (const auto& [core, row] : open)
    all.lost[row].end = all.events.empty() ? begin : all.events.back().time;
  return count;
}

// "entries-in-buffer/entries-written: 5/9   #P:2": the buffer was full, and the oldest events of
// each core gave way.
class Header {
 public:
  explicit Header(SchedulerEvents& all) : all_(all) {}

  void Read(std::string_view text) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // hundreds of cores have a line each
    text = text.substr(0, kMostBytes);
    while (!text.empty() && (text[0] == '#' || text[0] == '\n' || text.starts_with("cpus="))) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ReadLine(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  std::int64_t overwritten() const { return overwritten_; }

 private:
  static std::optional<std::int64_t> Behind(std::string_view line, std::string_view key) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    line.remove_prefix(at + key.size());
    line = Trim(line);
    return io::ParseInt(line.substr(0, line.find_first_not_of("0123456789")));
  }

  void ReadLine(std::string_view line) {
    for (const std::string_view key : {"#P:", "cpus=", "# nrcpus online :"}) {
      const auto cores = Behind(line, key);
      if (cores && *cores > 0 && *cores <= kMostCores) all_.cores = *cores;
    }
    constexpr std::string_view kEntries = "entries-in-buffer/entries-written:";
    const auto kept = Behind(line, kEntries);
    const auto written =
        kept ? Behind(line.substr(line.find(kEntries) + kEntries.size()), "/") : std::nullopt;
    if (written && *written > *kept) overwritten_ += *written - *kept;
    if (line.starts_with("# reference time:")) ReadReference(line);
    if (line.starts_with("# node")) ReadNode(line);
  }

  // "# reference time: 2026-11-29 23:24:52.5 = 1795994692.5 (TOD) = 15714.25 (monotonic_raw)"
  void ReadReference(std::string_view line) {
    const std::size_t first = line.find(" = "), tod = line.find(" (TOD) = ");
    if (first == std::string_view::npos || tod == std::string_view::npos || tod < first) return;
    constexpr std::size_t kEquals = 3, kTod = 9;
    constexpr int kNanoseconds = 9;
    std::string_view clock = line.substr(tod + kTod);
    clock = clock.substr(0, clock.find(' '));
    const auto epoch =
        io::ScaledDecimal(line.substr(first + kEquals, tod - first - kEquals), kNanoseconds);
    const auto own = io::ScaledDecimal(clock, kNanoseconds);
    if (epoch && own && IsTime(*epoch) && IsTime(*own)) all_.to_epoch = *epoch - *own;
  }

  // "# node0 cpu list : 0-47,96-143"
  void ReadNode(std::string_view line) {
    const std::size_t colon = line.find(" cpu list :");
    const auto node = Behind(line, "# node");
    if (colon == std::string_view::npos || !node || *node < 0 || *node >= kMostCores) return;
    std::string_view list = line.substr(line.find(':') + 1);
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      const std::string_view range = Trim(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
      const std::size_t dash = std::min(range.find('-'), range.size());
      const auto from = io::ParseInt(range.substr(0, dash));
      const auto to = dash < range.size() ? io::ParseInt(range.substr(dash + 1)) : from;
      if (!from || !to || *from < 0 || *to < *from || *to >= kMostCores) return;
      listed_ += *to - *from + 1;
      if (listed_ > kMostCores) return;  // each core is of one node
      for (std::int64_t core = *from; core <= *to; ++core)
        all_.node_of[static_cast<std::int32_t>(core)] = static_cast<std::int32_t>(*node);
    }
  }

  SchedulerEvents& all_;
  std::int64_t overwritten_ = 0, listed_ = 0;
};

// Each core has a buffer of its own: what it did before its first event is not known.
void LoseBegin(SchedulerEvents& all) {
  std::map<std::int32_t, TimeNs> first;
  for (const SchedulerEvent& event : all.events) first.try_emplace(event.core, event.time);
  for (const auto& [core, time] : first) {
    if (time > all.Begin()) all.lost.push_back({core, all.Begin(), time});
  }
}

}  // namespace

SchedulerEvents ReadSchedulerEvents(std::string_view text, std::string_view name, Issues& issues) {
  SchedulerEvents all;
  const std::vector<std::string_view> texts = PiecesOf(text);
  std::vector<Piece> pieces(texts.size());
  ParallelFor(texts.size(), [&](std::size_t i) { ReadPiece(texts[i], pieces[i]); });
  std::size_t lines = 0;
  for (Piece& piece : pieces) {
    if (piece.last_is_broken) {
      issues.Count(Promise::kFileIsWhole, "the scheduler's trace breaks off; copy it again",
                   fmt::format("{}:{}", name, lines + piece.lines));
      piece.broken -= 1;
    }
    for (std::int64_t i = 0; i < piece.broken; ++i) {
      issues.Count("event of the scheduler left out, its line makes no sense",
                   fmt::format("{}:{}", name, lines + piece.first_broken));
    }
    lines += piece.lines;
    Join(std::move(piece), all);
    piece = {};
  }
  Header header(all);
  header.Read(text);
  const std::int64_t lost = TakeLost(all);
  if (!std::ranges::is_sorted(all.events, {}, &SchedulerEvent::time))
    StableSort(all.events, {}, &SchedulerEvent::time);
  if (lost > 0) {
    issues.Count(Promise::kFileIsWhole,
                 Say("{} events of the scheduler were lost while they were recorded: what the"
                     " threads did then is unknown; record with a larger buffer",
                     lost),
                 name);
  }
  if (header.overwritten() > 0) {
    LoseBegin(all);
    issues.Count(Promise::kFileIsWhole,
                 Say("the buffer of the scheduler's trace was full and {} of its events gave way:"
                     " what the threads did then is unknown; record with a larger buffer, or"
                     " shorter",
                     header.overwritten()),
                 name);
  }
  return all;
}

}  // namespace mpa::readers
