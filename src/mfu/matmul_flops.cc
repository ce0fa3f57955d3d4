// SPDX-License-Identifier: Apache-2.0
// Operations of matrix products.
#include <algorithm>
#include <optional>
#include <span>

#include "flops_families.h"

namespace mpa::flops {
namespace {

// One side of a matrix; in tiled formats rounded up to whole tiles.
struct Side {
  std::int64_t size = 0, tile = 1;
};

struct Matrix {
  std::span<const std::int64_t> batch;
  Side rows{}, columns{};
};

bool IsTiled(std::string_view format) { return format == "NZ" || format.starts_with("FRACTAL_NZ"); }

// Formats that order elements otherwise than by rows and are no NZ. What else is written there
// (NCHW, NHWC) says nothing of a matrix.
bool IsForeign(std::string_view format) {
  return !IsTiled(format) && (format.find("FRACTAL") != std::string_view::npos ||
                              format.find("C0") != std::string_view::npos);
}

// FRACTAL_NZ: the columns in tiles, then the rows in tiles: (..., n1, m1, m0, n0). CANN
// development guide for Ascend C operators, "data layout formats".
std::optional<Matrix> AsMatrix(const Shape& shape, bool tiled) {
  const std::size_t rank = shape.size();
  const std::size_t inner = tiled ? 4 : 2;
  if (rank < inner) return std::nullopt;
  Matrix matrix{.batch = std::span(shape).first(rank - inner)};
  if (tiled) {
    matrix.rows = {shape[rank - 3] * shape[rank - 2], shape[rank - 2]};
    matrix.columns = {shape[rank - 4] * shape[rank - 1], shape[rank - 1]};
  } else {
    matrix.rows.size = shape[rank - 2];
    matrix.columns.size = shape[rank - 1];
  }
  return matrix;
}

Matrix Transposed(const Matrix& matrix) { return {matrix.batch, matrix.columns, matrix.rows}; }

// `size` rounded up to the tile of `side` is that side.
bool RoundsUpTo(std::int64_t size, const Side& side) {
  return side.size >= size && side.size - size < side.tile && side.size % side.tile == 0;
}
bool Same(const Side& a, const Side& b) {
  return a.size == b.size || RoundsUpTo(a.size, b) || RoundsUpTo(b.size, a);
}

bool Broadcasts(std::span<const std::int64_t> batch, std::span<const std::int64_t> to) {
  if (batch.size() > to.size()) return false;
  const auto tail = to.last(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i] != tail[i] && batch[i] != 1) return false;
  }
  return true;
}

// The smaller one is the true size where the other is rounded up.
std::int64_t Smaller(const Side& a, const Side& b) { return std::min(a.size, b.size); }

// 2 m n k per matrix of the output; a and b may be transposed.
Flops Product(const Matrix& a, const Matrix& b, const Matrix& out) {
  if (out.batch.size() != std::max(a.batch.size(), b.batch.size()) ||
      !Broadcasts(a.batch, out.batch) || !Broadcasts(b.batch, out.batch)) {
    return Unknown(FlopsGap::kMismatch);
  }
  for (const Matrix& left : {a, Transposed(a)}) {
    for (const Matrix& right : {b, Transposed(b)}) {
      if (!Same(left.rows, out.rows) || !Same(right.columns, out.columns) ||
          !Same(left.columns, right.rows)) {
        continue;
      }
      Checked count = 2;
      for (const std::int64_t size : out.batch) count = count * size;
      const auto padded = [](const Side& x, const Side& y) { return x.tile > 1 && y.tile > 1; };
      return Counted(count * Smaller(left.rows, out.rows) * Smaller(right.columns, out.columns) *
                         Smaller(left.columns, right.rows),
                     padded(left.rows, out.rows) || padded(right.columns, out.columns) ||
                         padded(left.columns, right.rows));
    }
  }
  return Unknown(FlopsGap::kMismatch);
}

bool HasFormula(const KernelTensors& tensors) {
  return tensors.HasInput(0) && tensors.HasInput(1) && tensors.HasOutput(0);
}

std::size_t OutputCount(const KernelTensors& tensors) {
  return static_cast<std::size_t>(
      std::ranges::count_if(tensors.outputs, [](const Shape& shape) { return !shape.empty(); }));
}

// The product of x (rows of k values) with a weight that has k on one side; `columns` is the other.
std::optional<Side> OtherSide(const Matrix& weight, std::int64_t k, std::int64_t columns) {
  const Side inner{.size = k}, outer{.size = columns};
  for (const Matrix& right : {weight, Transposed(weight)}) {
    if (Same(right.rows, inner) && Same(right.columns, outer)) return right.columns;
  }
  return std::nullopt;
}

std::optional<Matrix> InputMatrix(const KernelTensors& tensors, std::size_t i) {
  const std::string_view format = tensors.InputFormat(i);
  if (!tensors.HasInput(i) || IsForeign(format)) return std::nullopt;
  return AsMatrix(tensors.inputs[i], IsTiled(format));
}

// Every group has an output of its own; inputs are x_0 ... x_g-1, weight_0 ... weight_g-1.
Flops SeparateGroups(const KernelTensors& tensors, std::size_t groups) {
  Checked sum = 0;
  bool padded = false;
  for (std::size_t i = 0; i < groups; ++i) {
    const auto x = InputMatrix(tensors, i);
    const auto weight = InputMatrix(tensors, groups + i);
    const auto out = AsMatrix(tensors.outputs[i], false);
    if (!x || !weight || !out) return Unknown(FlopsGap::kUnsupportedLayout);
    const Flops flops = Product(*x, *weight, *out);
    if (!flops.Known()) return flops;
    sum = sum + flops.count;
    padded = padded || flops.padded;
  }
  return Counted(sum, padded);
}

// The groups are ranges of rows of one x; each has a weight and an output.
Flops SplitRows(const KernelTensors& tensors, std::size_t groups) {
  const Shape& x = tensors.inputs[0];
  if (x.size() != 2) return Unknown(FlopsGap::kUnsupportedLayout);
  Checked sum = 0, rows = 0;
  for (std::size_t i = 0; i < groups; ++i) {
    const Shape& out = tensors.outputs[i];
    const auto weight = InputMatrix(tensors, 1 + i);
    if (!weight || out.size() != 2) return Unknown(FlopsGap::kUnsupportedLayout);
    if (!OtherSide(*weight, x[1], out[1])) return Unknown(FlopsGap::kMismatch);
    sum = sum + Checked(2) * x[1] * out[0] * out[1];
    rows = rows + out[0];
  }
  if (!rows.Fits() || rows.Value() != x[0]) return Unknown(FlopsGap::kMismatch);
  return Counted(sum);
}

// Groups along k: x is (m, k) or (k, m), weight (k, n), and every group has an m x n of the output.
Flops SplitInner(const Shape& x, const Shape& weight, std::int64_t rows, std::int64_t columns) {
  const std::int64_t k = weight[0];
  const bool fits =
      weight[1] == columns && ((x[0] == k && x[1] == rows) || (x[0] == rows && x[1] == k));
  return fits ? Counted(Checked(2) * rows * columns * k) : Unknown(FlopsGap::kMismatch);
}

}  // namespace

Flops MatMul(const KernelTensors& tensors, bool matrices_only) {
  if (!HasFormula(tensors) || OutputCount(tensors) != 1) return Unknown(FlopsGap::kNoShapes);
  const Shape* shapes[] = {&tensors.inputs[0], &tensors.inputs[1], &tensors.outputs[0]};
  const std::string_view formats[] = {tensors.InputFormat(0), tensors.InputFormat(1),
                                      tensors.OutputFormat(0)};
  // Captures without formats: four dimensions of a product of two matrices are tiles.
  const bool all_tiled = matrices_only && std::ranges::all_of(shapes, [](const Shape* shape) {
                           return shape->size() == 4;
                         });
  std::optional<Matrix> matrices[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (IsForeign(formats[i])) return Unknown(FlopsGap::kUnsupportedLayout);
    matrices[i] = AsMatrix(*shapes[i], IsTiled(formats[i]) || (formats[i].empty() && all_tiled));
    if (!matrices[i]) return Unknown(FlopsGap::kUnsupportedLayout);
  }
  return Product(*matrices[0], *matrices[1], *matrices[2]);
}

Flops TransposeMatMul(const KernelTensors& tensors) {
  if (!HasFormula(tensors)) return Unknown(FlopsGap::kNoShapes);
  const Shape& x = tensors.inputs[0];
  const auto weight = InputMatrix(tensors, 1);
  if (x.size() != 3 || IsForeign(tensors.InputFormat(0)) || IsTiled(tensors.InputFormat(0)) ||
      !weight || weight->batch.size() != 1) {
    return Unknown(FlopsGap::kUnsupportedLayout);
  }
  const std::int64_t k = x[2], batch = weight->batch[0];
  if (x[0] != batch && x[1] != batch) return Unknown(FlopsGap::kMismatch);
  const std::int64_t rows = x[0] == batch ? x[1] : x[0];
  // The output's batch and columns may share a dimension; its elements are the same either way.
  const std::int64_t elements = Elements(tensors.outputs[0]);
  const Checked out_rows = Checked(batch) * rows;
  if (!out_rows.Fits()) return Unknown(FlopsGap::kTooLarge);
  if (out_rows.Value() == 0) return Counted(0);
  if (elements % out_rows.Value() != 0) return Unknown(FlopsGap::kMismatch);
  const std::int64_t columns = elements / out_rows.Value();
  if (!OtherSide(*weight, k, columns)) return Unknown(FlopsGap::kMismatch);
  return Counted(Checked(2) * elements * k);
}

Flops CollectiveMatMul(const KernelTensors& tensors) {
  if (!HasFormula(tensors)) return Unknown(FlopsGap::kNoShapes);
  const Shape& x = tensors.inputs[0];
  const Shape& out = tensors.outputs[0];
  const auto weight = InputMatrix(tensors, 1);
  if (x.size() < 2 || out.size() < 2 || !weight || !weight->batch.empty()) {
    return Unknown(FlopsGap::kUnsupportedLayout);
  }
  if (!OtherSide(*weight, x.back(), out.back())) return Unknown(FlopsGap::kMismatch);
  if (x.back() == 0 || out.back() == 0) return Counted(0);
  const std::int64_t in_rows = Elements(x) / x.back(), out_rows = Elements(out) / out.back();
  const std::int64_t fewer = std::min(in_rows, out_rows), more = std::max(in_rows, out_rows);
  if (fewer == 0 || more % fewer != 0) return Unknown(FlopsGap::kMismatch);
  return Counted(Checked(2) * more * x.back() * out.back());
}

Flops GroupedMatMul(const KernelTensors& tensors, FlopsFamily family) {
  if (!HasFormula(tensors)) return Unknown(FlopsGap::kNoShapes);
  const Shape& x = tensors.inputs[0];
  const Shape& out = tensors.outputs[0];
  if (family == FlopsFamily::kGroupedMatMulAdd) {
    const Shape& weight = tensors.inputs[1];
    if (x.size() != 2 || weight.size() != 2) return Unknown(FlopsGap::kUnsupportedLayout);
    return SplitInner(x, weight, x[0] == weight[0] ? x[1] : x[0], out.back());
  }
  const std::size_t groups = OutputCount(tensors);
  if (family == FlopsFamily::kGroupedMatMul && groups > 1) {
    if (groups != tensors.outputs.size()) return Unknown(FlopsGap::kNoShapes);
    const Flops separate = SeparateGroups(tensors, groups);
    return separate.gap == FlopsGap::kMismatch || separate.gap == FlopsGap::kUnsupportedLayout
               ? SplitRows(tensors, groups)
               : separate;
  }
  if (x.size() == 2 && out.size() == 3 && tensors.inputs[1].size() == 2) {
    return SplitInner(x, tensors.inputs[1], out[1], out[2]);
  }
  const auto weight = InputMatrix(tensors, 1);
  if (x.size() < 2 || out.size() < 2 || !weight) return Unknown(FlopsGap::kUnsupportedLayout);
  const Checked columns = Checked(out.back()) * (family == FlopsFamily::kGroupedSwiglu ? 2 : 1);
  if (!columns.Fits()) return Unknown(FlopsGap::kTooLarge);
  if (!OtherSide(*weight, x.back(), columns.Value())) return Unknown(FlopsGap::kMismatch);
  if (x.back() == 0 || out.back() == 0) return Counted(0);
  if (family != FlopsFamily::kGroupedRouting &&
      Elements(x) / x.back() != Elements(out) / out.back()) {
    return Unknown(FlopsGap::kMismatch);
  }
  return Counted(Checked(2) * Elements(x) * columns);
}

}  // namespace mpa::flops
