// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace mpa {

/// A value that is made when it is first asked for, if it ever is. Safe from several threads.
template <typename T>
class OnDemand {
 public:
  explicit OnDemand(std::function<T()> make) : make_(std::move(make)) {}

  const T& operator*() const {
    std::call_once(once_, [this] { value_.emplace(make_()); });
    return *value_;
  }
  const T* operator->() const { return &**this; }

 private:
  std::function<T()> make_;
  mutable std::once_flag once_;
  mutable std::optional<T> value_;
};

}  // namespace mpa
