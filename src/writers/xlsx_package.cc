// SPDX-License-Identifier: Apache-2.0
// Workbooks are zip archives of XML files.
#include "xlsx_package.h"

#include <map>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "zip.h"

namespace mpa::writers {
namespace {

bool IsWholeXml(std::string_view text) {
  const std::size_t root = text.find('<', text.find("?>"));
  if (root == std::string_view::npos) return false;
  const std::string_view name = text.substr(root + 1, text.find_first_of(" />", root) - root - 1);
  const std::string_view end = Trim(text.substr(text.rfind('<')));
  return end == fmt::format("</{}>", name) || (text.rfind('<') == root && end.ends_with("/>"));
}

}  // namespace

void RequireWhole(const std::vector<ZipEntry>& entries) {
  for (const ZipEntry& entry : entries) {
    if (!IsWholeXml(Inflated(entry))) {
      Fail(ErrorKind::kOutput, "{} could not be written whole: no room, or a limit on files",
           entry.name);
    }
  }
}

void PackWorkbook(const std::filesystem::path& frame,
                  const std::vector<std::vector<ZipPiece>>& rows,
                  const std::filesystem::path& path) {
  std::map<std::string, const std::vector<ZipPiece>*> rows_of;
  for (const std::vector<ZipPiece>& pieces : rows) {
    rows_of[fmt::format("xl/worksheets/sheet{}.xml", rows_of.size() + 1)] = &pieces;
  }
  const std::vector<ZipEntry> entries = ReadZip(frame);
  RequireWhole(entries);
  ZipWriter zip(path);
  for (const ZipEntry& entry : entries) {
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
