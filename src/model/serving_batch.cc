// SPDX-License-Identifier: Apache-2.0
// The names that servers give their steps.
#include "mpa/model/serving_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "mpa/base/language.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

constexpr std::array<std::string_view, 5> kPhases = {"prefill", "decode", "mixed", "dummy",
                                                     "unknown"};

// Takes a name apart from its front.
class NameParts {
 public:
  explicit NameParts(std::string_view text) : rest_(text) {}

  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::int64_t Number() { return TakeNumber(rest_); }
  std::string_view Until(std::string_view ends) {
    const std::size_t end = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view part = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return part;
  }
  void Skip(std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// Tokens do not overflow where they are added.
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 4;

bool AreCounts(std::initializer_list<std::int64_t> numbers) {
  return std::ranges::all_of(numbers, [](std::int64_t n) { return n >= 0 && n <= kMax; });
}

ServingPhase PhaseOf(std::int64_t prompts, std::int64_t answers) {
  if (prompts > 0) return answers > 0 ? ServingPhase::kMixed : ServingPhase::kPrefill;
  return answers > 0 ? ServingPhase::kDecode : ServingPhase::kDummy;
}

// "(6144)", or "(sq6144sk..)" where the tokens that are computed come first.
std::int64_t BracketedTokens(NameParts& name) {
  if (!name.Take("(")) return -1;
  name.Take("sq");
  const std::int64_t tokens = name.Number();
  name.Until(")");
  return name.Take(")") ? tokens : -1;
}

std::optional<ServingBatch> ReadExecute(NameParts name) {
  if (name.Take("new_")) {
    const std::int64_t added = name.Number();
    if (!name.Take("_cached_")) return std::nullopt;
    const std::int64_t cached = name.Number();
    if (!AreCounts({added, cached})) return std::nullopt;
    return ServingBatch{.phase = PhaseOf(added, cached), .requests = added + cached};
  }
  if (!name.Take("context_")) {
    if (name.Number() < 0 || !name.Take("_context_")) return std::nullopt;
  }
  const std::int64_t prompts = name.Number(), prompt_tokens = BracketedTokens(name);
  if (!name.Take("_generation_")) return std::nullopt;
  const std::int64_t answers = name.Number(), output_tokens = BracketedTokens(name);
  if (!AreCounts({prompts, prompt_tokens, answers, output_tokens})) return std::nullopt;
  return ServingBatch{.phase = PhaseOf(prompts, answers),
                      .requests = prompts + answers,
                      .prompt_tokens = prompt_tokens,
                      .output_tokens = output_tokens};
}

// "bs=2 toks=14721 ..": the values of the keys that are asked for.
class KeyValues {
 public:
  explicit KeyValues(NameParts name) : name_(name) {}
  // -1: not there.
  std::int64_t operator[](std::string_view key) const {
    std::int64_t value = -1;
    Find(key, value);
    return value;
  }
  // What follows "bs=117/" as well.
  std::int64_t BehindSlash(std::string_view key) const {
    std::int64_t value = -1;
    NameParts behind = Find(key, value);
    return behind.Take("/") ? behind.Number() : -1;
  }

 private:
  NameParts Find(std::string_view key, std::int64_t& value) const {
    NameParts name = name_;
    while (!name.AtEnd()) {
      name.Skip(" ]");
      if (name.Until("= ]") == key && name.Take("=")) {
        value = name.Number();
        if (value > kMax) value = -1;
        return name;
      }
      name.Until(" ");
    }
    return name;
  }

  NameParts name_;
};

std::optional<ServingBatch> ReadSglang(NameParts name) {
  const std::string_view mode = name.Until(" ]");
  const KeyValues values(name);
  const std::int64_t requests = values["bs"];
  const std::int64_t prompt_tokens = std::max(values["toks"], values["c_sq"]);
  const std::int64_t output_tokens = values["g_sq"];
  if (mode == "IDLE") {
    return ServingBatch{
        .phase = ServingPhase::kDummy, .requests = 0, .prompt_tokens = 0, .output_tokens = 0};
  }
  if (requests < 0) return std::nullopt;
  ServingBatch batch{.requests = requests};
  if (mode == "EXTEND" || mode == "SPLIT_PREFILL") {
    batch.phase = ServingPhase::kPrefill;
    batch.prompt_tokens = prompt_tokens;
    batch.output_tokens = 0;
  } else if (mode == "DECODE" || mode == "TARGET_VERIFY") {
    batch.phase = ServingPhase::kDecode;
    batch.prompt_tokens = 0;
    // Without guessed tokens each request gets one.
    const bool one_each = output_tokens < 0 && mode == "DECODE";
    batch.output_tokens = one_each ? requests : output_tokens;
  } else if (mode == "MIXED") {
    batch.phase = ServingPhase::kMixed;
    batch.prompt_tokens = prompt_tokens;
    batch.output_tokens = output_tokens;
  }
  return batch;
}

std::optional<ServingBatch> ReadAtom(ServingPhase phase, NameParts name) {
  const KeyValues values(name);
  const std::int64_t requests = values["bs"], tokens = values["tok"];
  if (!AreCounts({requests, tokens})) return std::nullopt;
  const bool prefill = phase == ServingPhase::kPrefill;
  return ServingBatch{.phase = phase,
                      .requests = requests,
                      .prompt_tokens = prefill ? tokens : 0,
                      .output_tokens = prefill ? 0 : tokens,
                      .graph_size = values.BehindSlash("bs")};
}

}  // namespace

std::string_view NameOf(ServingPhase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

std::int64_t ServingBatch::Tokens() const {
  return prompt_tokens < 0 || output_tokens < 0 ? -1 : prompt_tokens + output_tokens;
}

void ServingBatch::SetGraph(std::int64_t tokens) {
  if (phase != ServingPhase::kDecode) return;
  const std::int64_t asked = output_tokens > 0 ? output_tokens : requests;
  if (asked <= 0 || tokens < asked || requests <= 0) return;
  // Of each request as many tokens as it has.
  graph_size = (tokens / asked) * requests + (tokens % asked) * requests / asked;
}

std::optional<double> ServingBatch::Padding() const {
  if (graph_size <= 0 || requests < 0 || requests > graph_size) return std::nullopt;
  return 100.0 * static_cast<double>(graph_size - requests) / static_cast<double>(graph_size);
}

std::optional<ServingBatch> ReadServingName(std::string_view name) {
  NameParts parts(name);
  if (parts.Take("execute_")) return ReadExecute(parts);
  if (parts.Take("step[")) return ReadSglang(parts);
  if (parts.Take("prefill[")) return ReadAtom(ServingPhase::kPrefill, parts);
  if (parts.Take("decode[")) return ReadAtom(ServingPhase::kDecode, parts);
  return std::nullopt;
}

std::int64_t SizeOf(const ServingBatch& batch) {
  if (batch.phase == ServingPhase::kDummy) return 0;
  if (batch.phase == ServingPhase::kDecode) {
    return batch.graph_size >= 0 ? batch.graph_size : batch.requests;
  }
  const std::int64_t tokens = batch.Tokens();
  if (tokens < 0) return -1;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(tokens)));
}

bool AreAlike(const ServingBatch& a, const ServingBatch& b) {
  return a.phase == b.phase && SizeOf(a) == SizeOf(b);
}

bool AreComparable(const ServingBatch& a, const ServingBatch& b) {
  if (a.phase != b.phase) return false;
  const auto work = [](const ServingBatch& batch) {
    return batch.Tokens() >= 0 ? batch.Tokens() : batch.requests;
  };
  const std::int64_t least = std::min(work(a), work(b)), most = std::max(work(a), work(b));
  return most - least <= least / 4 || least < 0;
}

std::string SizeText(const ServingBatch& batch) {
  const std::int64_t size = SizeOf(batch);
  if (size < 0 || batch.phase == ServingPhase::kDummy) return "";
  if (batch.phase != ServingPhase::kDecode) return fmt::format("up to {} tokens", size);
  if (batch.graph_size >= 0) return fmt::format("graph of {}", size);
  return fmt::format("{} request{}", size, size == 1 ? "" : "s");
}

std::string SizeInWords(const ServingBatch& batch) {
  const std::int64_t size = SizeOf(batch);
  if (size < 0 || batch.phase == ServingPhase::kDummy) return "";
  if (batch.phase != ServingPhase::kDecode) return Say("up to {} tokens", size);
  if (batch.graph_size >= 0) return Say("graph of {}", size);
  return Counted(size, "request");
}

}  // namespace mpa
