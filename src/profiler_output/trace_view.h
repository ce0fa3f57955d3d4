// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chunked_file.h"
#include "mpa/raw/session.h"
#include "trace_json.h"

/// The parts of trace_view.json.
namespace mpa::profiler_output {

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
std::string DeviceRows(const raw::Session& session, std::span<const std::int64_t> devices,
                       std::string_view name, Layer layer);

/// The different values, in order.
std::vector<std::int64_t> Distinct(std::span<const std::int64_t> values);

}  // namespace mpa::profiler_output
