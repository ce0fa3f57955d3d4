// SPDX-License-Identifier: Apache-2.0
// What memory snapshots show, in a few lines: the verdict first.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/report/amount.h"
#include "mpa/report/screen_list.h"
#include "part.h"

namespace mpa::recipes::memory_timeline {
namespace {

struct ShownDevice {
  RankId rank;
  const SnapshotMemory* memory = nullptr;
};

std::string SizeText(std::int64_t bytes) { return AmountText(Quantity::kBytes, bytes); }

// "train.py:90", or what is known instead.
std::string Where(const Holder& holder) {
  constexpr std::size_t kColumns = 60;
  return ShortenName(holder.site.empty() ? NameOf(holder) : holder.site, kColumns);
}

// "train.py:90 aten::empty in aten::to": the line is what people look for, so the end is cut.
std::string SiteCell(const Holder& holder, std::size_t usual) {
  const std::string name = NameOf(holder);
  const std::size_t columns = NameColumns(usual);
  const std::string text = holder.site.empty() ? name : fmt::format("{} {}", holder.site, name);
  return PaddedBehind(CutEnd(Printable(text), columns), columns);
}

bool LiesInPieces(const OutOfMemory& failure) { return failure.free.bytes >= failure.asked; }

// Much is free, and nothing of half its size fits.
bool IsFragmented(const HeldAtEnd& held) {
  return held.free.bytes >= held.reserved / 4 && held.free.largest < held.free.bytes / 2;
}

// The call site that grows and holds most.
const Kept* Growing(const SnapshotMemory& memory) {
  const auto found = std::ranges::find_if(memory.kept, &Kept::grows);
  return found == memory.kept.end() ? nullptr : &*found;
}

std::string FailureText(const Failure& failure) {
  const OutOfMemory& memory = failure.memory;
  if (LiesInPieces(memory)) {
    return Say(
        "out of memory although enough is free: {} asked at {}, {} free in {}, the largest {}",
        SizeText(memory.asked), Where(failure.holder), SizeText(memory.free.bytes),
        Counted(memory.free.pieces, "piece"), SizeText(memory.free.largest));
  }
  return Say(
      "out of memory: {} asked at {}, {} in use of {} reserved; {} free in pieces, {} on the"
      " device",
      SizeText(memory.asked), Where(failure.holder), SizeText(memory.in_use),
      SizeText(memory.reserved), SizeText(memory.free.bytes), SizeText(memory.device_free));
}

std::string VerdictOf(const SnapshotMemory& memory) {
  const HeldAtEnd& held = memory.held;
  if (const Failure* failure = memory.WorstFailure()) return FailureText(*failure);
  if (const Kept* growing = Growing(memory)) {
    return Say(
        "memory grows: {} holds {} in {} allocations, made over the whole history and never"
        " released",
        Where(growing->holder), SizeText(growing->bytes), growing->count);
  }
  if (IsFragmented(held)) {
    return Say("fragmented: {} of {} reserved are free in {}, the largest {}",
               SizeText(held.free.bytes), SizeText(held.reserved),
               Counted(held.free.pieces, "piece"), SizeText(held.free.largest));
  }
  if (memory.actions == 0) {
    return Say("{} in use of {} reserved; no history was recorded, so peak and growth are unknown",
               SizeText(held.asked), SizeText(held.reserved));
  }
  // A site that holds little of it says nothing.
  const std::int64_t peak = memory.peak.Allocated();
  const auto most = std::ranges::find_if(memory.holders, [&](const Held& one) {
    return !one.holder.op.starts_with('(') && one.bytes >= peak / 10;
  });
  if (most == memory.holders.end()) {
    return Say("peak of {} in use; no call site grows over the history", SizeText(peak));
  }
  return Say("peak of {} in use, {} of it by {}; no call site grows over the history",
             SizeText(peak), SizeText(most->bytes), Where(most->holder));
}

// How bad it is: devices are shown by this, then by their peak.
int Severity(const SnapshotMemory& memory) {
  if (memory.failure_count > 0) return 3;
  if (Growing(memory) != nullptr) return 2;
  return IsFragmented(memory.held) ? 1 : 0;
}

std::string DeviceName(const ShownDevice& device, bool with_file) {
  std::string name = Say("{}, device {}", RankText(device.rank), device.memory->device);
  return with_file ? Say("{} in {}", name, device.memory->file) : name;
}

void AddSnapshotPeak(const SnapshotMemory& memory, Report& report) {
  if (memory.actions == 0) return;
  const std::int64_t position = memory.peak.time;
  const std::string when = position < 0
                               ? Say("before the history of {} actions", memory.actions)
                               : Say("after action {} of {}", position + 1, memory.actions);
  report.lines.push_back(Say("peak: {} in use of {} reserved, {}",
                             SizeText(memory.peak.Allocated()), SizeText(memory.peak.reserved),
                             when));
  if (position >= 0 && memory.begin >= 0 && memory.peak_time >= memory.begin) {
    report.lines.push_back(Say("  {:.3f} ms after the first action of the history",
                               InMs(memory.peak_time - memory.begin)));
  }
  if (memory.before > 0) {
    report.lines.push_back(
        Say("  {} were in use before the history began", SizeText(memory.before)));
  }
}

template <typename One>
void AddSites(const char* heading, const std::vector<One>& holders, Report& report) {
  if (holders.empty()) return;
  constexpr std::size_t kShown = 5;
  const AmountScale scale(Quantity::kBytes, holders.front().bytes);
  const ScreenList list(0, {ScreenText(heading, NameColumns(55)),
                            ScreenAmount(scale.unit(), 10, scale), ScreenNumber("count", 6)});
  report.lines.push_back(list.Heading());
  for (std::size_t i = 0; i < std::min(kShown, holders.size()); ++i) {
    const One& one = holders[i];
    report.lines.push_back(list.Line("  " + SiteCell(one.holder, 53), one.bytes, one.count));
  }
  AddMoreLine(holders.size(), kShown, "holder", report.lines);
}

void AddGrowing(const SnapshotMemory& memory, Report& report) {
  for (const Kept& kept : memory.kept) {
    if (!kept.grows) continue;
    AddSentence(Say("grows: {} by {}, from action {} to action {}", Where(kept.holder),
                    SizeText(kept.bytes), kept.oldest + 1, kept.newest + 1),
                report.lines);
  }
}

void AddFree(const SnapshotMemory& memory, Report& report) {
  const HeldAtEnd& held = memory.held;
  report.lines.push_back(Say("at the end: {} in use of {} reserved in {}", SizeText(held.asked),
                             SizeText(held.reserved), Counted(held.segments, "segment")));
  if (held.free.pieces > 0) {
    report.lines.push_back(Say("  free: {} in {}; more than {} at once needs new memory",
                               SizeText(held.free.bytes), Counted(held.free.pieces, "piece"),
                               SizeText(held.free.largest)));
  }
  if (held.unsplit > 0)
    report.lines.push_back(
        Say("  {} more is free and can be returned by empty_cache()", SizeText(held.unsplit)));
  if (held.workspace > 0)
    report.lines.push_back(Say("  {} is scratch memory of operators", SizeText(held.workspace)));
}

void AddFailures(const SnapshotMemory& memory, Report& report) {
  if (memory.failure_count > 1)
    report.lines.push_back(Say("{} allocations failed in all", memory.failure_count));
  const Failure* worst = memory.WorstFailure();
  const bool in_pieces = worst != nullptr ? LiesInPieces(worst->memory) : IsFragmented(memory.held);
  if (in_pieces && !memory.held.is_expandable) {
    report.lines.push_back(std::string(
        Translated("free pieces are joined with expandable_segments:True in the allocator's"
                   " settings")));
  }
}

void AddDevices(const std::vector<ShownDevice>& devices, bool with_file, Report& report) {
  std::int64_t most = 0;
  for (const ShownDevice& device : devices) most = std::max(most, device.memory->most_reserved);
  const AmountScale scale(Quantity::kBytes, most);
  const auto heading = [&](const char* name) {
    return fmt::format("{} {}", Translated(name), scale.unit());
  };
  const ScreenList list(0, {ScreenText("device", NameColumns(26)),
                            ScreenAmount(heading(ToTranslate("peak")), 11, scale),
                            ScreenAmount(heading(ToTranslate("reserved")), 13, scale),
                            ScreenAmount(heading(ToTranslate("at the end")), 14, scale),
                            ScreenAmount(heading(ToTranslate("free")), 9, scale)});
  report.lines.push_back(list.Heading());
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, devices.size()); ++i) {
    const SnapshotMemory& memory = *devices[i].memory;
    report.lines.push_back(list.Line("  " + NameCell(DeviceName(devices[i], with_file), 24),
                                     memory.peak.Allocated(), memory.most_reserved,
                                     memory.held.asked, memory.held.free.bytes));
  }
  AddMoreLine(devices.size(), kShown, "device", report.lines);
}

}  // namespace

void AddSnapshotLines(const Ranks& ranks, Detail detail, Report& report) {
  std::vector<ShownDevice> devices;
  const bool behind_captures = !report.lines.empty();
  bool with_file = behind_captures;
  for (const auto& [rank, part] : ranks) {
    for (const SnapshotMemory& memory : part.snapshots) {
      devices.push_back({rank, &memory});
      with_file = with_file || memory.file != part.snapshots.front().file;
    }
  }
  if (devices.empty()) return;
  StableSort(devices, [](const ShownDevice& a, const ShownDevice& b) {
    const int of_a = Severity(*a.memory), of_b = Severity(*b.memory);
    if (of_a != of_b) return of_a > of_b;
    return a.memory->peak.Allocated() > b.memory->peak.Allocated();
  });
  const SnapshotMemory& worst = *devices.front().memory;
  const std::string verdict = VerdictOf(worst);
  const bool is_alone = devices.size() == 1 && !behind_captures;
  AddSentence(is_alone ? verdict : Say("{}: {}", DeviceName(devices.front(), with_file), verdict),
              report.lines);
  AddFailures(worst, report);
  AddSnapshotPeak(worst, report);
  if (worst.actions > 0) AddSites("in use at the peak by", worst.holders, report);
  AddFree(worst, report);
  AddSites("in use at the end by", worst.kept, report);
  AddGrowing(worst, report);
  if (devices.size() > 1) AddDevices(devices, with_file, report);
  if (detail != Detail::kAll) return;
  for (std::size_t i = 1; i < devices.size(); ++i)
    AddSentence(Say("{}: {}", DeviceName(devices[i], with_file), VerdictOf(*devices[i].memory)),
                report.lines);
}

}  // namespace mpa::recipes::memory_timeline
