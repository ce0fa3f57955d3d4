// SPDX-License-Identifier: Apache-2.0
// Whose trace a file is, by words that only exporters of one kind write.
#include "trace_kind.h"

#include <string>
#include <string_view>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/io/byte_stream.h"

namespace mpa {
namespace {

// Looks at one part of the text. Kineto writes the same of every device until its work comes: the
// label of the process is torch_npu's, as are the names of its streams.
void Look(std::string_view part, TraceLook& look) {
  look.has_events = look.has_events || ContainsAny(part, {"\"traceEvents\""}) ||
                    (look.is_array && ContainsAny(part, {"\"ph\""}));
  if (!look.is_kineto &&
      ContainsAny(part, {"\"Ascend Hardware\"", "\"async_npu\"", "\"HostToDevice\"",
                         "\"Overlap Analysis\"", "\"Task Type\""})) {
    look.is_kineto = false;
    return;
  }
  look.has_gpu = look.has_gpu ||
                 ContainsAny(part, {"\"cuda_runtime\"", "\"cuda_driver\"", "\"gpu_memcpy\"",
                                    "\"gpu_user_annotation\"", "\"totalGlobalMem\"", "\"grid\""});
  look.is_of_npu = look.is_of_npu || ContainsAny(part, {"\"Ascend NPU\"", "\"NPU stream "});
  if (look.has_gpu || look.is_of_npu ||
      ContainsAny(part,
                  {"\"deviceProperties\"", "\"External id\"", "\"ac2g\"", "\"collective_comm\""})) {
    look.is_kineto = true;
  }
}

}  // namespace

TraceLook LookAtTrace(const std::filesystem::path& path) {
  constexpr std::size_t kPart = std::size_t{64} << 10;
  constexpr std::size_t kOverlap = 32;                   // longer than any of the words
  constexpr std::size_t kMost = std::size_t{256} << 20;  // other JSON may be large, too
  io::ByteStream stream(path);
  std::string text(kPart, '\0');
  text.resize(stream.Read(text.data(), kPart));
  const std::string_view start = Trim(WithoutByteOrderMark(text));
  if (start.empty()) Fail(ErrorKind::kInput, "{}: the file is empty", path.string());
  if (start[0] != '{' && start[0] != '[') {
    Fail(ErrorKind::kCorrupt, "{}: not JSON: it begins with neither '[' nor '{{'", path.string());
  }
  TraceLook look;
  look.is_array = start[0] == '[';
  for (std::size_t done = text.size(); !text.empty(); done += kPart) {
    Look(text, look);
    const bool is_known = look.is_kineto && (!*look.is_kineto || look.has_gpu || look.is_of_npu);
    if ((look.has_events && is_known) || text.size() < kPart || (done > kMost && !look.is_kineto))
      break;
    const std::string overlap = text.substr(text.size() - kOverlap);
    text.resize(kOverlap + kPart);
    text.replace(0, kOverlap, overlap);
    text.resize(kOverlap + stream.Read(text.data() + kOverlap, kPart));
  }
  return look;
}

}  // namespace mpa
