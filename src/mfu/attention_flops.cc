// SPDX-License-Identifier: Apache-2.0
// Operations of attention kernels.
#include <optional>
#include <vector>

#include "flops_families.h"
#include "mpa/base/text.h"

namespace mpa::flops {
namespace {

// One of query, key, value; of TND tensors `length` is that of all sequences.
struct Heads {
  std::int64_t batch = 0, heads = 0, length = 0, size = 0;
};

bool IsHiddenLayout(std::string_view layout) { return IsOneOf(layout, {"BSH", "SBH"}); }

// `heads` splits the hidden size of BSH and SBH; the other layouts say it themselves.
std::optional<Heads> ReadHeads(std::string_view layout, const Shape& shape, std::int64_t heads) {
  if (layout == "BNSD" && shape.size() == 4) return Heads{shape[0], shape[1], shape[2], shape[3]};
  if (layout == "BSND" && shape.size() == 4) return Heads{shape[0], shape[2], shape[1], shape[3]};
  if (layout == "TND" && shape.size() == 3) return Heads{1, shape[1], shape[0], shape[2]};
  if (IsHiddenLayout(layout) && shape.size() == 3 && heads > 0 && shape[2] % heads == 0) {
    const bool batch_first = layout == "BSH";
    return Heads{shape[batch_first ? 0 : 1], heads, shape[batch_first ? 1 : 0], shape[2] / heads};
  }
  return std::nullopt;
}

struct Qkv {
  Heads q, k, v;
};

struct QkvOrGap {
  Qkv qkv{};
  FlopsGap gap = FlopsGap::kNone;
};

QkvOrGap ReadQkv(std::string_view layout, const Shapes& inputs,
                 std::optional<std::int64_t> head_count) {
  std::int64_t q_heads = 1, kv_heads = 1;
  if (IsHiddenLayout(layout)) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (inputs[i].size() != 3) return {.gap = FlopsGap::kUnsupportedLayout};
    }
    const std::int64_t q_hidden = inputs[0][2], k_hidden = inputs[1][2];
    if (head_count) {
      q_heads = *head_count;
      if (q_heads <= 0 || q_hidden <= 0 || q_hidden % q_heads != 0) {
        return {.gap = FlopsGap::kMismatch};
      }
      // Queries and keys have heads of one size, so fewer keys are fewer heads.
      const std::int64_t size = q_hidden / q_heads;
      if (k_hidden < size || k_hidden % size != 0) return {.gap = FlopsGap::kMismatch};
      kv_heads = k_hidden / size;
    } else if (q_hidden != k_hidden) {
      return {.gap = FlopsGap::kNoHeadCount};
    }
    // Of equal hidden sizes the number of heads does not matter: heads x size is all that counts.
  }
  const auto q = ReadHeads(layout, inputs[0], q_heads);
  const auto k = ReadHeads(layout, inputs[1], kv_heads);
  const auto v = ReadHeads(layout, inputs[2], kv_heads);
  if (!q || !k || !v) return {.gap = FlopsGap::kUnsupportedLayout};
  const bool fits = q->batch == k->batch && k->batch == v->batch && q->size == k->size &&
                    k->length == v->length && k->heads == v->heads && k->heads > 0 &&
                    q->heads % k->heads == 0;
  if (!fits) return {.gap = FlopsGap::kMismatch};
  return {.qkv = {*q, *k, *v}};
}

// Twice the scores of one head (halves stay whole numbers) that the mask leaves to compute. A
// causal mask leaves a triangle, which counts as half its square; the triangle begins in the upper
// left corner (2) or ends in the lower right one (3).
std::optional<Checked> TwiceScores(std::int64_t mode, std::int64_t q, std::int64_t k) {
  const Checked all = Checked(2) * q * k;
  if (mode == 0) return all;
  if (mode == 2) return q >= k ? all - Checked(k) * k : Checked(q) * q;
  if (mode == 3) return q >= k ? Checked(k) * k : all - Checked(q) * q;
  return std::nullopt;  // all by a mask, bands, prefixes: not told by the arguments
}

// Lengths of sequences from where each ends; trailing zeros are not sequences. Empty when the ends
// decrease.
std::vector<std::int64_t> Lengths(const std::vector<std::int64_t>& ends) {
  std::vector<std::int64_t> lengths;
  std::size_t count = ends.size();
  while (count > 0 && ends[count - 1] == 0) --count;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (ends[i] < begin) return {};
    lengths.push_back(ends[i] - begin);
    begin = ends[i];
  }
  return lengths;
}

struct ScoresOrGap {
  Checked twice = 0;
  FlopsGap gap = FlopsGap::kNone;
};

ScoresOrGap SequenceScores(const AttentionArgs& args, const Qkv& qkv) {
  const std::vector<std::int64_t> q = Lengths(args.query_ends), k = Lengths(args.kv_ends);
  if (q.empty() || q.size() != k.size()) return {.gap = FlopsGap::kBadSequences};
  ScoresOrGap sum;
  std::int64_t q_end = 0, k_end = 0;  // no larger than the last of the ends
  for (std::size_t i = 0; i < q.size(); ++i) {
    // Zero, no mask, is what the operator takes when it is not told.
    const std::optional<Checked> scores = TwiceScores(args.sparse_mode.value_or(0), q[i], k[i]);
    if (!scores) return {.gap = FlopsGap::kUnsupportedMask};
    sum.twice = sum.twice + *scores;
    q_end += q[i];
    k_end += k[i];
  }
  if (q_end > qkv.q.length || k_end > qkv.k.length) return {.gap = FlopsGap::kBadSequences};
  return sum;
}

// Positions of optional inputs in the operator definitions of CANN ops-transformer.
std::optional<std::size_t> RopeInput(FlopsFamily family) {
  switch (family) {
    case FlopsFamily::kAttention:
      return 15;
    case FlopsFamily::kAttentionGrad:
      return 22;
    case FlopsFamily::kFusedInferAttention:
      return 24;
    default:
      return std::nullopt;
  }
}
std::optional<std::size_t> BlockTableInput(FlopsFamily family) {
  if (family == FlopsFamily::kFusedInferAttention) return 14;
  if (family == FlopsFamily::kIncreAttention) return 13;
  return std::nullopt;
}

}  // namespace

Flops Attention(const KernelTensors& tensors, FlopsFamily family, const AttentionArgs* args) {
  if (!tensors.HasInput(0) || !tensors.HasInput(1) || !tensors.HasInput(2)) {
    return Unknown(FlopsGap::kNoShapes);
  }
  if (args == nullptr) return Unknown(FlopsGap::kNoArguments);
  const auto block_table = BlockTableInput(family);
  if (block_table && tensors.HasInput(*block_table)) return Unknown(FlopsGap::kPagedCache);
  // BNSD_BSND: the layout of the inputs, then of the output.
  const std::string_view layout =
      std::string_view(args->layout).substr(0, std::string_view(args->layout).find('_'));
  const QkvOrGap read = ReadQkv(layout, tensors.inputs, args->heads);
  if (read.gap != FlopsGap::kNone) return Unknown(read.gap);
  const auto& [q, k, v] = read.qkv;

  Checked twice_scores = 0;
  if (layout == "TND") {
    const ScoresOrGap scores = SequenceScores(*args, read.qkv);
    if (scores.gap != FlopsGap::kNone) return Unknown(scores.gap);
    twice_scores = scores.twice;
  } else {
    if (!args->sparse_mode) return Unknown(FlopsGap::kNoArguments);
    const auto scores = TwiceScores(*args->sparse_mode, q.length, k.length);
    if (!scores) return Unknown(FlopsGap::kUnsupportedMask);
    twice_scores = *scores;
  }

  Checked qk_size = q.size;
  const auto rope = RopeInput(family);
  if (rope && tensors.HasInput(*rope)) {  // positions in values of their own, behind q and k
    const auto extra = ReadHeads(layout, tensors.inputs[*rope], q.heads);
    if (!extra || extra->heads != q.heads || extra->length != q.length) {
      return Unknown(FlopsGap::kMismatch);
    }
    qk_size = qk_size + extra->size;
  }
  const Checked sizes = family == FlopsFamily::kAttentionGrad
                            ? Checked(3) * qk_size + Checked(2) * v.size
                            : qk_size + v.size;
  return Counted(Checked(q.batch) * q.heads * twice_scores * sizes);
}

}  // namespace mpa::flops
