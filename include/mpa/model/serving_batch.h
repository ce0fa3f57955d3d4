// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpa {

/// What a step of a server does for its requests.
enum class ServingPhase : std::uint8_t {
  kPrefill,  ///< reads prompts
  kDecode,   ///< generates tokens
  kMixed,    ///< both
  kDummy,    ///< runs without requests, to keep in step with other engines
  kUnknown,
};
constexpr ServingPhase LastOf(ServingPhase) { return ServingPhase::kUnknown; }

/// "decode"
std::string_view NameOf(ServingPhase phase);

/// What one step of a server works on. Numbers: -1 is unknown.
struct ServingBatch {
  ServingPhase phase = ServingPhase::kUnknown;
  std::int64_t requests = -1;
  std::int64_t prompt_tokens = -1;  ///< that are read
  std::int64_t output_tokens = -1;  ///< that are generated, or verified where they were guessed
  std::int64_t graph_size = -1;     ///< requests for which the captured graph was made

  /// Takes the size of the graph of a step that decodes from the tokens that it computes.
  void SetGraph(std::int64_t tokens);
  /// All tokens; -1 where a part is unknown.
  std::int64_t Tokens() const;
  /// The part of the graph that computes for no request, in percent; empty where the graph is
  /// unknown.
  std::optional<double> Padding() const;

  friend bool operator==(const ServingBatch&, const ServingBatch&) = default;
};

/// Reads the name that a server gives a step; empty for other names. Known are those of
///   vLLM: execute_context_2(6144)_generation_3(3), in detail
///     execute_6147_context_2(sq6144sk7144sqsq..sqsk..)_generation_3(sq3sk6144sqsq..sqsk..),
///     and of older ones execute_new_2_cached_3;
///   SGLang: step[EXTEND bs=15 toks=15360], step[DECODE bs=32], step[MIXED bs=2 c=1 g=1 ..];
///   ATOM: prefill[bs=2 tok=14721 ..], decode[bs=117/128 tok=117 ..] (requests / graph).
std::optional<ServingBatch> ReadServingName(std::string_view name);

/// Steps are compared with those of the same size: of decoding the requests, or the size of the
/// graph; of the others the tokens, up to the next power of two. -1: unknown.
std::int64_t SizeOf(const ServingBatch& batch);
/// True for steps of one phase and size, and for those of which nothing is known.
bool AreAlike(const ServingBatch& a, const ServingBatch& b);
/// True for steps of about as much work: of one phase, with tokens that differ by a quarter at
/// most; and for those of which nothing is known.
bool AreComparable(const ServingBatch& a, const ServingBatch& b);
/// "32 requests", "graph of 128", "up to 16384 tokens"; empty where the size is unknown.
std::string SizeText(const ServingBatch& batch);
/// The same for people.
std::string SizeInWords(const ServingBatch& batch);

}  // namespace mpa
