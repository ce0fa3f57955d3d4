// SPDX-License-Identifier: Apache-2.0
// Texts of the command line that the program takes apart itself.
#include <algorithm>
#include <string>
#include <vector>

#include "../../apps/msprof-analyze/command.h"
#include "../../apps/msprof-analyze/compare_config.h"
#include "fuzz/fuzzing.h"
#include "recipes/head_overhead/advice.h"

namespace mpa::test {
namespace {

void NameMap(std::string_view text) {
  Try("--op_name_map", [&] { ParseOpNameMap(text); });
}

void CompareConfig(std::string_view text) {
  Try("--compare_config", [&] { ParseCompareConfig(text, "--compare_config"); });
}

void Ranks(std::string_view text) {
  Try("--rank_list", [&] {
    const auto ranks = ParseRanks("--rank_list", std::string(text));
    if (ranks && (ranks->empty() || *ranks->begin() < 0)) Die("ranks that are none");
  });
}

void Step(std::string_view text) {
  for (const StepForm form : {StepForm::kDigits, StepForm::kNumberOrAll}) {
    Try("--step_id", [&] {
      const auto step = ParseStep("--step_id", std::string(text), form);
      if (step && *step < 0) Die("a step below 0");
    });
  }
}

void Memory(std::string_view text) {
  Try("--memory_limit", [&] {
    if (ParseMemory("--memory_limit", std::string(text)) <= 0) Die("no memory at all");
  });
}

void Thresholds(std::string_view text) {
  Try("", [&] {  // the option puts its name in front of errors
    const mpa::Thresholds thresholds = head::ReadThresholds(std::string(text));
    for (const Threshold* threshold : head::kThresholds) {
      if (!(thresholds[*threshold] >= 0)) Die("a threshold below 0");
    }
  });
}

// Arguments, one a line.
void Arguments(std::string_view text) {
  std::vector<std::string> words = {"msprof-analyze"};
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    words.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  std::vector<const char*> pointers;
  pointers.reserve(words.size());
  for (const std::string& word : words) pointers.push_back(word.c_str());
  NormalizeArguments(static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace

std::vector<Target> Targets() {
  return {{"op_name_map", {"{'aten::add': 'aten::add_', \"a\": 'b\\''}", "{}"}, NameMap},
          {"compare_config", {DefaultCompareConfig()}, CompareConfig},
          {"ranks", {"0,1,4-7", "all"}, Ranks},
          {"step", {"5", "-1"}, Step},
          {"memory", {"8G", "512m"}, Memory},
          {"thresholds", {"lookup_us=500,built_tensors=4"}, Thresholds},
          {"arguments", {"-d=a\n-bp\nb\n--base-step=3", "compare\n-d\nx"}, Arguments}};
}

}  // namespace mpa::test
