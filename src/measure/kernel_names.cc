// SPDX-License-Identifier: Apache-2.0
#include "kernel_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace mpa {
namespace {

// Mangled names are C strings; a name with a NUL in it is not mangled.
std::string Demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = -1;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

// Without what compilers and profilers write differently: "void f<int>(int)", "f<int>(int) [.kd]".
std::string Plain(std::string_view name) {
  for (const std::string_view ending : {" [clone .kd]", ".kd"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  std::string text = Demangled(std::string(name));
  if (text.starts_with("void ")) text.erase(0, 5);
  std::erase(text, ' ');
  return text;
}

bool IsCut(std::string_view name) {
  const auto count = [&](char bracket) { return std::ranges::count(name, bracket); };
  return count('<') > count('>') || count('(') > count(')');
}

}  // namespace

std::int32_t KernelNames::Of(std::string_view name) {
  const auto [found, is_new] =
      numbers_.try_emplace(Plain(name), static_cast<std::int32_t>(texts_.size()));
  if (is_new) texts_.push_back(&found->first);
  return found->second;
}

bool KernelNames::AreSame(std::int32_t a, std::int32_t b) {
  if (a == b) return true;
  if (a > b) std::swap(a, b);
  const auto pair = static_cast<std::uint64_t>(a) << 32 |
                    static_cast<std::uint64_t>(static_cast<std::uint32_t>(b));
  const auto [known, is_new] = same_.try_emplace(pair, false);
  if (!is_new) return known->second;
  std::string_view shorter = *texts_[static_cast<std::size_t>(a)];
  std::string_view longer = *texts_[static_cast<std::size_t>(b)];
  if (shorter.size() > longer.size()) std::swap(shorter, longer);
  if (shorter.empty() || !longer.starts_with(shorter)) return false;
  const char next = longer[shorter.size()];
  known->second = next == '<' || next == '(' || IsCut(shorter);
  return known->second;
}

}  // namespace mpa
