// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/packed.h"

#include <zlib.h>

#include <optional>
#include <string>

#include "mpa/base/error.h"

namespace mpa {

std::optional<std::string> Unpacked(const Packed& packed) {
  std::string text(packed.size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) Fail(ErrorKind::kResource, "no memory to unpack");
  // zlib does not write there, whatever its declaration says.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.deflated.data()));
  stream.avail_in = static_cast<uInt>(packed.deflated.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.avail_out != 0) return std::nullopt;
  return text;
}

}  // namespace mpa
