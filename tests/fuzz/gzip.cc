// SPDX-License-Identifier: Apache-2.0
// Gzip streams: read whole, in steps of any size, and again from the middle, the text is the same.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "fuzz/fuzzing.h"
#include "mpa/base/error.h"
#include "mpa/io/byte_stream.h"
#include "mpa/io/input_text.h"
#include "support/files.h"

namespace mpa::test {
namespace {

std::string ReadRest(io::ByteStream& stream, std::size_t step) {
  std::string text;
  std::string part(step, '\0');
  std::size_t got = step;
  while (got == step) {
    got = stream.Read(part.data(), step);
    text.append(part, 0, got);
  }
  return text;
}

// The text read in such steps, and whether it was cut off; "broken" instead of what is.
std::string InSteps(const std::filesystem::path& path, std::size_t step) {
  std::string text = "broken";
  Try(path.filename().string(), [&] {
    io::ByteStream stream(path);
    const std::string once = ReadRest(stream, step);
    const bool truncated = stream.truncated();
    stream.Seek(once.size() / 2);
    const std::string again = ReadRest(stream, step);
    if (again != once.substr(once.size() / 2)) Die("the second reading gives another text");
    InContext(path.string(), [&] { io::RefuseWideText(once); });  // as where it is read whole
    text = fmt::format("{}{}", once, truncated ? " truncated" : "");
  });
  return text;
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  const auto read = [](std::string_view input) {
    if (input.empty()) return;
    const std::size_t step = 1 + std::size_t{16} * static_cast<unsigned char>(input[0]);
    const auto path = scratch.Write("trace.json.gz", input.substr(1));
    std::string whole = "broken";
    Try("trace.json.gz", [&] {
      const io::InputText text(path);
      whole = fmt::format("{}{}", text.text(), text.truncated() ? " truncated" : "");
    });
    if (InSteps(path, step) != whole) Die("in steps the text is not the same");
  };
  const std::string packed = Gzip("[{\"name\": \"a\"}, {\"name\": \"b\"}]");
  const std::string zeros = Gzip(std::string(100'000, '\0'));
  return {{"gzip",
           {"\x03" + packed, "\x01" + packed + packed, "\x40" + zeros,
            "\x02" + packed.substr(0, packed.size() / 2)},
           read}};
}

}  // namespace mpa::test
