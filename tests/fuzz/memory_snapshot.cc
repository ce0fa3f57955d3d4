// SPDX-License-Identifier: Apache-2.0
// Memory snapshots: instructions of pickles, and the records that they make.
#include "fuzz/analysed_rank.h"
#include "fuzz/fuzzing.h"
#include "support/pickling.h"
#include "support/reading.h"

namespace mpa::test {
namespace {

using Json = nlohmann::ordered_json;

// A segment that grew, with two blocks, and what led to it; the oldest of it is lost.
Json Snapshot() {
  const Json frames = {{{"filename", "/me/train.py"}, {"line", 12}, {"name", "step"}},
                       {{"filename", "/me/train.py"}, {"line", 90}, {"name", "main"}}};
  const auto action = [&](const char* name, std::int64_t address, std::int64_t size) {
    return Json{{"action", name}, {name == std::string("oom") ? "device_free" : "addr", address},
                {"size", size},   {"stream", 0},
                {"time_us", 17},  {"frames", frames}};
  };
  const Json segment = {{"device", 0},
                        {"address", 1 << 20},
                        {"total_size", 8192},
                        {"allocated_size", 512},
                        {"stream", 0},
                        {"segment_type", "large"},
                        {"is_expandable", true},
                        {"blocks",
                         {{{"size", 512},
                           {"requested_size", 500},
                           {"address", 1 << 20},
                           {"state", "active_allocated"}},
                          {{"size", 7680}, {"state", "inactive"}}}}};
  return {{"segments", Json::array({segment})},
          {"device_traces",
           Json::array({Json::array(
               {action("segment_map", 1 << 20, 8192), action("alloc", (1 << 20) + 512, 100),
                action("oom", 77, 9000), action("free_requested", (1 << 20) + 512, 100),
                action("free_completed", (1 << 20) + 512, 100), action("alloc", 1 << 20, 500)})})},
          {"allocator_settings", {{"max_split_size", -1}}}};
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  const Json whole = Snapshot();
  const auto read = [](std::string_view content) {
    RankTrace trace;
    const auto path = scratch.Write("snapshot.pkl", content);
    if (Try("snapshot.pkl", [&] { ReadInto(trace, FileKind::kMemorySnapshot, path); }))
      AnalyseRank(trace, static_cast<unsigned>(content.size()));
  };
  return {{"snapshot.pkl", {Pickled(whole), Pickled(whole["segments"])}, read}};
}

}  // namespace mpa::test
