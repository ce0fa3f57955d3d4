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

// A picture of areas, one category upon the other.

constexpr double kWidth = 1000, kHeight = 400;
constexpr std::array<std::string_view, kCategories> kColors = {
    "darkgreen",  "goldenrod", "black", "mediumpurple", "red",
    "mediumblue", "royalblue", "grey",  "lightgrey"};

struct Scale {
  TimeNs begin = 0, length = 1;
  std::int64_t most = 1;
  double X(TimeNs time) const {
    return kWidth * static_cast<double>(time - begin) / static_cast<double>(length);
  }
  double Y(std::int64_t bytes) const {
    return kHeight * (1 - static_cast<double>(bytes) / static_cast<double>(most));
  }
};

// Before the capture comes at the bottom, as it changes least.
std::array<Category, kCategories> Layers() {
  std::array<Category, kCategories> layers{Category::kBefore};
  for (std::size_t i = 0; i + 1 < kCategories; ++i) layers[i + 1] = static_cast<Category>(i);
  return layers;
}

void AddArea(const RankMemory& part, const Scale& scale, Category category,
             std::vector<std::int64_t>& below, std::string& text) {
  std::string upper, lower;
  bool any = false;
  for (std::size_t i = 0; i < part.points.size(); ++i) {
    const Level& point = part.points[i];
    const TimeNs until = i + 1 < part.points.size() ? part.points[i + 1].time : part.end;
    const std::int64_t top = below[i] + point.Of(category);
    any = any || point.Of(category) != 0;
    fmt::format_to(std::back_inserter(upper), "{:.1f},{:.1f} {:.1f},{:.1f} ", scale.X(point.time),
                   scale.Y(top), scale.X(until), scale.Y(top));
    lower.insert(0, fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", scale.X(until), scale.Y(below[i]),
                                scale.X(point.time), scale.Y(below[i])));
    below[i] = top;
  }
  if (!any) return;
  fmt::format_to(std::back_inserter(text),
                 "<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.7\"><title>{}</title>"
                 "</polygon>\n",
                 upper, lower, kColors[static_cast<std::size_t>(category)], NameOf(category));
}

std::string Picture(const RankMemory& part) {
  Scale scale{.begin = part.begin, .length = std::max<TimeNs>(part.end - part.begin, 1)};
  for (const Level& point : part.points)
    scale.most = std::max({scale.most, point.Allocated(), point.reserved});
  std::vector<std::int64_t> below(part.points.size());
  std::string areas, reserved, legend;
  for (const Category category : Layers()) {
    AddArea(part, scale, category, below, areas);
    if (part.peak->Of(category) == 0) continue;
    legend += fmt::format("<li><span style=\"color:{}\">&#9632;</span> {}: {:.2f} GB</li>\n",
                          kColors[static_cast<std::size_t>(category)], NameOf(category),
                          static_cast<double>(part.peak->Of(category)) / (1 << 30));
  }
  for (const Level& point : part.points) {
    if (point.reserved < 0) continue;
    fmt::format_to(std::back_inserter(reserved), "{:.1f},{:.1f} ", scale.X(point.time),
                   scale.Y(point.reserved));
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<title>Memory timeline</title></head>\n"
      "<body style=\"font-family:sans-serif\">\n"
      "<h1>Memory timeline</h1>\n"
      "<p>Allocated at the peak: {:.2f} GB, {:.3f} ms after the start. The dashed line is what the "
      "allocators reserved. The picture is {:.3f} ms long and {:.2f} GB high; parts of time show "
      "their peaks.</p>\n"
      "<svg viewBox=\"0 0 {} {}\" width=\"100%\">\n{}"
      "<polyline points=\"{}\" fill=\"none\" stroke=\"black\" stroke-dasharray=\"4\"/>\n</svg>\n"
      "<p>At the peak:</p>\n<ul style=\"list-style:none\">\n{}</ul>\n</body></html>\n",
      static_cast<double>(part.peak->Allocated()) / (1 << 30), InMs(part.peak->time - part.begin),
      InMs(scale.length), static_cast<double>(scale.most) / (1 << 30), kWidth, kHeight, areas,
      reserved, legend);
}

}  // namespace

std::vector<TextDocument> DocumentsOf(const std::string& stem, const RankMemory& part) {
  if (part.events.empty() || !part.peak) return {};
  const std::string packed = part.packed ? ".gz" : "";
  return {{stem + ".json" + packed, Timeline(part)},
          {stem + ".raw.json" + packed, RawEvents(part)}};
}

}  // namespace mpa::memory_timeline
