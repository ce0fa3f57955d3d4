// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/rank_trace.h"

/// The allocations of a rank: when each was held, for which operator, and what for.
namespace mpa::recipes::memory_timeline {

/// What memory is for. The first eight are those of the page of memory that torch.profiler writes,
/// in its order: their numbers are those of its files.
enum class Category : std::uint8_t {
  kParameter,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown,
  kBefore,  ///< allocated before the capture; unknown in such files
  /// Of what was allocated before the capture, the part that is taken for this. In such files what
  /// it is taken for.
  kParameterEstimate,
  kStateEstimate,
  kGradientEstimate,
};
inline constexpr std::size_t kCategories =
    static_cast<std::size_t>(Category::kGradientEstimate) + 1;
constexpr Category LastOf(Category) { return Category::kGradientEstimate; }
/// The category of what the framework listed.
Category CategoryOf(TensorRole role);
/// "optimizer state"
std::string_view NameOf(Category category);

/// The end of an allocation that was not released.
inline constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

/// An allocation; times are those of the host.
struct Life {
  TimeNs begin = 0, end = kNever;
  std::int64_t bytes = 0;
  Category category = Category::kUnknown;
  bool of_runtime = false;  ///< CANN took it, not the allocator of the framework
  std::size_t row = 0;      ///< of the allocations
  std::int64_t op = -1;     ///< row of the operator that asked for it; -1: unknown
  std::int64_t outer = -1;  ///< the outermost operator around that one
  TimeNs asked = 0;         ///< when that operator asked
  TimeNs work_end = 0;      ///< of the queued work in which it was made; 0: in none
  bool Holds(TimeNs time) const { return begin <= time && time < end; }
};

/// The allocations in order of their begins, with their categories (see docs/recipes.md). Those
/// that were made before the capture are left out.
std::vector<Life> LivesOf(const OpTree& ops);

/// Names of who allocated, for people.
struct Holder {
  std::string op{};      ///< as the capture lists it, "aten::empty_strided"
  std::string within{};  ///< the outermost operator around it, "aten::to"; empty: unknown
  std::string site{};    ///< "train.py:90"; empty: unknown
  Category category{};

  friend auto operator<=>(const Holder&, const Holder&) = default;
};

/// Finds them; a backward operator has the line of its forward operator. Refers to the operators.
class HolderNames {
 public:
  explicit HolderNames(const OpTree& ops);
  ~HolderNames();
  HolderNames(const HolderNames&) = delete;
  HolderNames& operator=(const HolderNames&) = delete;
  Holder Of(const Life& life) const;

 private:
  struct Sites;
  std::string SiteOf(const Life& life) const;

  const OpTree& ops_;
  std::unique_ptr<Sites> sites_;
};

}  // namespace mpa::recipes::memory_timeline
