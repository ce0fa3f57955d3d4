// SPDX-License-Identifier: Apache-2.0
// Marks and ranges of the program (msproftx), and the records of devices that passed them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>

#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "stages.h"
#include "time_order.h"

namespace mpa::raw {
namespace {

constexpr std::uint16_t kExtended = 1;  // mstx: with a mark id, a domain and long messages

struct Segment {
  Marks::Row mark;
  TimeNs end = -1;
  bool extended = false;
  std::uint16_t number = 0;
  std::string text;
};

Segment ReadSegment(const HostInput& input, const Record<kAdditionalSize>& record) {
  Segment segment;
  segment.extended = record.U16(24) == kExtended;
  segment.number = record.U16(26);
  Marks::Row& mark = segment.mark;
  mark.process = record.U32(36);
  mark.thread = record.U32(40);
  mark.event_type = record.U32(48);
  mark.start = input.clock.HostNs(record.U64(64));
  segment.end = input.clock.HostNs(record.U64(72));
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  mark.mark_id = static_cast<std::int64_t>(std::min(record.U64(80), kMax));
  if (segment.extended) mark.domain = input.dictionary.Text(record.U64(88));
  constexpr std::size_t kMessage = 100;
  const std::string_view message = record.Bytes().substr(kMessage);
  segment.text = message.substr(0, message.find('\0'));
  return segment;
}

// Long messages are in several records of one mark.
void JoinSegments(std::vector<Segment>& segments) {
  StableSort(segments, [](const Segment& a, const Segment& b) {
    const auto key = [](const Segment& s) {
      return std::make_tuple(s.extended, s.extended ? s.mark.mark_id : 0, s.number);
    };
    return key(a) < key(b);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool continues = kept > 0 && segments[i].extended && segments[kept - 1].extended &&
                           segments[i].mark.mark_id == segments[kept - 1].mark.mark_id;
    if (continues) {
      segments[kept - 1].text += segments[i].text;
    } else {
      if (kept != i) segments[kept] = std::move(segments[i]);
      ++kept;
    }
  }
  segments.resize(kept);
}

// A device's record of a mark: one instant, or the beginning and the end of a range.
struct DeviceSide {
  TimeNs start = -1, end = -1;
  std::int64_t device = -1, stream = -1, task = -1;
};

std::unordered_map<std::int64_t, DeviceSide> DeviceSides(const Session& session,
                                                         const ControlFiles& files,
                                                         const std::vector<DeviceLog>& logs) {
  std::unordered_map<std::int64_t, DeviceSide> sides;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const Device& device = session.info.devices[i];
    for (const DeviceMark& mark : logs[i].marks) {
      if (mark.tag != kUserMark && mark.tag != kUserRange) continue;
      const TimeNs time = files.devices[i].clock.DeviceNs(mark.count);
      if (time < device.begin) continue;
      const auto [place, fresh] =
          sides.try_emplace(static_cast<std::int64_t>(mark.index),
                            DeviceSide{time, time, device.id, mark.stream, mark.task});
      if (!fresh) place->second.end = time;
    }
  }
  return sides;
}

}  // namespace

void ReadMarks(const HostInput& input, const ControlFiles& files,
               const std::vector<DeviceLog>& logs, Session& session) {
  std::vector<Segment> segments;
  ForEachJudgedRecord<kAdditionalSize>(input, "additional.msproftx",
                                       [&](const Record<kAdditionalSize>& record, const Slice&) {
                                         segments.push_back(ReadSegment(input, record));
                                       });
  JoinSegments(segments);
  const auto sides = DeviceSides(session, files, logs);
  if (segments.empty() && !sides.empty()) {
    session.issues.Count(Say("host/msproftx is missing: {} marks of the user are lost; copy"
                             " the capture again",
                             sides.size()),
                         "recorded by the device alone");
  }
  Marks marks;
  for (Segment& segment : segments) {
    Marks::Row& mark = segment.mark;
    const TimeNs end = segment.end;
    const bool plausible = input.clock.IsPlausible(mark.start) && input.clock.IsPlausible(end);
    if (plausible && end < session.info.begin) continue;
    if (!plausible || !IsRange(mark.start, end)) {
      session.issues.Count("mark left out, its times are invalid", "msproftx");
      continue;
    }
    mark.dur = end - mark.start;
    mark.message = session.strings.Intern(segment.text);
    if (const auto side = sides.find(mark.mark_id); segment.extended && side != sides.end()) {
      mark.device_start = side->second.start;
      mark.device_dur = side->second.end - side->second.start;
      mark.device = side->second.device;
      mark.device_stream = side->second.stream;
      mark.device_task = side->second.task;
    }
    marks.Append(mark);
  }
  marks.Reorder(marks.RowsByStart());
  session.marks = std::move(marks);
}

void FindModelIterations(const ControlFiles& files, const std::vector<DeviceLog>& logs,
                         Session& session) {
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const Clock& clock = files.devices[i].clock;
    std::vector<DeviceMark> marks;
    for (const DeviceMark& mark : logs[i].marks) {
      if (mark.tag == kModelBegin || mark.tag == kModelEnd) marks.push_back(mark);
    }
    StableSort(marks, [](const DeviceMark& a, const DeviceMark& b) {
      return std::tie(a.model, a.index) < std::tie(b.model, b.index);
    });
    for (std::size_t m = 0; m + 1 < marks.size(); ++m) {
      const DeviceMark &begin = marks[m], &end = marks[m + 1];
      const bool pair = begin.tag == kModelBegin && end.tag == kModelEnd &&
                        begin.model == end.model && begin.index == end.index;
      if (!pair) continue;
      const TimeNs start = clock.DeviceNs(begin.count);
      session.model_iterations.Append({.start = start,
                                       .dur = clock.DeviceNs(end.count) - start,
                                       .model = static_cast<std::int64_t>(begin.model),
                                       .iteration = static_cast<std::int64_t>(begin.index)});
    }
  }
  session.model_iterations.Reorder(session.model_iterations.RowsByStart());
}

}  // namespace mpa::raw
