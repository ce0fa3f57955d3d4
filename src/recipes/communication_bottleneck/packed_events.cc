// SPDX-License-Identifier: Apache-2.0
#include "packed_events.h"

#include "mpa/base/error.h"

namespace mpa::bottleneck {
namespace {

// Seven bits in each byte, the lowest first; the eighth says that more follow.
void PutNumber(std::uint64_t number, std::string& bytes) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(0x80 | (number & 0x7f)));
  bytes.push_back(static_cast<char>(number));
}

class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}

  bool AtEnd() const { return bytes_.empty(); }
  std::uint64_t Next() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
    Fail(ErrorKind::kCorrupt, "the part holds events that break off");
  }

 private:
  std::string_view bytes_;
};

}  // namespace

void PackedEvents::Append(TimeNs start, TimeNs dur, std::string_view name) {
  const auto [found, is_new] =
      numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  // Unsigned numbers wrap, so that any bytes give some times.
  PutNumber(static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(last_start_), bytes_);
  PutNumber(static_cast<std::uint64_t>(dur), bytes_);
  PutNumber(found->second, bytes_);
  last_start_ = start;
}

std::vector<Event> PackedEvents::EndingBy(TimeNs end) const {
  std::vector<Event> events;
  NumberReader reader(bytes_);
  std::uint64_t start = 0;
  while (!reader.AtEnd()) {
    start += reader.Next();
    const std::uint64_t dur = reader.Next();
    const std::uint64_t name = reader.Next();
    if (name >= names_.size()) {
      Fail(ErrorKind::kCorrupt, "the part refers to a text that it does not contain");
    }
    const Event event{static_cast<TimeNs>(start), static_cast<TimeNs>(dur),
                      static_cast<std::uint32_t>(name)};
    if (!IsTime(event.start) || !IsDuration(event.dur)) {
      Fail(ErrorKind::kCorrupt, "the part holds an event at no time");
    }
    if (event.start + event.dur <= end) events.push_back(event);
  }
  return events;
}

}  // namespace mpa::bottleneck
