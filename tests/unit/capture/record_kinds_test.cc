// SPDX-License-Identifier: Apache-2.0
#include "mpa/capture/record_kinds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <tuple>

#include "raw/made_capture.h"

namespace mpa {
namespace {

using test::MadeCapture;

// The name of the kind of a file; empty: unknown.
std::string KindOf(RecordSide side, std::string_view file) {
  const RecordKind* kind = KindOfRecords(side, file);
  return kind == nullptr ? "" : std::string(kind->name);
}

std::string DocumentedUse(RecordUse use) {
  if (use == RecordUse::kRead) return "yes";
  return use == RecordUse::kNotRead ? "no" : "no (work is missing)";
}

std::string DocumentedSide(RecordSide side) {
  if (side == RecordSide::kHost) return "host";
  return side == RecordSide::kDevice ? "device" : "framework";
}

std::string DocumentedFiles(std::string_view files) {
  std::string text = "`";
  for (const char c : files) text += c == ' ' ? "` `" : std::string(1, c);
  return text + '`';
}

TEST(RecordKinds, TheDocumentationHasTheSameTable) {
  std::ifstream document(MPA_SOURCE_DIR "/docs/formats.md");
  std::string line;
  while (std::getline(document, line) && line != "### Kinds of records") continue;
  std::vector<std::string> documented, known;
  while (std::getline(document, line) && !line.starts_with("## ")) {
    if (line.starts_with("| ") && !line.starts_with("| Side")) documented.push_back(line);
  }
  for (const RecordKind& kind : AllRecordKinds()) {
    known.push_back(fmt::format("| {} | {} | {} | {} | {} |", DocumentedSide(kind.side), kind.name,
                                DocumentedFiles(kind.files), kind.holds, DocumentedUse(kind.use)));
  }
  EXPECT_EQ(documented, known);
}

// As the profiler's own parsers name them.
TEST(RecordKinds, FilesHaveTheirKinds) {
  using enum RecordSide;
  const std::vector<std::tuple<RecordSide, std::string, std::string>> files = {
      {kHost, "aging.compact.task_track.slice_0", "task_track"},
      {kHost, "unaging.compact.task_track_v2.slice_12", "task_track_v2"},
      {kHost, "unaging.api_event.data.slice_0", "api_event"},
      {kHost, "unaging.variable.capture_op_info.slice_0", "capture_op_info"},
      {kHost, "aging.additional.capture_op_info.slice_0", "capture_op_info"},
      {kHost, "aging.additional.ccu_group_info.slice_0", "ccu_task_info"},
      {kHost, "aging.compact.invalid.slice_0", "invalid"},
      {kHost, "host_cpu.data.slice_0", "host_cpu"},
      {kHost, "4711-CpuUsage.data.slice_0", "process_cpu"},
      {kHost, "host_platform_uncore.bin", "host_platform_uncore"},
      {kHost, "Framework.host.task_desc_info.0.slice_0", "framework_of_old"},
      {kHost, "runtime.host.runtime.0.slice_0", "runtime_of_old"},
      {kHost, "aging.compact.novelty.slice_0", ""},
      {kHost, "hbm.data.0.slice_0", ""},
      {kDevice, "hbm.data.0.slice_0", "hbm"},
      {kDevice, "hbm.data.5.dev.profiler_default_tag.0.slice_3", "hbm"},
      {kDevice, "stars_soc.data.0.slice_0", "stars_soc"},
      {kDevice, "stars_soc_profile.data.0.slice_0", "stars_soc_profile"},
      {kDevice, "hwts.aiv_data.0.slice_0", "hwts"},
      {kDevice, "instr.group_0_aic.0.slice_0", "biu_perf"},
      {kDevice, "instr.biu_perf_group0_aiv1.0.slice_0", "biu_perf"},
      {kDevice, "ccu1.instr.0.slice_0", "ccu_instr"},
      {kDevice, "ccu0.stat.0.slice_0", "ccu_stat"},
      {kDevice, "npu_mem.data.0.slice_0", "npu_mem"},
      {kDevice, "npu_mem.app.0.slice_0", "npu_mem_app"},
      {kDevice, "DATA_PREPROCESS.AICPU.0.slice_0", "data_preprocess_aicpu"},
      {kDevice, "DATA_PREPROCESS.dev.AICPU.0.slice_0", "data_preprocess_aicpu"},
      {kDevice, "DATA_PREPROCESS.DP.0.slice_0", "data_preprocess_dp"},
      {kDevice, "DATA_PREPROCESS.AICPU_MODEL.0.slice_0", "data_preprocess"},
      {kDevice, "Memory.data.0.slice_0", "device_mem"},
      {kDevice, "17-Memory.data.0.slice_0", "device_process_mem"},
      {kDevice, "hwts.log.data.45.dev.profiler_default_tag.0.slice_0", "hwts"},
      {kDevice, "hwts.log.data.45.0.1", "hwts"},
      {kDevice, "aicore.data.45.0.0", "aicore"},
      {kDevice, "aicore.data.45.0", ""},  // no slice
      {kDevice, "aicore.data.45.0.0.0", ""},
      {kDevice, "aicore.data", ""},
      {kDevice, "stars_soc.data.0.slice_x", ""},
      {kDevice, "stars_soc.metadata.0.slice_0", ""},
      {kDevice, "readme.txt", ""},
      {kFramework, "torch.op_range", "torch_op_range"},
      {kFramework, "torch.novelty", ""},
  };
  for (const auto& [side, file, kind] : files) EXPECT_EQ(KindOf(side, file), kind) << file;
}

TEST(RecordKinds, NoKindHidesBehindAnother) {
  for (const RecordKind& kind : AllRecordKinds()) {
    std::istringstream patterns{std::string(kind.files)};
    for (std::string file; patterns >> file;) {
      while (file.find('*') != std::string::npos) file.replace(file.find('*'), 1, ".0");
      if (kind.side != RecordSide::kFramework) file += ".slice_0";
      EXPECT_EQ(KindOf(kind.side, file), kind.name) << file;
    }
  }
}

TEST(RecordKinds, TheInventoryCountsWhatHoldsData) {
  MadeCapture capture;
  capture.Add("device_0/data/hbm.data.0.slice_0", std::string(24, 'a'));
  capture.Add("device_0/data/hbm.data.0.slice_1", std::string(48, 'a'));
  capture.Add("device_0/data/hbm.data.0.slice_1.done", "filesize: 48");
  capture.Add("device_0/data/llc.data.0.slice_0", "");
  capture.Add("device_0/data/novelty.data.0.slice_0", "a");
  const RecordInventory inventory = ListRecords(capture.Write());
  const auto entry = [&](std::string_view name) {
    return std::find_if(inventory.kinds.begin(), inventory.kinds.end(),
                        [&](const auto& one) { return one.kind->name == name; });
  };
  ASSERT_NE(entry("hbm"), inventory.kinds.end());
  EXPECT_EQ(entry("hbm")->files, 2);
  EXPECT_EQ(entry("hbm")->bytes, 72);
  EXPECT_EQ(entry("llc"), inventory.kinds.end());
  EXPECT_NE(entry("hash_dic"), inventory.kinds.end());
  ASSERT_EQ(inventory.unknown.size(), 1u);
  EXPECT_EQ(inventory.unknown[0].filename(), "novelty.data.0.slice_0");
}

}  // namespace
}  // namespace mpa
