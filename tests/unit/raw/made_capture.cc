// SPDX-License-Identifier: Apache-2.0
#include "raw/made_capture.h"

#include <fmt/format.h>

namespace mpa::test {
namespace {

std::string HostFile(std::string_view stem, bool aging = true) {
  return fmt::format("host/data/{}.{}.slice_0", aging ? "aging" : "unaging", stem);
}

std::string Stars(unsigned function, unsigned type, unsigned stream, unsigned task,
                  std::uint64_t count, unsigned context) {
  std::string bytes(64, '\0');
  Put(bytes, 0, static_cast<std::uint16_t>(function));
  Put(bytes, 2, std::uint16_t{0x6BD3});
  Put(bytes, 4, static_cast<std::uint16_t>(stream));
  Put(bytes, 6, static_cast<std::uint16_t>(task));
  Put(bytes, 8, count);
  Put(bytes, 16, static_cast<std::uint8_t>(type));
  Put(bytes, 18, static_cast<std::uint16_t>(context));
  return bytes;
}

}  // namespace

MadeCapture::MadeCapture() {
  const std::string info =
      R"({"platform_version": "5", "drvVersion": 467733, "pid": "42", "pid_name": "python3",
          "hostname": "node", "cannVersion": "8.3", "rank_id": 3,
          "CPU": [{"Frequency": ""}],
          "DeviceInfo": [{"ai_core_num": 24, "aiv_num": 48, "hwts_frequency": "50",
                          "aic_frequency": "1800", "aiv_frequency": "1800"}]})";
  const std::string sample = R"({"profLevel": "l1", "ai_core_metrics": "PipeUtilization",
                                 "ai_core_profiling_events": "0x8,0xa"})";
  const std::string start =
      R"({"clockMonotonicRaw": "0", "collectionTimeBegin": "1735689600000000"})";
  files_["host/info.json"] = files_["device_0/info.json.0"] = info;
  files_["host/sample.json"] = files_["device_0/sample.json"] = sample;
  files_["host/start_info"] = files_["device_0/start_info.0"] = start;
  files_["host/end_info"] = files_["device_0/end_info.0"] =
      R"({"clockMonotonicRaw": "10000000000", "collectionTimeEnd": "1735689610000000"})";
  const std::string log = "clock_monotonic_raw: 0\ncntvct: 0\ncntvct_diff: 0\n";
  files_["host/host_start.log"] = "[Host]\n" + log;
  files_["device_0/host_start.log.0"] = "[Device0]\n" + log;
  files_["device_0/dev_start.log.0"] = log;
  files_["host/data/unaging.additional.type_info_dic.slice_0"] =
      "20000_1:aclnnAdd\n10000_5:launch\n5000_0:KERNEL_AICORE\n5000_66:KERNEL_AIVEC\n"
      "5000_108:KERNEL_MIX_AIC\n5000_5:MEMCPY_ASYNC\n5000_2:EVENT_RECORD\n5500_65537:master\n";
  files_["host/data/unaging.additional.hash_dic.slice_0"] =
      "100:aclnnAdd_Add_Add\n101:Add\n102:te_add\n103:aclnnMix_Mix_Mix\n104:Mix\n200:default\n";
}

std::string MadeCapture::Record(std::size_t size, unsigned level, unsigned type, std::uint64_t time,
                                unsigned length, unsigned thread) {
  std::string bytes(size, '\0');
  Put(bytes, 0, std::uint16_t{0x5A5A});
  Put(bytes, 2, static_cast<std::uint16_t>(level));
  Put(bytes, 4, static_cast<std::uint32_t>(type));
  Put(bytes, 8, static_cast<std::uint32_t>(thread));
  Put(bytes, 12, static_cast<std::uint32_t>(length));
  Put(bytes, 16, time);
  return bytes;
}

void MadeCapture::Call(unsigned level, unsigned type, std::uint64_t begin, std::uint64_t end,
                       std::uint64_t item, unsigned thread) {
  std::string bytes = Record(40, level, type, begin, 0, thread);
  Put(bytes, 24, end);
  Put(bytes, 32, item);
  Add(HostFile("api_event.data"), bytes);
}

void MadeCapture::Launch(std::uint64_t time, unsigned stream, std::uint32_t task, unsigned type,
                         std::uint64_t function, unsigned blocks, unsigned ratio) {
  std::string bytes = Record(64, 5000, 802, time, 40);
  Put(bytes, 26, static_cast<std::uint16_t>(stream));
  Put(bytes, 28, task);
  Put(bytes, 32, std::uint64_t{type});
  Put(bytes, 40, function);
  Put(bytes, 48, static_cast<std::uint16_t>(blocks));
  Put(bytes, 52, static_cast<std::uint8_t>(ratio));
  Add(HostFile("compact.task_track"), bytes);
}

void MadeCapture::Node(std::uint64_t time, std::uint64_t name, unsigned core, std::uint64_t op_type,
                       unsigned blocks, bool hf32, bool aging) {
  std::string bytes = Record(64, 10000, 0, time, 28);
  Put(bytes, 24, name);
  Put(bytes, 32, static_cast<std::uint32_t>(core));
  Put(bytes, 36, op_type);
  Put(bytes, 44, static_cast<std::uint32_t>(blocks));
  Put(bytes, 48, std::uint32_t{hf32});
  Add(HostFile("compact.node_basic_info", aging), bytes);
}

void MadeCapture::Tensors(std::uint64_t time, std::uint64_t name,
                          const std::vector<Tensor>& tensors) {
  std::string bytes = Record(256, 10000, 1, time, 232);
  Put(bytes, 24, name);
  Put(bytes, 32, static_cast<std::uint32_t>(tensors.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t at = 36 + 44 * i;
    Put(bytes, at, std::uint32_t{tensors[i].output});
    Put(bytes, at + 4, tensors[i].format);
    Put(bytes, at + 8, tensors[i].type);
    for (std::size_t d = 0; d < tensors[i].shape.size(); ++d) {
      Put(bytes, at + 12 + 4 * d, tensors[i].shape[d]);
    }
  }
  Add(HostFile("additional.tensor_info"), bytes);
}

void MadeCapture::Contexts(std::uint64_t time, std::uint64_t name,
                           const std::vector<std::uint32_t>& ids) {
  std::string bytes = Record(256, 10000, 4, time, 16);
  Put(bytes, 24, name);
  Put(bytes, 32, static_cast<std::uint32_t>(ids.size()));
  for (std::size_t i = 0; i < ids.size(); ++i) Put(bytes, 36 + 4 * i, ids[i]);
  Add(HostFile("additional.context_id_info"), bytes);
}

void MadeCapture::Task(unsigned stream, unsigned task, unsigned type, std::uint64_t start,
                       std::uint64_t end) {
  Add("device_0/data/stars_soc.data.0.slice_0", Stars(0 | type << 10, 0, stream, task, start, 0) +
                                                    Stars(1 | type << 10, 0, stream, task, end, 0));
}

void MadeCapture::Context(unsigned stream, unsigned task, unsigned context, unsigned type,
                          std::uint64_t start, std::uint64_t end) {
  Add("device_0/data/stars_soc.data.0.slice_0",
      Stars(0b100010, type, stream, task, start, context) +
          Stars(0b100011, type, stream, task, end, context));
}

const std::filesystem::path& MadeCapture::Write() {
  for (const auto& [name, bytes] : files_) directory_.Write(name, bytes);
  return directory_.path();
}

}  // namespace mpa::test
