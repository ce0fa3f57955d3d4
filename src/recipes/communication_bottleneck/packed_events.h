// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/base/time.h"

namespace mpa::bottleneck {

struct Event {
  TimeNs start = 0, dur = 0;
  std::uint32_t name = 0;  ///< position in PackedEvents::Names()
};

/// Events in order of start, some seven bytes each: which of them are asked for is known only when
/// all ranks are there, and a rank may have millions.
class PackedEvents {
 public:
  void Append(TimeNs start, TimeNs dur, std::string_view name);

  /// Those that end at `end` or earlier, in order of start. Throws Error (kCorrupt) for bytes that
  /// Append() does not make.
  std::vector<Event> EndingBy(TimeNs end) const;
  const std::vector<std::string>& Names() const { return names_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bytes_, names_);
  }

 private:
  std::string bytes_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // while events are appended
  TimeNs last_start_ = 0;
};

}  // namespace mpa::bottleneck
