// SPDX-License-Identifier: Apache-2.0
// The small documents of a gate: baselines and noise.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/gate.h"

namespace mpa {

namespace fs = std::filesystem;

bool IsBaselineFile(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  // A trace can be gigabytes and have the same ending. Documents have their members in alphabetical
  // order: "kind" stands before all that grows.
  std::string begin(4096, '\0');
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  begin.resize(std::fread(begin.data(), 1, begin.size(), file));
  (void)std::fclose(file);
  return begin.find(gate::kBaselineKind) != std::string::npos;
}

nlohmann::json ReadDocument(const fs::path& path) { return io::ReadJson(path); }

gate::Baseline ReadBaseline(const fs::path& path) {
  const nlohmann::json document = ReadDocument(path);
  return InContext(path.string(), [&] { return gate::BaselineFromJson(document); });
}

std::size_t WarmupOfBaseline(const fs::path& path) {
  if (!IsBaselineFile(path)) return 0;
  const gate::Facts facts = ReadBaseline(path).runs.front().facts;
  const auto warmup = facts.find("warmup");
  const auto steps = warmup == facts.end() ? std::nullopt : io::ParseInt(warmup->second);
  return static_cast<std::size_t>(std::max<std::int64_t>(steps.value_or(0), 0));
}

gate::NoiseFloors ReadNoise(const fs::path& path) {
  const nlohmann::json document = ReadDocument(path);
  return InContext(path.string(), [&] { return gate::NoiseFromJson(document); });
}

void WriteDocument(const nlohmann::json& document, const fs::path& path) {
  InContext(path.string(), [&] {
    io::PrepareOutputDirectory(fs::absolute(path).parent_path());
    constexpr int kIndent = 1;
    // Names of captures need not be UTF-8.
    const std::string text =
        document.dump(kIndent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    io::ReplaceText(path, PrintableJson(text));
  });
}

}  // namespace mpa
