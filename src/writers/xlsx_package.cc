// SPDX-License-Identifier: Apache-2.0
// Workbooks are zip archives of XML files.
#include "xlsx_package.h"

#include <map>
#include <string>

#include "mpa/base/error.h"
#include "zip.h"

namespace mpa::writers {

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
