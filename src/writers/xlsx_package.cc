// SPDX-License-Identifier: Apache-2.0
// Zip archives, of one disk and without the extensions for more than 4 GB.
#include "xlsx_package.h"

#include <zlib.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/packed.h"
#include "mpa/base/text.h"
#include "mpa/io/output_file.h"

namespace mpa::writers {
namespace {

// Fields of the entry's header, of its record in the directory, and of the archive's end.
constexpr std::size_t kHeaderCrc = 14, kHeaderNameSize = 26, kHeaderExtraSize = 28,
                      kHeaderSize = 30;
constexpr std::size_t kRecordCrc = 16, kRecordDataSize = 20, kRecordSizeBefore = 24,
                      kRecordNameSize = 28, kRecordExtraSize = 30, kRecordCommentSize = 32,
                      kRecordPlace = 42, kRecordSize = 46;
constexpr std::size_t kEndEntriesHere = 8, kEndEntries = 10, kEndDirectorySize = 12,
                      kEndDirectory = 16, kEndSize = 22;

[[noreturn]] void Complain() {
  Fail(ErrorKind::kOutput, "the archive could not be written whole: no room, or a limit on files");
}

std::string_view Piece(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) Complain();
  return bytes.substr(at, size);
}

// Numbers are little-endian.
std::uint32_t Number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  const std::string_view part = Piece(bytes, at, size);
  for (std::size_t i = size; i-- > 0;) {
    number = (number << 8) | static_cast<unsigned char>(part[i]);
  }
  return number;
}

void SetNumber(std::string& bytes, std::size_t at, std::size_t size, std::uint64_t number) {
  for (std::size_t i = 0; i < size; ++i) bytes.at(at + i) = static_cast<char>(number >> (8 * i));
}

// An entry as it lies in its archive.
struct ZipEntry {
  std::string name;
  std::string header;  // in front of the data
  std::string data;
  std::string record;  // in the directory at the end
};

// The entries of a small archive that was just written, in order.
std::vector<ZipEntry> ReadZip(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string archive{std::istreambuf_iterator<char>(file), {}};
  if (archive.size() < kEndSize) Complain();
  const std::size_t end = archive.size() - kEndSize;
  std::size_t at = Number(archive, end + kEndDirectory, 4);
  std::vector<ZipEntry> entries(Number(archive, end + kEndEntries, 2));
  for (ZipEntry& entry : entries) {
    const std::size_t name_size = Number(archive, at + kRecordNameSize, 2);
    const std::size_t record_size = kRecordSize + name_size +
                                    Number(archive, at + kRecordExtraSize, 2) +
                                    Number(archive, at + kRecordCommentSize, 2);
    entry.record = Piece(archive, at, record_size);
    entry.name = Piece(entry.record, kRecordSize, name_size);
    const std::size_t place = Number(entry.record, kRecordPlace, 4);
    const std::size_t header_size = kHeaderSize + Number(archive, place + kHeaderNameSize, 2) +
                                    Number(archive, place + kHeaderExtraSize, 2);
    entry.header = Piece(archive, place, header_size);
    entry.data = Piece(archive, place + header_size, Number(entry.record, kRecordDataSize, 4));
    at += record_size;
  }
  return entries;
}

// What is compressed in an entry.
std::string Inflated(const ZipEntry& entry) {
  std::optional<std::string> text =
      Unpacked({entry.data, Number(entry.record, kRecordSizeBefore, 4)});
  if (!text) Complain();
  return *std::move(text);
}

// Writes an archive.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}

  void Copy(const ZipEntry& entry) {
    Begin(entry);
    Append({entry.data, Number(entry.record, kRecordCrc, 4),
            Number(entry.record, kRecordSizeBefore, 4)});
    End();
  }

  // Begins an entry with the name and the attributes of another one; its content follows.
  void Begin(const ZipEntry& like) {
    open_ = {like.name, like.header, {}, like.record};
    begin_ = written_;
    data_size_ = size_ = 0;
    crc_ = 0;
    Write(open_.header);
  }

  void Append(const ZipPiece& piece) {
    Write(piece.data);
    crc_ = static_cast<std::uint32_t>(
        crc32_combine(crc_, piece.crc, static_cast<z_off_t>(piece.size)));
    data_size_ += piece.data.size();
    size_ += piece.size;
  }

  void End() {
    if (size_ > std::numeric_limits<std::uint32_t>::max() ||
        written_ > std::numeric_limits<std::uint32_t>::max()) {
      Fail(ErrorKind::kOutput, "{}: larger than the 4 GB that a workbook may have", open_.name);
    }
    // Checksum and both sizes stand side by side, in the header as in the record.
    const std::uint64_t numbers[] = {crc_, data_size_, size_};
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
      SetNumber(open_.header, kHeaderCrc + 4 * i, 4, numbers[i]);
      SetNumber(open_.record, kRecordCrc + 4 * i, 4, numbers[i]);
    }
    SetNumber(open_.record, kRecordPlace, 4, begin_);
    directory_ += open_.record;
    ++entries_;
    file_.WriteAt(begin_, open_.header);
  }

  void Close() {
    std::string end = "PK\5\6" + std::string(kEndSize - 4, '\0');
    SetNumber(end, kEndEntriesHere, 2, entries_);
    SetNumber(end, kEndEntries, 2, entries_);
    SetNumber(end, kEndDirectorySize, 4, directory_.size());
    SetNumber(end, kEndDirectory, 4, written_);
    Write(directory_);
    Write(end);
    file_.Close();
  }

 private:
  void Write(std::string_view bytes) {
    file_.Write(bytes);
    written_ += bytes.size();
  }

  io::TextFile file_;
  std::uint64_t written_ = 0;
  std::string directory_;
  std::size_t entries_ = 0;
  ZipEntry open_;                                       // without data
  std::uint64_t begin_ = 0, data_size_ = 0, size_ = 0;  // of the open entry
  std::uint32_t crc_ = 0;
};

// Workbooks are zip archives of XML files.

bool IsWholeXml(std::string_view text) {
  const std::size_t root = text.find('<', text.find("?>"));
  if (root == std::string_view::npos) return false;
  const std::string_view name = text.substr(root + 1, text.find_first_of(" />", root) - root - 1);
  const std::string_view end = Trim(text.substr(text.rfind('<')));
  return end == fmt::format("</{}>", name) || (text.rfind('<') == root && end.ends_with("/>"));
}

void RequireWhole(const std::vector<ZipEntry>& entries) {
  for (const ZipEntry& entry : entries) {
    if (!IsWholeXml(Inflated(entry))) {
      Fail(ErrorKind::kOutput, "{} could not be written whole: no room, or a limit on files",
           entry.name);
    }
  }
}

}  // namespace

ZipPiece Deflated(std::string_view text, bool last) {
  // The usual level, 6, takes twice the time to save another fifth.
  constexpr int kLevel = 3;
  constexpr int kMemory = 8;  // the usual
  ZipPiece piece;
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, -MAX_WBITS, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    Fail(ErrorKind::kResource, "no memory to compress");
  }
  constexpr std::size_t kFlushMark = 16;
  piece.data.resize(deflateBound(&stream, text.size()) + kFlushMark);
  // zlib's interface predates const; it does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(piece.data.data());
  stream.avail_out = static_cast<uInt>(piece.data.size());
  deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH);  // the bound is enough for all of it
  piece.crc = static_cast<std::uint32_t>(crc32_z(0, stream.next_in - text.size(), text.size()));
  piece.data.resize(stream.total_out);
  piece.data.shrink_to_fit();
  deflateEnd(&stream);
  piece.size = text.size();
  return piece;
}

void RequireWhole(const std::filesystem::path& workbook) { RequireWhole(ReadZip(workbook)); }

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
