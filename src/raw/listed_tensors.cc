// SPDX-License-Identifier: Apache-2.0
// torch.param_tensor_info: the memory of parameters, gradients and states of optimizers.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/text.h"
#include "mpa/raw/summaries.h"
#include "record.h"
#include "stages.h"
#include "tlv.h"

namespace mpa::raw {
namespace {

constexpr std::string_view kNpuType = "20";

template <typename Number>
bool Parse(std::string_view text, Number& number, int base = 10) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && stop == end && !text.empty();
}

struct ListedTensor {
  std::uint64_t object = 0;   // the tensor; several may share a storage
  std::uint64_t address = 0;  // of its storage; 0: none
  std::int64_t bytes = 0;
  bool on_device = false;
};

bool ParseHex(std::string_view text, std::uint64_t& number) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return Parse(text, number, 16);
}

// "object;address;type;bytes of an element;sizes;strides;type of device;device". False: it is
// damaged.
bool ParseTensor(std::string_view text, ListedTensor& tensor) {
  constexpr std::size_t kParts = 8;
  const std::vector<std::string_view> parts = mpa::Split(text, ';');
  if (parts.size() != kParts || !ParseHex(parts[0], tensor.object)) return false;
  if (!parts[1].empty() && !ParseHex(parts[1], tensor.address)) return false;
  if (!Parse(parts[3], tensor.bytes) || tensor.bytes < 0) return false;
  if (!parts[4].empty()) {
    for (const std::string_view part : mpa::Split(parts[4], ',')) {
      std::int64_t size = 0;
      if (!Parse(part, size) || size < 0) return false;
      if (__builtin_mul_overflow(tensor.bytes, size, &tensor.bytes)) return false;
    }
  }
  tensor.on_device = parts[6] == kNpuType;
  return true;
}

// Gathers tensors by the address of their storage. What a storage is for: of several roles the
// first of parameter, state, gradient.
class ByAddress {
 public:
  void Add(TensorRole role, std::string_view name, const ListedTensor& tensor) {
    if (!tensor.on_device || tensor.address == 0 || tensor.bytes == 0) return;
    Storage& storage = storages_[tensor.address];
    if (storage.role == TensorRole::kNotListed || Order(role) < Order(storage.role)) {
      storage.role = role;
      storage.name = name;
    }
    if (storage.name.empty() && role == storage.role) storage.name = name;
    if (!storage.objects.insert(tensor.object).second) return;  // listed by module and optimizer
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    storage.bytes += std::min(tensor.bytes, kMost - storage.bytes);
  }

  void Fill(Session& part) const {
    for (const auto& [address, storage] : storages_) {
      part.listed_tensors.Append({.role = storage.role,
                                  .address = address,
                                  .bytes = storage.bytes,
                                  .name = part.strings.Intern(storage.name)});
    }
  }

 private:
  struct Storage {
    TensorRole role = TensorRole::kNotListed;
    std::int64_t bytes = 0;
    std::string_view name;  // in the file
    std::set<std::uint64_t> objects;
  };
  static int Order(TensorRole role) {
    return role == TensorRole::kParameter ? 0 : role == TensorRole::kOptimizerState ? 1 : 2;
  }

  std::map<std::uint64_t, Storage> storages_;
};

// "tensor" or nothing.
bool AddTensor(TensorRole role, std::string_view name, std::string_view text, ByAddress& found) {
  if (text.empty()) return true;
  ListedTensor tensor;
  if (!ParseTensor(text, tensor)) return false;
  found.Add(role, name, tensor);
  return true;
}

// "name)tensor)gradient" of a module, "tensor)gradient)state>tensor]state>tensor]" of an optimizer.
// Versions of torch_npu number the two differently, so the form decides.
bool AddParameter(std::string_view text, ByAddress& found) {
  const std::vector<std::string_view> parts = mpa::Split(text, ')');
  if (parts.size() != 3) return false;
  if (parts[0].find(';') == std::string_view::npos) {
    return AddTensor(TensorRole::kParameter, parts[0], parts[1], found) &&
           AddTensor(TensorRole::kGradient, parts[0], parts[2], found);
  }
  bool whole = AddTensor(TensorRole::kParameter, "", parts[0], found) &&
               AddTensor(TensorRole::kGradient, "", parts[1], found);
  for (const std::string_view state : mpa::Split(parts[2], ']')) {
    if (state.empty()) continue;
    const std::size_t name = state.find('>');
    whole = whole && name != std::string_view::npos &&
            AddTensor(TensorRole::kOptimizerState, state.substr(0, name), state.substr(name + 1),
                      found);
  }
  return whole;
}

}  // namespace

void ReadListedTensors(const std::filesystem::path& file, Session& part) {
  constexpr std::uint16_t kRecordType = 5;
  constexpr std::size_t kKey = 8;
  const TlvFile records(file, part.issues);
  ByAddress found;
  for (const TlvFile::Run& run : records.runs()) {
    ForEachTlv(run.bytes, [&](std::uint16_t type, std::string_view value) {
      if (type != kRecordType || value.size() < kKey) return records.CountBad(1, part.issues);
      bool whole = true;
      const std::string_view fields = value.substr(kKey);
      const std::size_t read = ForEachTlv(fields, [&](std::uint16_t, std::string_view text) {
        for (const std::string_view parameter : mpa::Split(text, '}'))
          whole = (parameter.empty() || AddParameter(parameter, found)) && whole;
      });
      if (!whole || read != fields.size()) records.CountBad(1, part.issues);
    });
  }
  found.Fill(part);
}

// Which allocations the listed memory is.

namespace {

constexpr std::int64_t kOnNpu = 20, kOfTorch = 0, kTaken = 0, kGivenBack = 1;

// The first thing that an allocator did at each address.
std::unordered_map<std::uint64_t, std::size_t> FirstEvents(const AllocatorEvents& events) {
  std::unordered_map<std::uint64_t, std::size_t> first;
  for (std::size_t row = 0; row < events.Size(); ++row) {
    if (events.device_type[row] != kOnNpu || events.allocator[row] != kOfTorch) continue;
    if (events.action[row] == kTaken || events.action[row] == kGivenBack)
      first.try_emplace(events.address[row], row);
  }
  return first;
}

}  // namespace

// When the list was made is not recorded, and addresses are used again: only what was held from the
// beginning, or to the end, is certain to be what the list says.
std::vector<AllocationLife> LivesWithRoles(const Session& session) {
  std::vector<AllocationLife> lives = AllocationLives(session);
  const ListedTensors& listed = session.listed_tensors;
  if (listed.Empty() || session.allocations.Empty()) return lives;
  std::unordered_map<std::uint64_t, TensorRole> roles;
  for (std::size_t row = 0; row < listed.Size(); ++row)
    roles[listed.address[row]] = listed.role[row];
  for (AllocationLife& life : lives) {
    if (life.cann || life.released >= 0) continue;
    if (const auto found = roles.find(life.address); found != roles.end())
      life.role = found->second;
  }
  const auto first = FirstEvents(session.allocations);
  for (std::size_t row = 0; row < listed.Size(); ++row) {
    const auto event = first.find(listed.address[row]);
    const bool happened = event != first.end();
    if (happened && session.allocations.action[event->second] == kTaken) continue;
    lives.push_back({.name = listed.name[row],
                     .bytes = listed.bytes[row],
                     .released = happened ? session.allocations.time[event->second] : TimeNs{-1},
                     .address = listed.address[row],
                     .role = listed.role[row]});
  }
  return lives;
}

}  // namespace mpa::raw
