// SPDX-License-Identifier: Apache-2.0
// The files of export_memory_timeline.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "outputs.h"

namespace mpa::memory_timeline {
namespace {

constexpr std::size_t kInFiles = kCategories - 1;  // "before the capture" is unknown there

std::size_t NumberOf(Category category) {
  return static_cast<std::size_t>(category == Category::kBefore ? Category::kUnknown : category);
}

// The numbers of what happens: held before, taken, given back.
int ActionOf(const Event& event) { return event.time < 0 ? 0 : event.bytes > 0 ? 1 : 3; }

std::string RawEvents(const RankMemory& part) {
  std::string text = "[";
  for (const Event& event : part.events) {
    fmt::format_to(std::back_inserter(text), "{}[{}, {}, {}, {}]", text.size() > 1 ? ", " : "",
                   event.time, ActionOf(event), event.bytes, NumberOf(event.category));
  }
  return text + "]";
}

std::string Timeline(const RankMemory& part) {
  std::string times = "[", sizes = "[";
  std::array<std::int64_t, kInFiles> held{};
  const auto time_of = [&](const Event& event) {
    return (event.time < 0 ? part.begin : event.time) / 1000;
  };
  for (std::size_t i = 0; i < part.events.size(); ++i) {
    const Event& event = part.events[i];
    held[NumberOf(event.category)] += event.bytes;
    if (i + 1 < part.events.size() && time_of(part.events[i + 1]) == time_of(event)) continue;
    const std::string_view comma = times.size() > 1 ? ", " : "";
    fmt::format_to(std::back_inserter(times), "{}{}", comma, time_of(event));
    // The first number is 0: what lies below the lowest category of a picture.
    fmt::format_to(std::back_inserter(sizes), "{}[0, {}]", comma, fmt::join(held, ", "));
  }
  return fmt::format("[{}], {}]]", times, sizes);
}

}  // namespace

std::vector<TextDocument> DocumentsOf(const std::string& stem, const RankMemory& part) {
  if (part.events.empty() || !part.peak) return {};
  const std::string packed = part.packed ? ".gz" : "";
  return {{stem + ".json" + packed, Timeline(part)},
          {stem + ".raw.json" + packed, RawEvents(part)}};
}

}  // namespace mpa::memory_timeline
