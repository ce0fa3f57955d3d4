// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mpa::test {

/// Copies of the generated raw captures, of which one file at a time has the content of an input.
/// The first byte of an input tells which file, the rest is the content.
class BrokenCapture {
 public:
  /// `belongs` says of the path of a file below the capture ("FRAMEWORK/torch.op_mark") whether it
  /// is one of those to break.
  explicit BrokenCapture(const std::function<bool(const std::string&)>& belongs);
  ~BrokenCapture();
  BrokenCapture(const BrokenCapture&) = delete;
  BrokenCapture& operator=(const BrokenCapture&) = delete;

  /// Reads the capture with that file. Ends the program where that goes wrong.
  void Read(const std::uint8_t* data, std::size_t size) const;

 private:
  struct File {
    std::filesystem::path capture, path;
    std::string whole;
  };

  void WriteSeeds(const std::filesystem::path& directory) const;

  std::filesystem::path scratch_;
  std::vector<File> files_;
};

}  // namespace mpa::test
