// SPDX-License-Identifier: Apache-2.0
// function_monitor_<process>.log: calls of functions of the program, with what the counters of the
// processor say of them (function_monitor).
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "monotonic_clock.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

// "name:forward start:7000000000.123 duration:1200.5 rankId:0 pid:4711 pname:python tid:4711
// tname:MainThread extraInfo:event-cycles:100;event-instructions:200", behind what the logger
// writes before it. The names of processes and threads may have blanks.
struct LogLine {
  std::string_view name, start, duration, process, thread, counts;
};

LogLine LineOf(std::string_view line) {
  LogLine found;
  const auto take = [](std::string_view word, std::string_view key, std::string_view& value) {
    if (value.empty() && word.starts_with(key)) value = word.substr(key.size());
  };
  for (const std::string_view word : Split(line, ' ')) {
    take(word, "name:", found.name);
    take(word, "start:", found.start);
    take(word, "duration:", found.duration);
    take(word, "pid:", found.process);
    take(word, "tid:", found.thread);
    take(word, "extraInfo:", found.counts);
  }
  return found;
}

// What libkperf and perf call one event, on different processors; the first that is there counts.
constexpr std::array<std::string_view, 2> kCycles = {"cycles", "cpu-cycles"};
constexpr std::array<std::string_view, 2> kInstructions = {"instructions", "inst_retired"};
constexpr std::array<std::string_view, 5> kMisses = {
    "LLC-load-misses", "LLC-misses", "ll_cache_miss_rd", "cache-misses", "l3d_cache_refill"};

// -1: it was not counted.
std::int64_t CountOf(std::string_view counts, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    for (const std::string_view item : Split(counts, ';')) {
      const std::size_t colon = item.rfind(':');
      if (colon == std::string_view::npos) continue;
      std::string_view event = item.substr(0, colon);
      if (event.starts_with("event-")) event.remove_prefix(std::string_view("event-").size());
      // Some events are of the user's mode alone: "cycles:u".
      if (event.substr(0, event.find(':')) != name) continue;
      const auto count = io::ParseInt(item.substr(colon + 1));
      if (count && *count >= 0) return *count;
    }
  }
  return -1;
}

void ReadFunctionLog(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  const auto offset = MonotonicToEpoch(trace, file.path);
  if (!offset) {
    WarnOfUnknownClock(file.path);
    return;
  }
  const io::InputText text(file.path);
  const std::string file_name = file.path.filename().string();
  std::size_t number = 0;
  for (const std::string_view raw : Split(text.text(), '\n')) {
    ++number;
    const std::string_view line = Trim(raw);
    if (line.empty() || line.find("duration:") == std::string_view::npos) continue;
    const LogLine found = LineOf(line);
    const auto start = io::NsFromMicros(found.start), dur = io::NsFromMicros(found.duration);
    const auto process = io::ParseInt(found.process), thread = io::ParseInt(found.thread);
    const bool has_times = start && dur && IsTime(*start) && IsDuration(*dur) &&
                           IsTime(*start + *offset) && IsTime(*start + *offset + *dur);
    if (!has_times || !process || !thread || found.name.empty()) {
      trace.issues.Count("call of a function left out, its name, thread or time is invalid",
                         Say("{}, line {}", file_name, number));
      continue;
    }
    trace.function_counts.Append({.start = *start + *offset,
                                  .dur = *dur,
                                  .process = *process,
                                  .thread = *thread,
                                  .name = trace.strings.Intern(found.name),
                                  .cycles = CountOf(found.counts, kCycles),
                                  .instructions = CountOf(found.counts, kInstructions),
                                  .misses = CountOf(found.counts, kMisses)});
  }
}

}  // namespace

Reader FunctionLog() {
  return {"function_monitor's log", FileKind::kFunctionLog, Tables::kFunctionCounts,
          ReadFunctionLog};
}

}  // namespace mpa::readers
