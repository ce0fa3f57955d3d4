// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "clock.h"
#include "control_documents.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/io/json_document.h"

namespace mpa::raw {
namespace {

using io::Member;

Generation GenerationOf(std::int64_t platform) {
  switch (platform) {
    case 1:
    case 2:
    case 3:
    case 4:
      return Generation::kHwts;
    case 5:
    case 7:
    case 8:
    case 11:
      return Generation::kStars;
    case 15:
    case 16:
      return Generation::kStarsV6;
    default:
      return Generation::kUnknown;
  }
}

// Whether the task log is the one that chips of the generation write.
bool Writes(Generation generation, const DataFiles& records) {
  const bool hwts = records.Has("hwts.data") || records.Has("hwts.aiv_data");
  if (generation == Generation::kHwts) return hwts || !records.Has("stars_soc.data");
  return records.Has("stars_soc.data") || !hwts;
}

// "0x416,0x9" in the order of the counters; text that is not a number counts as event 0.
std::vector<std::uint32_t> Events(const std::string& text) {
  std::vector<std::uint32_t> events;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string word(Trim(std::string_view(text).substr(at, comma - at)));
    events.push_back(static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 16)));
    at = comma + 1;
  }
  return events;
}

// "OTHERS,DVPP" in the order of the values.
std::vector<std::string> Names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    names.emplace_back(Trim(std::string_view(text).substr(at, comma - at)));
    at = comma + 1;
  }
  return names;
}

// Counts members that differ between two documents but should be equal.
template <std::size_t kCount>
void CompareMembers(const Json& document, const Json& other, const std::string& name,
                    const std::string& other_name, const std::array<const char*, kCount>& keys,
                    const char* cost, Issues& issues) {
  if (document.is_null() || other.is_null()) return;
  for (const char* key : keys) {
    const std::string mine = TextOf(Member(document, key)), theirs = TextOf(Member(other, key));
    if (mine == theirs) continue;
    issues.Count(Say("{} and {} contradict each other in {}, one is damaged: {}; copy the"
                     " capture again",
                     name, other_name, key, Translated(cost)),
                 Say("'{}' and '{}'", mine, theirs));
  }
}

// The chip named by the first document that names a chip with such records.
std::int64_t PlatformOf(const SideDocuments& documents, const SideDocuments* other,
                        const DataFiles& records) {
  std::int64_t named = -1;
  for (const SideDocuments* side : {&documents, other}) {
    if (side == nullptr) continue;
    const std::int64_t platform = NumberOf(Member(side->info, "platform_version")).value_or(-1);
    const Generation generation = GenerationOf(platform);
    if (generation != Generation::kUnknown && Writes(generation, records)) return platform;
    if (named < 0) named = platform;
  }
  return named;
}

// The generation of a chip whose control files are lost.
Generation GenerationOf(const DataFiles& records) {
  if (records.Has("hwts.data") || records.Has("hwts.aiv_data")) return Generation::kHwts;
  return records.Has("stars_soc.data") ? Generation::kStars : Generation::kUnknown;
}

std::int64_t UsualHertz(Generation generation) {
  constexpr std::int64_t kStars = 50'000'000, kHwts = 100'000'000;
  if (generation == Generation::kStars) return kStars;
  return generation == Generation::kHwts ? kHwts : 0;
}

}  // namespace

Device DescribeDevice(std::int64_t id, const SideDocuments& documents, const SideDocuments* other,
                      const DataFiles& records, std::int64_t& hertz, Issues& issues) {
  constexpr std::array<const char*, 2> kOfChip = {"platform_version", "drvVersion"};
  constexpr std::array<const char*, 7> kSettings = {
      "profLevel",           "prof_level",  "ai_core_profiling_mode",
      "ai_core_metrics",     "aiv_metrics", "ai_core_profiling_events",
      "aiv_profiling_events"};
  const std::string info_name = documents.NameOf("info.json");
  if (other != nullptr) {
    CompareMembers(documents.info, other->info, info_name, other->NameOf("info.json"), kOfChip,
                   "the one that suits the records is taken", issues);
    CompareMembers(documents.sample, other->sample, documents.NameOf("sample.json"),
                   other->NameOf("sample.json"), kSettings, "counters may be wrong", issues);
  }
  const Json& card = FirstOf(Member(documents.info, "DeviceInfo"));
  const bool from_other = documents.sample.is_null() && other != nullptr;
  const Json& sample = from_other ? other->sample : documents.sample;
  const auto number = [&](const char* key) { return NumberOf(Member(card, key)).value_or(0); };
  const auto megahertz = [&](const char* key) {
    return HertzFromMegahertz(TextOf(Member(card, key))) / 1'000'000;
  };
  Device device;
  device.id = id;
  device.platform = PlatformOf(documents, other, records);
  device.generation = GenerationOf(device.platform);
  if (device.platform < 0) device.generation = GenerationOf(records);
  device.cube_cores = number("ai_core_num");
  device.vector_cores = number("aiv_num");
  device.cube_mhz = megahertz("aic_frequency");
  device.vector_mhz = megahertz("aiv_frequency");
  device.cube_metrics = TextOf(Member(sample, "ai_core_metrics"));
  device.vector_metrics = TextOf(Member(sample, "aiv_metrics"));
  device.cube_events = Events(TextOf(Member(sample, "ai_core_profiling_events")));
  device.vector_events = Events(TextOf(Member(sample, "aiv_profiling_events")));
  const bool info_of_other = documents.info.is_null() && other != nullptr;
  device.record_version = TextOf(Member(info_of_other ? other->info : documents.info, "version"));
  device.llc_mode = TextOf(Member(sample, "llc_profiling"));
  device.l2_events = Events(TextOf(Member(sample, "l2CacheTaskProfilingEvents")));
  device.qos_events = Names(TextOf(Member(sample, "qosEvents")));

  hertz = HertzFromMegahertz(TextOf(Member(card, "hwts_frequency")));
  if (hertz > 0) return device;
  hertz = UsualHertz(device.generation);
  if (documents.info.is_null()) return device;  // counted already
  issues.Count(Say("{} is damaged, it has no usable hwts_frequency: {}; copy the capture"
                   " again",
                   info_name,
                   Translated(hertz > 0 ? "the usual frequency of the chip is assumed"
                                        : "the work of the device is left out")),
               TextOf(Member(card, "hwts_frequency")));
  return device;
}

}  // namespace mpa::raw
