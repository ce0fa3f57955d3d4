// SPDX-License-Identifier: Apache-2.0
// Whether a kernel of attention that can do either reads prompts or decodes.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "mpa/base/text.h"
#include "mpa/measure/serving_kernels.h"

namespace mpa {
namespace {

using Tensor = std::vector<std::int64_t>;

Tensor TensorOf(std::string_view text) {
  Tensor tensor;
  for (const std::string_view piece : Split(text, ',')) {
    const std::string_view number = Trim(piece);
    std::int64_t dimension = -1;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), dimension);
    if (error != std::errc() || end != number.data() + number.size()) return {};
    tensor.push_back(dimension);
  }
  return tensor;
}

std::vector<Tensor> TensorsOf(std::string_view shapes) {
  while (!shapes.empty() && (shapes.front() == '"' || shapes.front() == ' '))
    shapes.remove_prefix(1);
  while (!shapes.empty() && (shapes.back() == '"' || shapes.back() == ' ')) shapes.remove_suffix(1);
  std::vector<Tensor> tensors;
  for (const std::string_view tensor : Split(shapes, ';')) tensors.push_back(TensorOf(tensor));
  return tensors;
}

// The rows of the table of blocks. It alone is a matrix of integers; -1: there is none.
std::int64_t RequestsOf(const std::vector<Tensor>& tensors, std::string_view types) {
  const std::vector<std::string_view> type_of = Split(types, ';');
  for (std::size_t i = 0; i < std::min(tensors.size(), type_of.size()); ++i) {
    if (tensors[i].size() == 2 && ContainsAny(type_of[i], {"INT32"})) return tensors[i][0];
  }
  return -1;
}

ServingPhase PhaseOfTokens(std::int64_t of_request) {
  return of_request == 1 ? ServingPhase::kDecode : ServingPhase::kPrefill;
}

}  // namespace

ServingPhase PhaseOfFusedAttention(std::string_view shapes, std::string_view types) {
  const std::vector<Tensor> tensors = TensorsOf(shapes);
  if (tensors.size() < 2) return ServingPhase::kUnknown;
  const Tensor &query = tensors[0], &key = tensors[1];
  const std::int64_t requests = RequestsOf(tensors, types);
  constexpr std::int64_t kLargestHead = 576;  // what a head takes; more is all heads together
  if (query.size() == 3 && query[2] <= kLargestHead) {  // tokens of all requests, heads, size
    if (requests > 0 && requests <= query[0])
      return requests == query[0] ? ServingPhase::kDecode : ServingPhase::kPrefill;
    // It attends to no more than itself.
    const bool to_itself = requests < 0 && key.size() == 3 && key[0] == query[0];
    return to_itself && query[0] > 1 ? ServingPhase::kPrefill : ServingPhase::kUnknown;
  }
  if (query.size() == 3) return PhaseOfTokens(query[1]);  // requests, tokens of each, heads * size
  if (query.size() != 4) return ServingPhase::kUnknown;
  // Requests, and tokens of each and heads in either order.
  if (query[1] == 1 || query[2] == 1) return ServingPhase::kDecode;
  return ServingPhase::kPrefill;
}

}  // namespace mpa
