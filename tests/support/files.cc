// SPDX-License-Identifier: Apache-2.0
// Files for tests: made from text, and looked into.
#include "support/files.h"

#include <sqlite3.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace mpa::test {

namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string name = (fs::temp_directory_path() / "mpa_test_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  path_ = fs::canonical(name);
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TempDir::Write(std::string_view name, std::string_view content) const {
  fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::vector<std::string> TempDir::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ReadAll(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

std::string Gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

namespace {

std::size_t LittleEndian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::size_t value = 0;
  for (std::size_t i = count; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes.at(at + i - 1));
  }
  return value;
}

std::string InflateRaw(std::string_view packed, std::size_t size) {
  std::string text(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) throw std::runtime_error("inflateInit2");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("broken zip member");
  return text;
}

}  // namespace

std::string ZipMember(const fs::path& archive, std::string_view name) {
  const std::string bytes = ReadAll(archive);
  const std::string_view zip = bytes;
  const std::size_t end = zip.rfind("PK\5\6");
  if (end == std::string_view::npos) throw std::runtime_error("not a zip archive");
  std::size_t entry = LittleEndian(zip, end + 16, 4);  // the central directory
  for (std::size_t left = LittleEndian(zip, end + 10, 2); left > 0; --left) {
    const std::size_t name_size = LittleEndian(zip, entry + 28, 2);
    if (zip.substr(entry + 46, name_size) == name) {
      const std::size_t local = LittleEndian(zip, entry + 42, 4);
      const std::size_t data =
          local + 30 + LittleEndian(zip, local + 26, 2) + LittleEndian(zip, local + 28, 2);
      const std::string_view packed = zip.substr(data, LittleEndian(zip, entry + 20, 4));
      if (LittleEndian(zip, entry + 10, 2) == 0) return std::string(packed);
      return InflateRaw(packed, LittleEndian(zip, entry + 24, 4));
    }
    entry += 46 + name_size + LittleEndian(zip, entry + 30, 2) + LittleEndian(zip, entry + 32, 2);
  }
  return {};
}

fs::path BuildDatabase(const fs::path& path, const std::string& sql) {
  fs::create_directories(path.parent_path());
  sqlite3* database = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) throw std::runtime_error("sqlite3_open");
  char* message = nullptr;
  sqlite3_exec(database, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);  // only a test
  const int status = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message);
  const std::string text = message != nullptr ? message : "";
  sqlite3_free(message);
  sqlite3_close(database);
  if (status != SQLITE_OK) throw std::runtime_error("bad SQL in a test: " + text);
  return path;
}

}  // namespace mpa::test
