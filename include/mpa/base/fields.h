// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>

/// The fields of a plain struct without naming them again: its declaration is the only list.
namespace mpa {
namespace fields {

/// Stands for a value of any type while fields are counted.
struct Anything {
  template <typename T>
  operator T() const;  // never defined
};

template <typename T>
inline constexpr bool kIsArray = false;
template <typename T, std::size_t kSize>
inline constexpr bool kIsArray<std::array<T, kSize>> = true;

template <typename T, typename... Values>
constexpr std::size_t Count() {
  if constexpr (requires { T{Values()..., Anything()}; }) {
    return Count<T, Values..., Anything>();
  } else {
    return sizeof...(Values);
  }
}

}  // namespace fields

/// A struct that FieldsOf() takes apart: all of its members are public, none is an array of C, and
/// it has no base class (which would count as a field).
template <typename T>
concept PlainStruct = std::is_class_v<T> && std::is_aggregate_v<T> && !fields::kIsArray<T>;

template <PlainStruct T>
inline constexpr std::size_t kFields = fields::Count<T>();

/// What `visit` makes of all fields of `record`, in the order of their declaration; at most 44.
template <typename T, typename Visitor>
requires PlainStruct<std::remove_const_t<T>>
constexpr decltype(auto) VisitFields(T& record, Visitor&& visit) {
  constexpr std::size_t kCount = kFields<std::remove_const_t<T>>;
  static_assert(kCount >= 1 && kCount <= 44, "FieldsOf: at most 44 fields");
#define MPA_FIELDS(count, ...)       \
  if constexpr (kCount == (count)) { \
    auto& [__VA_ARGS__] = record;    \
    return visit(__VA_ARGS__);       \
  } else
  // clang-format off
  MPA_FIELDS(1, a)
  MPA_FIELDS(2, a, b)
  MPA_FIELDS(3, a, b, c)
  MPA_FIELDS(4, a, b, c, d)
  MPA_FIELDS(5, a, b, c, d, e)
  MPA_FIELDS(6, a, b, c, d, e, f)
  MPA_FIELDS(7, a, b, c, d, e, f, g)
  MPA_FIELDS(8, a, b, c, d, e, f, g, h)
  MPA_FIELDS(9, a, b, c, d, e, f, g, h, i)
  MPA_FIELDS(10, a, b, c, d, e, f, g, h, i, j)
  MPA_FIELDS(11, a, b, c, d, e, f, g, h, i, j, k)
  MPA_FIELDS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  MPA_FIELDS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  MPA_FIELDS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  MPA_FIELDS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  MPA_FIELDS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  MPA_FIELDS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  MPA_FIELDS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  MPA_FIELDS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  MPA_FIELDS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  MPA_FIELDS(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  MPA_FIELDS(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  MPA_FIELDS(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  MPA_FIELDS(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
  MPA_FIELDS(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
  MPA_FIELDS(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
  MPA_FIELDS(27, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa)
  MPA_FIELDS(28, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb)
  MPA_FIELDS(29, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc)
  MPA_FIELDS(30, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd)
  MPA_FIELDS(31, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee)
  MPA_FIELDS(32, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff)
  MPA_FIELDS(33, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg)
  MPA_FIELDS(34, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh)
  MPA_FIELDS(35, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii)
  MPA_FIELDS(36, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj)
  MPA_FIELDS(37, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj, kk)
  MPA_FIELDS(38, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll)
  MPA_FIELDS(39, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm)
  MPA_FIELDS(40, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn)
  MPA_FIELDS(41, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn, oo)
  MPA_FIELDS(42, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn, oo, pp)
  MPA_FIELDS(43, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn, oo, pp, qq)
  MPA_FIELDS(44, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
             bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn, oo, pp, qq, rr)
  {}
  // clang-format on
#undef MPA_FIELDS
}

/// References to all fields of `record`, in the order of their declaration; at most 44.
template <typename T>
requires PlainStruct<std::remove_const_t<T>>
constexpr auto FieldsOf(T& record) {
  return VisitFields(record, [](auto&... fields) { return std::tie(fields...); });
}

}  // namespace mpa
