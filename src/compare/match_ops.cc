// SPDX-License-Identifier: Apache-2.0
// Which operators of two captures belong together.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "mpa/compare/sequence_matching.h"
#include "op_groups.h"

namespace mpa {
namespace {

using Ops = std::vector<std::uint32_t>;

// "[[32, 3], [], 4]" as NPU captures write it: "32,3;\r\n;\r\n".
std::string NpuShapes(std::string_view shapes) {
  if (!shapes.starts_with('[')) return std::string(shapes);
  std::string text;
  int depth = 0;
  for (const char c : shapes.substr(1)) {
    if (c == '[') {
      ++depth;
    } else if (c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      text += ";\r\n";
    } else if (c != ' ' && depth > 0) {
      text += c;
    }
  }
  return text;
}

// Numbers for the texts by which operators match, the same on both sides.
class Keys {
 public:
  explicit Keys(const CompareOptions& options) : options_(options) {}

  // The key of an operator.
  std::uint32_t Of(const OpTree& tree, std::uint32_t op) {
    const RankTrace& trace = tree.trace();
    const StringId name = trace.host_ops.name[op];
    const StringId shapes = options_.match_shapes ? trace.host_ops.shapes[op] : StringId::kEmpty;
    const std::uint64_t both =
        (std::uint64_t{Index(name)} << 32) | static_cast<std::uint64_t>(Index(shapes));
    const auto [found, is_new] = known_[&trace].try_emplace(both, 0);
    if (is_new) found->second = Number(trace, name, shapes);
    return found->second;
  }

 private:
  std::uint32_t Number(const RankTrace& trace, StringId name, StringId shapes) {
    std::string text(trace.strings.View(name));
    const auto mapped = options_.op_names.find(text);
    if (mapped != options_.op_names.end()) text = mapped->second;
    if (options_.match_shapes) text += NpuShapes(trace.strings.View(shapes));
    return numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }

  const CompareOptions& options_;
  std::unordered_map<const RankTrace*, std::unordered_map<std::uint64_t, std::uint32_t>> known_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

class OpMatcher {
 public:
  OpMatcher(const OpTree& base, const OpTree& comparison, const CompareOptions& options)
      : base_(base), comparison_(comparison), options_(options), keys_(options) {}

  std::vector<OpPair> Run() {
    const Ops& base = base_.Top();
    const Ops& comparison = comparison_.Top();
    if (!options_.details) return Alone(base, comparison);
    std::vector<OpPair> pairs;
    if (base_.trace().backward_tid != -1 && comparison_.trace().backward_tid != -1) {
      MatchSegments(Segments(base_), Segments(comparison_), pairs);
    } else {
      Match(base, comparison, pairs);
    }
    if (options_.max_kernels > 0) pairs = Open(std::move(pairs));
    return pairs;
  }

 private:
  struct Segment {
    bool backward = false;
    Ops ops;
  };

  static std::vector<OpPair> Alone(std::span<const std::uint32_t> base,
                                   std::span<const std::uint32_t> comparison) {
    std::vector<OpPair> pairs;
    for (const std::uint32_t op : base) pairs.push_back({op, std::nullopt});
    for (const std::uint32_t op : comparison) pairs.push_back({std::nullopt, op});
    return pairs;
  }

  void Match(std::span<const std::uint32_t> base, std::span<const std::uint32_t> comparison,
             std::vector<OpPair>& pairs) {
    std::vector<std::uint32_t> base_keys, comparison_keys;
    for (const std::uint32_t op : base) base_keys.push_back(keys_.Of(base_, op));
    for (const std::uint32_t op : comparison) comparison_keys.push_back(keys_.Of(comparison_, op));
    for (const AlignedPair& pair : AlignSequences(base_keys, comparison_keys)) {
      OpPair ops;
      if (pair.base) ops.base = base[*pair.base];
      if (pair.comparison) ops.comparison = comparison[*pair.comparison];
      pairs.push_back(ops);
    }
  }

  // The top operators cut where the run changes between the thread of the backward pass and others.
  static std::vector<Segment> Segments(const OpTree& tree) {
    const RankTrace& trace = tree.trace();
    std::vector<Segment> segments;
    for (const std::uint32_t op : tree.Top()) {
      const std::int32_t track = trace.host_ops.track[op];
      const bool backward =
          track >= 0 && trace.tracks.tid[static_cast<std::size_t>(track)] == trace.backward_tid;
      if (segments.empty() || segments.back().backward != backward) {
        segments.push_back({backward, {}});
      }
      segments.back().ops.push_back(op);
    }
    return segments;
  }

  // Segments match by their position; where the sides begin differently, the one with more
  // segments has its first for itself.
  void MatchSegments(const std::vector<Segment>& base, const std::vector<Segment>& comparison,
                     std::vector<OpPair>& pairs) {
    std::size_t b = 0;
    std::size_t c = 0;
    if (!base.empty() && !comparison.empty() && base[0].backward != comparison[0].backward) {
      (base.size() > comparison.size() ? b : c) = 1;
      if (b == 1) Match(base[0].ops, {}, pairs);
      if (c == 1) Match({}, comparison[0].ops, pairs);
    }
    for (; b < base.size() || c < comparison.size(); ++b, ++c) {
      const auto ops = [](const std::vector<Segment>& side, std::size_t at) {
        return at < side.size() ? std::span<const std::uint32_t>(side[at].ops)
                                : std::span<const std::uint32_t>();
      };
      Match(ops(base, b), ops(comparison, c), pairs);
    }
  }

  bool IsToOpen(const OpPair& pair) const {
    return pair.base && pair.comparison && !base_.Children(*pair.base).empty() &&
           !comparison_.Children(*pair.comparison).empty() &&
           std::max(base_.WorkCount(*pair.base), comparison_.WorkCount(*pair.comparison)) >
               options_.max_kernels;
  }

  // Replaces pairs with many kernels by the pairs of their children, and those likewise.
  std::vector<OpPair> Open(std::vector<OpPair> pairs) {
    std::vector<OpPair> opened;
    std::vector<OpPair> open(pairs.rbegin(), pairs.rend());  // the next one last
    while (!open.empty()) {
      const OpPair pair = open.back();
      open.pop_back();
      if (!IsToOpen(pair)) {
        opened.push_back(pair);
        continue;
      }
      std::vector<OpPair> children;
      Match(base_.Children(*pair.base), comparison_.Children(*pair.comparison), children);
      open.insert(open.end(), children.rbegin(), children.rend());
    }
    return opened;
  }

  const OpTree& base_;
  const OpTree& comparison_;
  const CompareOptions& options_;
  Keys keys_;
};

}  // namespace

std::vector<OpPair> MatchOps(const OpTree& base, const OpTree& comparison,
                             const CompareOptions& options) {
  return OpMatcher(base, comparison, options).Run();
}

}  // namespace mpa
