// SPDX-License-Identifier: Apache-2.0
// Finds the known fusions in the kernels of a rank.
#include "fusion_chains.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/mfu/roofline.h"

namespace mpa {
namespace {

// So many kernels in a row may stand between two pieces: a conversion to and fro, and a copy.
constexpr std::size_t kMostBetween = 3;
// So much work of other streams is looked at between two pieces.
constexpr std::size_t kMostBeside = 64;

std::vector<std::int64_t> SizesOf(const Shapes& shapes) {
  std::vector<std::int64_t> sizes;
  for (const Shape& shape : shapes) {
    if (!shape.empty()) sizes.push_back(ElementsOf(shape));
  }
  return sizes;
}

}  // namespace

std::vector<bool> NeedCollective(const RankDiagnosis& part) {
  const auto& nodes = part.graph.nodes;
  std::vector<bool> waits(nodes.size(), false), needs(nodes.size(), false);
  const auto is = [&](std::uint32_t node, NodeKind kind) { return nodes[node].kind == kind; };
  for (const GraphEdge& edge : part.graph.edges) {
    if (is(edge.on, NodeKind::kLeave))
      (is(edge.node, NodeKind::kWait) ? waits : needs)[edge.node] = true;
  }
  for (const GraphEdge& edge : part.graph.edges) {
    if (waits[edge.on]) needs[edge.node] = true;
  }
  return needs;
}

KnownChains::KnownChains(const RankDiagnosis& part, RankIndex rank, const Thresholds& thresholds)
    : part_(part), nodes_(part.graph.nodes), rank_(rank), thresholds_(thresholds) {
  trains_ = std::ranges::any_of(
      nodes_, [](const GraphNode& node) { return node.in_optimizer || node.adds_gradients; });
  AddTensors();
  AddItems();
}

KnownChains::Tensors KnownChains::TensorsOf(const FusionRoles& roles, const Shapes& read,
                                            const Shapes& written) {
  Tensors tensors;
  tensors.read = SizesOf(read);
  tensors.written = SizesOf(written);
  if (!read.empty() && !read[0].empty()) tensors.last = read[0].back();
  tensors.is_scalar = !read.empty() && std::ranges::all_of(tensors.read, [](std::int64_t size) {
    return size <= 1;
  });
  if (tensors.read.size() > 1) {
    const auto [least, most] = std::ranges::minmax(tensors.read);
    tensors.adds_bias = HasRole(roles, "add") && least > 1 && least < most;
  }
  return tensors;
}

void KnownChains::AddTensors() {
  const auto text = [&](NameId name) -> const std::string& { return part_.names[name]; };
  if (part_.source != kGpuSource) {
    is_judged_ = !part_.kinds.empty();
    for (const KernelKind& kind : part_.kinds) {
      const FusionRoles& roles = roles_.emplace_back(RolesOfKernel(text(kind.type)));
      Tensors& tensors = tensors_.emplace_back(
          TensorsOf(roles, ParseShapes(text(kind.shapes)), ParseShapes(text(kind.outputs))));
      tensors.is_batched = IsBatchedProduct(text(kind.type));
      tensors.is_inference = ToLower(text(kind.type)).find("infer") != std::string::npos;
    }
    return;
  }
  is_judged_ = !part_.operators.rows.empty();
  for (const KernelOperators::Row& op : part_.operators.rows) {
    const FusionRoles& roles = roles_.emplace_back(RolesOfOperator(text(op.name)));
    Tensors& tensors =
        tensors_.emplace_back(TensorsOf(roles, ParseShapes(text(op.shapes)), Shapes()));
    // What they write is not recorded; most work element by element.
    static constexpr std::string_view kElementwise[] = {"bn",  "act",  "add",       "mul",
                                                        "div", "cast", "softmax",   "dropout",
                                                        "sub", "copy", "layer_norm"};
    const bool keeps_size = std::ranges::any_of(
        kElementwise, [&](std::string_view role) { return HasRole(roles, role); });
    if (keeps_size && !tensors.read.empty()) tensors.written = {std::ranges::max(tensors.read)};
    const Shapes shapes = ParseShapes(text(op.shapes));
    tensors.is_batched = HasRole(roles, "product") && shapes.size() > 1 && shapes[1].size() > 2;
  }
}

void KnownChains::AddItems() {
  const std::vector<bool> waits = NeedCollective(part_);
  const bool by_operator = part_.source == kGpuSource;
  std::map<std::int32_t, std::size_t> numbers;  // of streams
  std::vector<std::uint32_t> last_operator;     // by stream
  for (std::uint32_t i = 0; i < nodes_.size() && is_judged_; ++i) {
    const GraphNode& node = nodes_[i];
    if (node.kind != NodeKind::kKernel || node.step < 0) continue;
    const auto [found, is_new] = numbers.try_emplace(node.stream, streams_.size());
    if (is_new) {
      streams_.emplace_back();
      last_operator.push_back(KernelOperators::kNone);
    }
    std::vector<Item>& stream = streams_[found->second];
    const std::uint32_t what =
        by_operator ? part_.operators.of_node[i] : static_cast<std::uint32_t>(node.row);
    const bool is_known = what != KernelOperators::kNone;
    if (is_known && tensors_[what].is_scalar) continue;
    const bool goes_on =
        by_operator && is_known && what == last_operator[found->second] && !stream.empty();
    last_operator[found->second] = what;

    if (!goes_on) {
      Item& item = stream.emplace_back();
      if (is_known) item.roles = roles_[what];
      item.tensors = what;
      item.is_known = is_known;
      item.waits = waits[i];
      item.begin = node.start;
      item.step = node.step;
      by_begin_.push_back({node.start, {found->second, stream.size() - 1}});
    }
    Item& item = stream.back();
    item.updates = item.updates || node.in_optimizer;
    item.kernels.push_back(i);
    item.end = std::max(item.end, node.start + node.dur);
    item.time += node.dur;
  }
  std::ranges::sort(by_begin_);
}

const KnownChains::Tensors& KnownChains::Of(const Item& item) const {
  static const Tensors kUnknown;
  return item.tensors < tensors_.size() ? tensors_[item.tensors] : kUnknown;
}

bool KnownChains::Flows(const Item& from, const Item& to) const {
  const std::vector<std::int64_t>&written = Of(from).written, &read = Of(to).read;
  if (written.empty() || read.empty()) return true;
  // Views between them change shapes, not sizes, and run nothing.
  return std::ranges::any_of(
      written, [&](std::int64_t size) { return std::ranges::find(read, size) != read.end(); });
}

// Work of another stream between two kernels may be what really comes between them.
bool KnownChains::DependsElsewhere(const Item& before, const Item& next) const {
  if (streams_.size() < 2) return false;
  auto at = std::ranges::partition_point(by_begin_,
                                         [&](const auto& row) { return row.first < before.end; });
  for (std::size_t seen = 0; at != by_begin_.end() && at->first < next.begin; ++at, ++seen) {
    if (seen == kMostBeside) return true;
    const auto& [stream, position] = at->second;
    const Item& item = streams_[stream][position];
    const bool is_elsewhere = nodes_[item.kernels[0]].stream != nodes_[before.kernels[0]].stream;
    // The data flow between the two is known, so unknown work between them does not matter.
    const bool is_unknown = Of(item).read.empty() && Of(item).written.empty();
    const bool is_told = !Of(before).written.empty() && !Of(next).read.empty();
    if (is_elsewhere && item.end <= next.begin && !(is_unknown && is_told) && Flows(before, item) &&
        Flows(item, next))
      return true;
  }
  return false;
}

bool KnownChains::CanFollow(const std::vector<Item>& stream, const std::vector<Step>& steps,
                            std::size_t next) const {
  if (next >= stream.size() || !stream[next].is_known) return false;
  if (steps.empty()) return true;
  const Item &before = stream[steps.back().item], &item = stream[next];
  return item.step == before.step && !item.waits && Flows(before, item) &&
         !DependsElsewhere(before, item);
}

// An addition to a product or a convolution may be of anything: a bias is smaller than the sum.
bool KnownChains::IsBias(const FusionChain& chain, const Item& item) const {
  const bool asks = chain.size() == 2 && HasRole(chain[1].roles, "bias");
  return !asks || HasRole(item.roles, "bias") || tensors_[item.tensors].adds_bias;
}

// Puts the rest of the chain behind the steps, from the piece on; what was tried in vain is taken
// off again.
bool KnownChains::Extend(const FusionPattern& pattern, const FusionChain& chain, std::size_t piece,
                         std::size_t at, const std::vector<Item>& stream,
                         std::vector<Step>& steps) const {
  if (piece == chain.size()) return !steps.empty() && steps.back().piece != nullptr;
  const FusionItem& wanted = chain[piece];
  const bool follows = CanFollow(stream, steps, at);
  if (follows && (stream[at].roles & wanted.roles).any() &&
      (piece == 0 || IsBias(chain, stream[at]))) {
    steps.push_back({at, &wanted});
    if (Extend(pattern, chain, piece + 1, at + 1, stream, steps)) return true;
    steps.pop_back();
  }
  if (wanted.optional && Extend(pattern, chain, piece + 1, at, stream, steps)) return true;
  const std::size_t between = static_cast<std::size_t>(
      std::ranges::find_if(steps.rbegin(), steps.rend(),
                           [](const Step& step) { return step.piece != nullptr; }) -
      steps.rbegin());
  if (!follows || steps.empty() || between == kMostBetween ||
      BreakerOf(stream[at].roles) == nullptr)
    return false;
  steps.push_back({at, nullptr});
  if (Extend(pattern, chain, piece, at + 1, stream, steps)) return true;
  steps.pop_back();
  return false;
}

// A softmax over few elements gains little from attention in one kernel.
bool KnownChains::IsOfShortRows(const Match& match, const std::vector<Item>& stream) const {
  bool is_batched = false, is_short = false;
  for (const Step& step : match.steps) {
    const Tensors& tensors = tensors_[stream[step.item].tensors];
    is_batched = is_batched || tensors.is_batched;
    is_short = is_short || (HasRole(stream[step.item].roles, "softmax") && tensors.last > 0 &&
                            static_cast<double>(tensors.last) < thresholds_[kAttentionSequence]);
  }
  return is_batched && is_short;
}

bool KnownChains::IsWorthIt(const Match& match, const std::vector<Item>& stream) const {
  bool knows_shapes = true, updates = false;
  for (const Step& step : match.steps) {
    knows_shapes = knows_shapes && !Of(stream[step.item]).read.empty();
    updates = updates || stream[step.item].updates;
  }
  if (match.pattern->needs_shapes && !knows_shapes) return false;
  // What an optimizer computes element by element is a matter of op.optimizer.
  if (match.pattern->in_pieces && updates) return false;
  return !RunOf(match, stream).gone.empty();
}

KnownChains::Match KnownChains::BestAt(std::size_t at, const std::vector<Item>& stream) const {
  Match best;
  for (const FusionPattern& pattern : FusionPatterns()) {
    for (const FusionChain& chain : pattern.chains) {
      if ((stream[at].roles & chain[0].roles).none()) continue;
      Match match;
      match.pattern = &pattern;
      if (!Extend(pattern, chain, 0, at, stream, match.steps)) continue;
      for (const Step& step : match.steps) {
        const FusionRoles& roles = stream[step.item].roles;
        if (step.piece != nullptr) {
          ++match.pieces;
        } else if (!pattern.in_pieces || !HasRole(roles, "cast")) {
          ++match.between;
          if (match.breaker == nullptr) match.breaker = BreakerOf(roles);
        }
      }
      const bool is_better = match.pieces > best.pieces ||
                             (match.pieces == best.pieces && match.between < best.between);
      if (is_better && IsWorthIt(match, stream)) best = std::move(match);
    }
  }
  return best;
}

FusibleRun KnownChains::RunOf(const Match& match, const std::vector<Item>& stream) const {
  // Batch norm needs all of its input before it can go on, unless its statistics are known.
  const auto stays = [&](const Step& step) {
    const Item& item = stream[step.item];
    const FusionBreaker* breaker = BreakerOf(item.roles);
    if (step.piece == nullptr) return breaker != nullptr && !breaker->goes;
    return step.piece->stays ||
           (trains_ && HasRole(item.roles, "bn") && !tensors_[item.tensors].is_inference);
  };
  const Item* longest = nullptr;
  for (const Step& step : match.steps) {
    const Item& item = stream[step.item];
    if (step.piece != nullptr && (longest == nullptr || item.time > longest->time)) longest = &item;
  }
  FusibleRun run;
  run.rank = rank_;
  bool is_first = true;
  for (const Step& step : match.steps) {
    const Item& item = stream[step.item];
    run.kernels.insert(run.kernels.end(), item.kernels.begin(), item.kernels.end());
    if (stays(step)) continue;
    if (&item != longest) run.gone.insert(run.gone.end(), item.kernels.begin(), item.kernels.end());
    if (!is_first) run.joined.insert(run.joined.end(), item.kernels.begin(), item.kernels.end());
    is_first = false;
  }
  return run;
}

// Of a product, an activation and a multiplication the last two are SwiGLU in pieces.
bool KnownChains::IsRatherNext(const Match& match, const std::vector<Item>& stream) const {
  return std::any_of(match.steps.begin() + 1, match.steps.end(), [&](const Step& step) {
    const Match next = BestAt(step.item, stream);
    return next.pieces >= match.pieces && next.pattern->in_pieces &&
           next.steps.back().item > match.steps.back().item;
  });
}

std::vector<KnownChains::Found> KnownChains::Find() const {
  std::vector<Found> found;
  for (const std::vector<Item>& stream : streams_) {
    for (std::size_t at = 0; at < stream.size(); ++at) {
      if (stream[at].roles.none()) continue;
      const Match best = BestAt(at, stream);
      if (best.pieces == 0 || IsRatherNext(best, stream)) continue;
      found.push_back(
          {best.pattern, best.breaker, IsOfShortRows(best, stream), RunOf(best, stream)});
      at = best.steps.back().item;
    }
  }
  return found;
}

}  // namespace mpa
