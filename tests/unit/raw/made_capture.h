// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/files.h"

namespace mpa::test {

/// Writes a value into the bytes of a record.
template <typename T>
void Put(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// A PROF_* directory made by hand. Host stamps are ns (no frequency), a device count is 20 ns;
/// both clocks were 0 at the epoch time kBegin, when the collection began; it lasted 10 s.
class MadeCapture {
 public:
  static constexpr std::int64_t kBegin = 1'735'689'600'000'000'000;

  MadeCapture();

  const std::filesystem::path& path() const { return directory_.path(); }
  const TempDir& directory() const { return directory_; }

  /// A call; levels and types as in the files, names in type_info_dic.
  void Call(unsigned level, unsigned type, std::uint64_t begin, std::uint64_t end,
            std::uint64_t item = 0, unsigned thread = 1);
  /// The beginning of a compact (64 bytes) or additional (256 bytes) record.
  static std::string Record(std::size_t size, unsigned level, unsigned type, std::uint64_t time,
                            unsigned length, unsigned thread = 1);
  /// task_track with `blocks` and the ratio of a mixed kernel.
  void Launch(std::uint64_t time, unsigned stream, std::uint32_t task, unsigned type,
              std::uint64_t function = 0, unsigned blocks = 0, unsigned ratio = 0);
  void Node(std::uint64_t time, std::uint64_t name, unsigned core, std::uint64_t op_type,
            unsigned blocks = 0, bool hf32 = false, bool aging = true);
  /// Each tensor: output, format, type, shape.
  struct Tensor {
    bool output = false;
    std::uint32_t format = 2, type = 0;
    std::vector<std::uint32_t> shape;
  };
  void Tensors(std::uint64_t time, std::uint64_t name, const std::vector<Tensor>& tensors);
  void Contexts(std::uint64_t time, std::uint64_t name, const std::vector<std::uint32_t>& ids);
  /// The start and the end of a task in stars_soc.data.
  void Task(unsigned stream, unsigned task, unsigned type, std::uint64_t start, std::uint64_t end);
  void Context(unsigned stream, unsigned task, unsigned context, unsigned type, std::uint64_t start,
               std::uint64_t end);
  /// Any other record of a file in host/data or device_0/data.
  void Add(const std::string& file, const std::string& record) { files_[file] += record; }

  /// Writes the files; returns the directory.
  const std::filesystem::path& Write();

 private:
  TempDir directory_;
  std::map<std::string, std::string> files_;
};

}  // namespace mpa::test
