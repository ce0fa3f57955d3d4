// SPDX-License-Identifier: Apache-2.0
#include "scheduler_line.h"

#include <algorithm>
#include <array>
#include <optional>

#include "mpa/base/text.h"

namespace mpa::readers {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// A whole number of at most 18 digits at the begin of the text, which it is taken off.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  std::int64_t number = 0;
  std::size_t length = 0;
  constexpr std::size_t kMostDigits = 18;
  while (length < text.size() && length < kMostDigits && IsDigit(text[length]))
    number = number * 10 + (text[length++] - '0');
  if (length == 0 || (length < text.size() && IsDigit(text[length]))) return std::nullopt;
  text.remove_prefix(length);
  return number;
}

std::optional<std::int32_t> TakeCore(std::string_view& text) {
  const auto number = TakeNumber(text);
  if (!number || *number >= kMostCores) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

// Seconds with their decimals, as nanoseconds.
std::optional<TimeNs> TakeTime(std::string_view& text) {
  const auto seconds = TakeNumber(text);
  constexpr std::int64_t kMostSeconds = 4'000'000'000;
  if (!seconds || *seconds > kMostSeconds || text.empty() || text[0] != '.') return std::nullopt;
  text.remove_prefix(1);
  TimeNs nanoseconds = 0;
  std::size_t decimals = 0;
  constexpr std::size_t kDecimals = 9;
  for (; decimals < text.size() && IsDigit(text[decimals]); ++decimals) {
    if (decimals >= kDecimals) return std::nullopt;
    nanoseconds = nanoseconds * 10 + (text[decimals] - '0');
  }
  if (decimals == 0) return std::nullopt;
  text.remove_prefix(decimals);
  for (; decimals < kDecimals; ++decimals) nanoseconds *= 10;
  return *seconds * 1'000'000'000 + nanoseconds;
}

// "migration/0-18   [000] ...", "trace-cmd-12 ( 12) [001] ...", "perf 10713/10713 [000] ...": the
// thread and its core, and what follows.
bool TakeThread(std::string_view& text, SchedulerLine& line) {
  for (std::size_t open = text.find('['); open != std::string_view::npos;
       open = text.find('[', open + 1)) {
    std::string_view behind = text.substr(open + 1);
    const auto core = TakeCore(behind);
    if (!core || !behind.starts_with("] ")) continue;
    std::string_view before = text.substr(0, open);
    const auto trim = [&] { before = before.substr(0, before.find_last_not_of(" \t") + 1); };
    trim();
    std::int64_t process = -1;
    if (before.ends_with(')')) {
      const std::size_t begin = before.rfind('(');
      if (begin == std::string_view::npos) continue;
      std::string_view number = before.substr(begin + 1);
      SkipBlanks(number);
      process = TakeNumber(number).value_or(-1);  // "(-----)": not recorded
      before = before.substr(0, begin);
      trim();
    }
    const std::size_t digits = before.find_last_not_of(kDigits);
    if (digits == std::string_view::npos || digits + 1 == before.size()) continue;
    std::string_view number = before.substr(digits + 1);
    const auto id = TakeNumber(number);
    if (!id) continue;
    before = before.substr(0, digits + 1);
    if (before.ends_with('/')) {
      before.remove_suffix(1);
      const std::size_t begin = before.find_last_not_of(kDigits);
      if (begin == std::string_view::npos || begin + 1 == before.size()) continue;
      number = before.substr(begin + 1);
      process = TakeNumber(number).value_or(-1);
      before = before.substr(0, begin + 1);
    }
    if (!before.ends_with('-') && !before.ends_with(' ')) continue;
    before.remove_suffix(1);
    line.core = *core;
    line.current = {Trim(before), *id, process};
    text = behind.substr(2);
    return true;
  }
  return false;
}

// Letters that ftrace puts before the time ("d..2.") are passed over.
bool TakeTimeOf(std::string_view& text, SchedulerLine& line) {
  constexpr int kWords = 2;
  for (int word = 0; word < kWords; ++word) {
    SkipBlanks(text);
    std::string_view rest = text;
    const auto time = TakeTime(rest);
    if (time && rest.starts_with(':')) {
      line.time = *time;
      text = rest.substr(1);
      return true;
    }
    text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
  }
  return false;
}

struct NamedEvent {
  std::string_view name;
  SchedulerKind kind;
};
constexpr std::array<NamedEvent, 9> kEvents = {{
    {"sched_switch", SchedulerKind::kSwitch},
    {"sched_waking", SchedulerKind::kWakeup},
    {"sched_wakeup", SchedulerKind::kWakeup},
    {"sched_wakeup_new", SchedulerKind::kWakeup},
    {"sched_migrate_task", SchedulerKind::kMigrate},
    {"irq_handler_entry", SchedulerKind::kInterruptBegin},
    {"irq_handler_exit", SchedulerKind::kInterruptEnd},
    {"softirq_entry", SchedulerKind::kSoftBegin},
    {"softirq_exit", SchedulerKind::kSoftEnd},
}};

// "sched_switch: ...", of perf "sched:sched_switch: ...".
const NamedEvent* TakeEvent(std::string_view& text) {
  SkipBlanks(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  if (name.ends_with(':')) name.remove_suffix(1);
  name = name.substr(name.rfind(':') + 1);
  const auto found = std::ranges::find(kEvents, name, &NamedEvent::name);
  SkipBlanks(text);
  return found == kEvents.end() ? nullptr : &*found;
}

// The number behind a key: "pid=".
std::optional<std::int64_t> NumberOf(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  return TakeNumber(text);
}
std::int32_t CoreOf(std::string_view text, std::string_view key) {
  const auto number = NumberOf(text, key);
  return number && *number < kMostCores ? static_cast<std::int32_t>(*number) : -1;
}

// "comm=NAME pid=N ...", the names of both with something in front.
bool ReadNamed(std::string_view text, std::string_view name_key, std::string_view id_key,
               TracedThread& thread) {
  const std::size_t begin = text.find(name_key);
  if (begin == std::string_view::npos) return false;
  const std::size_t name = begin + name_key.size();
  const std::size_t end = text.find(id_key, name);
  if (end == std::string_view::npos) return false;
  std::string_view number = text.substr(end + id_key.size());
  const auto id = TakeNumber(number);
  if (!id) return false;
  thread.name = text.substr(name, end - name);
  thread.id = *id;
  return true;
}

// "NAME:N [PRIORITY]", as trace-cmd writes it.
bool ReadShort(std::string_view text, TracedThread& thread) {
  const std::size_t bracket = text.rfind(" [");
  if (bracket == std::string_view::npos) return false;
  text = text.substr(0, bracket);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view number = text.substr(colon + 1);
  const auto id = TakeNumber(number);
  if (!id || !number.empty()) return false;
  thread.name = text.substr(0, colon);
  thread.id = *id;
  return true;
}

// trace-cmd gives the bare number when it is asked for raw fields.
char StateOf(std::string_view text) {
  if (text.empty()) return 0;
  switch (text[0]) {
    case '0':
      return 'R';
    case '1':
      return 'S';
    case '2':
      return 'D';
    default:
      return text[0] >= 'A' && text[0] <= 'z' ? text[0] : '\0';
  }
}

bool ReadSwitch(std::string_view text, SchedulerLine& line) {
  constexpr std::string_view kState = " prev_state=", kNext = " next_comm=";
  if (text.starts_with("prev_comm=")) {
    const std::size_t next = text.find(kNext);
    if (next == std::string_view::npos) return false;
    const std::string_view before = text.substr(0, next);
    const std::size_t state = before.rfind(kState);
    if (state == std::string_view::npos) return false;
    line.state = StateOf(before.substr(state + kState.size()));
    return line.state != 0 && ReadNamed(before, "prev_comm=", " prev_pid=", line.current) &&
           ReadNamed(text.substr(next), " next_comm=", " next_pid=", line.other);
  }
  constexpr std::string_view kArrow = " ==> ";
  const std::size_t arrow = text.find(kArrow);
  if (arrow == std::string_view::npos) return false;
  const std::string_view before = text.substr(0, arrow);
  const std::size_t blank = before.rfind(' ');
  if (blank == std::string_view::npos) return false;
  line.state = StateOf(before.substr(blank + 1));
  return line.state != 0 && ReadShort(before.substr(0, blank), line.current) &&
         ReadShort(text.substr(arrow + kArrow.size()), line.other);
}

bool ReadWakeup(std::string_view text, SchedulerLine& line) {
  if (text.starts_with("comm=")) {
    line.target = CoreOf(text, " target_cpu=");
    return ReadNamed(text, "comm=", " pid=", line.other);
  }
  line.target = CoreOf(text, "CPU:");
  const std::size_t bracket = text.rfind(']');
  return bracket != std::string_view::npos && ReadShort(text.substr(0, bracket), line.other);
}

bool ReadMigrate(std::string_view text, SchedulerLine& line) {
  line.target = CoreOf(text, " dest_cpu=");
  return line.target >= 0 && ReadNamed(text, "comm=", " pid=", line.other);
}

bool ReadInterrupt(std::string_view text, SchedulerLine& line) {
  const auto number = NumberOf(text, "irq=");
  constexpr std::int64_t kMost = 1 << 30;
  if (!number || *number > kMost) return false;
  line.number = static_cast<std::int32_t>(*number);
  constexpr std::string_view kName = " name=";
  const std::size_t name = text.find(kName);
  if (name != std::string_view::npos) line.interrupt = Trim(text.substr(name + kName.size()));
  return line.kind == SchedulerKind::kInterruptEnd || !line.interrupt.empty();
}

bool ReadSoft(std::string_view text, SchedulerLine& line) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};
  const auto number = NumberOf(text, "vec=");
  if (!number || *number >= static_cast<std::int64_t>(kNames.size())) return false;
  line.number = static_cast<std::int32_t>(*number);
  line.interrupt = kNames[static_cast<std::size_t>(*number)];
  return true;
}

bool ReadFields(std::string_view text, SchedulerLine& line) {
  switch (line.kind) {
    case SchedulerKind::kSwitch:
      return ReadSwitch(text, line);
    case SchedulerKind::kWakeup:
      return ReadWakeup(text, line);
    case SchedulerKind::kMigrate:
      return ReadMigrate(text, line);
    case SchedulerKind::kInterruptBegin:
    case SchedulerKind::kInterruptEnd:
      return ReadInterrupt(text, line);
    case SchedulerKind::kSoftBegin:
    case SchedulerKind::kSoftEnd:
      return ReadSoft(text, line);
    case SchedulerKind::kLost:
      break;
  }
  return true;
}

// "CPU:2 [LOST 123 EVENTS]" of ftrace, "CPU:2 [123 EVENTS DROPPED]" of trace-cmd.
LineOutcome ReadLost(std::string_view text, SchedulerLine& line) {
  std::string_view rest = text.substr(text.find(':') + 1);
  const auto core = TakeCore(rest);
  SkipBlanks(rest);
  if (!core || !rest.starts_with('[')) return LineOutcome::kBroken;
  if (rest.find("EVENTS") == std::string_view::npos) return LineOutcome::kOther;
  rest.remove_prefix(std::min(rest.find_first_of(kDigits), rest.size()));
  line.kind = SchedulerKind::kLost;
  line.core = *core;
  line.lost = TakeNumber(rest).value_or(1);
  return LineOutcome::kEvent;
}

bool NamesEvent(std::string_view text) {
  return std::ranges::any_of(kEvents, [&](const NamedEvent& event) {
    const std::size_t at = text.find(event.name);
    return at != std::string_view::npos && text.substr(at + event.name.size()).starts_with(": ");
  });
}

}  // namespace

LineOutcome ReadSchedulerLine(std::string_view text, SchedulerLine& line) {
  while (text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty() || text[0] == '#') return LineOutcome::kOther;
  line = {};
  if (text.starts_with("CPU:")) return ReadLost(text, line);
  std::string_view rest = text;
  if (!TakeThread(rest, line) || !TakeTimeOf(rest, line))
    return NamesEvent(text) ? LineOutcome::kBroken : LineOutcome::kOther;
  constexpr std::string_view kPerfLost = "PERF_RECORD_LOST";
  std::string_view lost = Trim(rest);
  if (lost.starts_with(kPerfLost)) {
    line.kind = SchedulerKind::kLost;
    lost.remove_prefix(std::min(lost.find_first_of(kDigits), lost.size()));
    line.lost = TakeNumber(lost).value_or(1);
    return LineOutcome::kEvent;
  }
  const NamedEvent* event = TakeEvent(rest);
  if (event == nullptr) return LineOutcome::kOther;
  line.kind = event->kind;
  return ReadFields(rest, line) ? LineOutcome::kEvent : LineOutcome::kBroken;
}

}  // namespace mpa::readers
