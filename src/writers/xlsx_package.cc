// SPDX-License-Identifier: Apache-2.0
// Workbooks are zip archives of XML files, and compressing the rows is half of the work of writing
// them. libxlsxwriter compresses one after the other; here all workers take pieces of them.
#include "xlsx_package.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "zip.h"

namespace mpa::writers {
namespace {

constexpr std::size_t kPieceSize = std::size_t{1} << 19;
constexpr std::size_t kPiecesAtOnce = 8;  // workers that become idle meanwhile help with the next

std::size_t SizeOf(std::FILE* file) {
  struct stat status {};
  if (fstat(fileno(file), &status) != 0) {
    Fail(ErrorKind::kOutput, "the rows cannot be read: {}", std::strerror(errno));
  }
  return static_cast<std::size_t>(status.st_size);
}

// Several workers read one file.
std::string ReadPiece(std::FILE* file, std::size_t begin, std::size_t size) {
  std::string piece(size, '\0');
  for (std::size_t got = 0; got < size;) {
    const ssize_t more =
        pread(fileno(file), piece.data() + got, size - got, static_cast<off_t>(begin + got));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) Fail(ErrorKind::kOutput, "the rows cannot be read: {}", std::strerror(errno));
    got += static_cast<std::size_t>(more);
  }
  return piece;
}

}  // namespace

std::vector<ZipPiece> CompressRows(std::FILE* rows) {
  const std::size_t size = SizeOf(rows);
  std::vector<ZipPiece> pieces((size + kPieceSize - 1) / kPieceSize);
  for (std::size_t first = 0; first < pieces.size(); first += kPiecesAtOnce) {
    ParallelFor(std::min(kPiecesAtOnce, pieces.size() - first), [&](std::size_t i) {
      const std::size_t begin = (first + i) * kPieceSize;
      pieces[first + i] =
          Deflated(ReadPiece(rows, begin, std::min(kPieceSize, size - begin)), false);
    });
  }
  return pieces;
}

void PackWorkbook(const std::filesystem::path& frame,
                  const std::vector<std::vector<ZipPiece>>& rows,
                  const std::filesystem::path& path) {
  std::map<std::string, const std::vector<ZipPiece>*> rows_of;
  for (const std::vector<ZipPiece>& pieces : rows) {
    rows_of[fmt::format("xl/worksheets/sheet{}.xml", rows_of.size() + 1)] = &pieces;
  }
  ZipWriter zip(path);
  for (const ZipEntry& entry : ReadZip(frame)) {
    const auto found = rows_of.find(entry.name);
    if (found == rows_of.end() || found->second->empty()) {
      zip.Copy(entry);
      continue;
    }
    const std::string text = Inflated(entry);
    const std::size_t place = text.find("</sheetData>");
    if (place == std::string::npos) Fail(ErrorKind::kInternal, "{} takes no rows", entry.name);
    zip.Begin(entry);
    zip.Append(Deflated(std::string_view(text).substr(0, place), false));
    for (const ZipPiece& piece : *found->second) zip.Append(piece);
    zip.Append(Deflated(std::string_view(text).substr(place), true));
    zip.End();
  }
  zip.Close();
}

}  // namespace mpa::writers
