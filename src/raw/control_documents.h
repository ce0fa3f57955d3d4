// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/issues.h"
#include "mpa/raw/session.h"
#include "slices.h"

/// The small files next to the records, as text and JSON. Errors in a file are counted under its
/// name, with their consequence.
namespace mpa::raw {

using Json = nlohmann::json;

/// The text of a string or of a number; empty for anything else.
std::string TextOf(const Json& value);
/// A whole number or a text that contains one, far from overflow.
std::optional<std::int64_t> NumberOf(const Json& value);
/// The first element of an array; null when there is none.
const Json& FirstOf(const Json& array);
/// The members of an object, of an object, ...; null where one is missing.
const Json& MemberOf(const Json& object, std::initializer_list<const char*> keys);
/// The number in "device_0" after "device_"; empty for anything else.
std::optional<std::int64_t> NumberAfter(std::string_view name, std::string_view start);

bool IsDirectory(const std::filesystem::path& path);
/// The entries of a directory whose names begin with this text, in order.
std::vector<std::filesystem::path> EntriesWith(const std::filesystem::path& directory,
                                               std::string_view start);

/// Lines of "key: value".
class KeyValues {
 public:
  KeyValues() = default;
  explicit KeyValues(std::string text) : text_(std::move(text)) {}
  std::optional<std::int64_t> Find(std::string_view key) const;

 private:
  std::string text_;
};

/// Counts that a control file is `state` ("is missing"), with the consequence.
void CountControlFile(std::string_view name, std::string_view state, std::string_view cost,
                      const std::filesystem::path& place, Issues& issues);

/// The document at `path`, which messages call `name`; null when it is empty or broken.
Json ReadDocument(const std::filesystem::path& path, std::string_view name, std::string_view cost,
                  Issues& issues);

/// The control files of host/ or device_<N>/; null and empty ones are missing or broken.
struct SideDocuments {
  std::string name;  ///< "host", "device_0"
  std::filesystem::path directory;
  Json info, sample, start, end;
  KeyValues host_start, device_start;

  /// "device_0/start_info"
  std::string NameOf(std::string_view file) const;
};

SideDocuments ReadSideDocuments(const std::filesystem::path& directory, Issues& issues);

// Several control files contain readings of the machine's clocks. If they disagree, the reading
// that others confirm is used.

/// One instant on the wall clock and on the monotonic clock.
struct Instant {
  TimeNs epoch = 0, monotonic = 0;
  TimeNs Offset() const { return epoch - monotonic; }
};
/// start_info ("collectionTimeBegin") or end_info ("collectionTimeEnd"); empty: no reading.
std::optional<Instant> InstantOf(const Json& document, const char* micros_key);

/// One instant on the counter of the host and on its monotonic clock.
struct CounterAnchor {
  std::int64_t count = 0;
  TimeNs monotonic = 0;
  /// The same for another instant.
  CounterAnchor MovedTo(TimeNs time, std::int64_t hertz) const;
};
/// host_start.log; its count is 0 if it has none. Empty: no reading.
std::optional<CounterAnchor> AnchorOf(const KeyValues& host_start);

/// The combined facts about the machine from all control files.
struct MachineClock {
  std::int64_t host_hertz = 0;           ///< 0: host stamps are monotonic ns
  std::optional<TimeNs> offset;          ///< from the monotonic clock to the epoch
  std::optional<CounterAnchor> counter;  ///< confirmed, if several files contain it
  std::optional<TimeNs> begin;           ///< of the collection, on the monotonic clock
  std::set<std::string> wrong;           ///< files that others contradict

  bool Trusts(const std::string& file) const { return !wrong.contains(file); }
};

/// Counts files that contradict the others. `profiler_info` may be null.
MachineClock AgreeOnClocks(const std::vector<SideDocuments>& sides, const Json& profiler_info,
                           Issues& issues);

/// The description of a device from its control files. Missing facts are counted and taken from the
/// control files of `other` (the host), from the names of the records or from the usual values of
/// the chip. `hertz` is set to the frequency of the device's counter; 0: unknown.
Device DescribeDevice(std::int64_t id, const SideDocuments& documents, const SideDocuments* other,
                      const DataFiles& records, std::int64_t& hertz, Issues& issues);

// Missing records, detected from names and sizes alone.

/// Counts slices of `directory` (host/data, device_<N>/data), which messages call `side`, that
/// differ from what the profiler left: when it closes a slice it notes the size in <slice>.done,
/// and it numbers the slices from 0.
void CountMissingSlices(const std::filesystem::path& directory, std::string_view side,
                        Issues& issues);

/// The facts that decide which kinds of records a capture must contain.
struct ExpectedRecords {
  const std::vector<SideDocuments>& sides;  ///< of the host, when there is one, and the devices
  const Json& settings;                     ///< profiler_info.json; null: not known
  std::filesystem::path framework;          ///< empty: there is none
};
/// Counts kinds that are missing although the settings ask for them or other records need them.
void CountMissingKinds(const ExpectedRecords& expected, Issues& issues);

}  // namespace mpa::raw
