// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "csv_text.h"
#include "mpa/model/string_pool.h"
#include "mpa/raw/session.h"
#include "text_files.h"

/// Events of the timeline, appended to a text. Each begins with the comma behind the one before.
namespace mpa::profiler_output {

/// Appends `text` as it stands between the quotes of a JSON text: valid for any bytes.
void AppendEscaped(std::string& out, std::string_view text);

/// The same for a list of the framework, one entry a line: ";" becomes ";" CR LF.
void AppendEscapedList(std::string& out, std::string_view list);

/// The texts of a pool as they stand between the quotes of a JSON text, each escaped once. Must not
/// outlive the pool.
class JsonTexts {
 public:
  explicit JsonTexts(const StringPool& strings);
  std::string_view operator[](StringId id) const { return views_[Index(id)]; }

 private:
  std::vector<std::string_view> views_;
  std::deque<std::string> escaped_;  // deque: growth never moves a text
};

/// The rows of the timeline; the number orders them.
enum class Layer : std::uint32_t {
  kFramework = 0,
  kCollections = 1,
  kMarks = 6,
  kCann = 7,
  kHardware = 14,
  kCoreFrequency = 15,
  kCommunication = 16,
  kMemory = 17,
  kDdr = 18,
  kHccs = 20,
  kNic = 21,
  kRoce = 22,
  kPcie = 23,
  kHbm = 24,
  kLlc = 27,
  kActivities = 31,
};

/// In place of the number of a device for rows of the host.
inline constexpr std::int64_t kHost = 31;

/// The number of a layer as process of the timeline.
std::uint64_t TraceProcess(std::int64_t process, Layer layer, std::int64_t device);

/// Where an event is shown, and when it begins.
struct TracePlace {
  std::uint64_t process = 0;
  std::int64_t thread = 0;
  TimeNs time = 0;
};

/// {"ph": "X", ..., "args": { - the caller appends the arguments and "}}". `name` is escaped; no
/// category is shown where `category` is empty.
template <typename Ns, typename... Name>
void BeginSlice(std::string& out, std::string_view category, const TracePlace& place, Ns dur,
                const Name&... name) {
  Put(out, R"(, {"ph": "X", "name": ")", name..., R"(", "pid": )", place.process, R"(, "tid": )",
      place.thread, R"(, "ts": ")", Micros{place.time}, R"(", "dur": )",
      ShortMicros{static_cast<double>(dur)});
  if (!category.empty()) Put(out, R"(, "cat": ")", category, "\"");
  out += R"(, "args": {)";
}

/// An arrow's begin ('s') or end ('f'), bound to the event in which it lies. `id` is a number, or a
/// text in quotes.
template <typename... Id>
void PutArrow(std::string& out, char phase, std::string_view name, std::string_view category,
              const TracePlace& place, const Id&... id) {
  Put(out, R"(, {"ph": ")", std::string_view(&phase, 1), R"(", "bp": "e", "name": ")", name,
      R"(", "id": )", id..., R"(, "pid": )", place.process, R"(, "tid": )", place.thread,
      R"(, "ts": ")", Micros{place.time}, R"(", "cat": ")", category, R"("})");
}

/// The begin ('s') or end ('f') of the arrow from a host call to what it launched on the device.
void PutLaunchArrow(std::string& out, char phase, std::uint64_t connection,
                    const TracePlace& place);

/// "name": value, ...
template <typename Number, typename... More>
void PutSeries(std::string& out, std::string_view name, const Number& value, const More&... more) {
  Put(out, "\"", name, R"(": )", value);
  if constexpr (sizeof...(more) > 0) {
    out += ", ";
    PutSeries(out, more...);
  }
}

/// Values that change over time, shown as one counter: pairs of a series' name and a number.
template <typename... Series>
void PutCounter(std::string& out, std::string_view name, const TracePlace& place,
                const Series&... series) {
  Put(out, R"(, {"name": ")", name, R"(", "pid": )", place.process, R"(, "tid": )", place.thread,
      R"(, "ts": ")", Micros{place.time}, R"(", "ph": "C", "args": {)");
  PutSeries(out, series...);
  out += "}}";
}

/// Name, label and order of a process. `name` need not be escaped.
void PutProcess(std::string& out, std::uint64_t process, std::string_view name,
                std::string_view label, Layer layer);
/// Name and order of a thread. `name` need not be escaped.
void PutThread(std::string& out, std::uint64_t process, std::int64_t thread, std::string_view name,
               std::int64_t order);

/// "NPU 0".
std::string DeviceLabel(std::int64_t device);

// The parts of trace_view.json.

/// The row of a group of ranks among the communication rows; its planes are the rows below.
struct GroupRow {
  std::int64_t device = 0;
  StringId name{};
  std::int64_t thread = 0;
  std::vector<std::int64_t> planes;  ///< in order
};

/// What several parts need.
struct TraceSource {
  explicit TraceSource(const raw::Session& session);

  /// The connection of a task: the row of its call, or the number that all tasks outside of any
  /// call share.
  std::uint64_t Connection(std::int32_t call) const {
    return call < 0 ? session.calls.Size() : static_cast<std::uint64_t>(call);
  }
  /// The rows of a layer: of a device, or of the host (kHost).
  std::uint64_t Process(Layer layer, std::int64_t device) const {
    return TraceProcess(session.info.process, layer, device);
  }
  TracePlace TaskPlace(std::size_t task) const;
  TracePlace CollectivePlace(std::size_t collective) const;

  const raw::Session& session;
  JsonTexts texts;
  std::vector<std::int32_t> group_of_collective;  ///< index in `groups`
  std::vector<GroupRow> groups;
};

void WriteFrameworkEvents(const TraceSource& source, ChunkedFile& file);
void WriteHardwareEvents(const TraceSource& source, ChunkedFile& file);
void WriteMarkEvents(const TraceSource& source, ChunkedFile& file);
void WriteCommunicationEvents(const TraceSource& source, ChunkedFile& file);
void WriteActivityEvents(const TraceSource& source, ChunkedFile& file);
void WriteCounterEvents(const TraceSource& source, ChunkedFile& file);
void WriteTrafficEvents(const TraceSource& source, ChunkedFile& file);
void WriteCallEvents(const TraceSource& source, ChunkedFile& file);
void WriteDeviceArrows(const TraceSource& source, ChunkedFile& file);

/// Names a row of each device.
std::string DeviceRows(const TraceSource& source, std::span<const std::int64_t> devices,
                       std::string_view name, Layer layer);
/// Names the rows of a layer of the host, one for each thread.
std::string HostRows(const TraceSource& source, std::span<const std::int64_t> threads,
                     std::string_view name, Layer layer);

/// The different values, in order.
std::vector<std::int64_t> Distinct(std::span<const std::int64_t> values);

}  // namespace mpa::profiler_output
