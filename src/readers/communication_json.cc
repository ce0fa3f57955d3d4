// SPDX-License-Identifier: Apache-2.0
// communication.json: how much each step's collectives moved, and how fast.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "mpa/io/json_document.h"
#include "mpa/readers/reader.h"
#include "step_name.h"

namespace mpa::readers {
namespace {

using Json = nlohmann::json;

using io::Member;

// A member in units of `unit`; 0 for anything that is no sensible number: what is beyond a petabyte
// or 11 days would overflow the sums.
std::int64_t Scaled(const Json& object, const char* key, double unit, Issues& issues) {
  const Json& value = Member(object, key);
  if (value.is_null() || value == "N/A") return 0;
  const double scaled = value.is_number() ? value.get<double>() * unit : -1;
  constexpr double kMost = 1e15;
  if (scaled >= 0 && scaled <= kMost) return std::llround(scaled);
  issues.Count("invalid traffic, taken as 0", key);
  return 0;
}

void ReadTransfers(const CaptureFile& file, const ReadRequest&, RankTrace& trace) {
  const Json document = io::ReadJson(file.path);
  if (!document.is_object()) return;
  for (const auto& [key, groups] : document.items()) {
    const Json& bandwidth = Member(Member(Member(groups, "collective"), "Total Op Info"),
                                   "Communication Bandwidth Info");
    const std::int32_t step = StepOfName(key);
    const auto add = [&](Transport transport, const char* name) {
      const Json& info = Member(bandwidth, name);
      if (!info.is_object()) return;
      trace.transfers.Append(
          {.step = step,
           .transport = transport,
           .bytes = Scaled(info, "Transit Size(MB)", 1e6, trace.issues),  // decimal megabytes
           .time = Scaled(info, "Transit Time(ms)", 1e6, trace.issues)});
    };
    add(Transport::kRdma, "RDMA");
    add(Transport::kSdma, "SDMA");
  }
}

}  // namespace

Reader CommunicationJson() {
  return {"communication.json", FileKind::kCommunication, Tables::kTransfers, ReadTransfers};
}

}  // namespace mpa::readers
