// SPDX-License-Identifier: Apache-2.0
// What `check` looks at: the directory of a capture in which one file is broken.
#include "mpa/capture/survey.h"

#include "fuzz/fuzzing.h"
#include "mpa/pipeline/analyzer_checks.h"
#include "support/files.h"

namespace mpa::test {
namespace {

namespace fs = std::filesystem;

struct SurveyedFile {
  std::string name, seed;
};

void Look(const fs::path& directory) {
  const Survey survey = SurveyCaptures(directory, {.force = true});
  for (const RankFacts& facts : survey.ranks) {
    if (facts.path.empty()) Die("a rank without a path");
    for (const AnalyzerCheck& check : AllAnalyzerChecks()) {
      for (const Lack& lack : check.can_run(facts).lacks) {
        if (lack.reason.empty()) Die("a lack without a reason");
      }
    }
  }
}

// A target for each file of the capture; all but one stay whole.
std::vector<Target> TargetsOf(const std::string& capture, const std::vector<SurveyedFile>& files,
                              const Scratch& scratch) {
  const std::string folder = capture + "/" + capture + "_ascend_pt/";
  std::vector<Target> targets;
  for (const SurveyedFile& file : files) {
    scratch.Write(folder + file.name, file.seed);
    const auto look = [file, capture, folder, &scratch](std::string_view content) {
      scratch.Write(folder + file.name, content);
      Try(capture, [&] { Look(scratch.path() / capture); });
      scratch.Write(folder + file.name, file.seed);
    };
    targets.push_back({fs::path(file.name).filename().string(), {file.seed}, look});
  }
  return targets;
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  std::vector<SurveyedFile> text;
  for (const char* name : {"trace_view.json", "kernel_details.csv", "operator_memory.csv",
                           "memory_record.csv", "step_trace_time.csv", "communication.json"}) {
    const std::string file = std::string("ASCEND_PROFILER_OUTPUT/") + name;
    text.push_back({file, Captured("text_base_ascend_pt/" + file)});
  }
  for (const char* name : {"profiler_info_0.json", "profiler_metadata.json"}) {
    text.push_back({name, Captured(std::string("text_base_ascend_pt/") + name)});
  }
  const TempDir directory;
  const std::string database =
      ReadAll(BuildDatabase(directory / "small.db", Captured("toy_model_ascend_pt.sql")));
  std::vector<Target> targets = TargetsOf("text", text, scratch);
  for (const Target& target :
       TargetsOf("database",
                 {{"ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db", database},
                  {"profiler_config.json", Captured("text_base_ascend_pt/profiler_info_0.json")}},
                 scratch)) {
    targets.push_back(target);
  }
  targets.push_back({"gpu.json", {Captured("gpu_base.json")}, [](std::string_view content) {
                       scratch.Write("gpu/gpu.json", content);
                       Try("gpu", [] { Look(scratch.path() / "gpu/gpu.json"); });
                     }});
  return targets;
}

}  // namespace mpa::test
