// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "mpa/io/output_file.h"
#include "mpa/profiler_output/profiler_output.h"
#include "mpa/raw/labels.h"
#include "mpa/raw/session.h"

namespace mpa::profiler_output {

/// A text file whose rows are formatted in parallel and written in order. Holds a few thousand rows
/// at a time.
class ChunkedFile {
 public:
  /// Throws Error (kOutput) that names the file.
  explicit ChunkedFile(const std::filesystem::path& path) : file_(path) {}

  void Write(std::string_view text);
  /// The rows 0..count-1, each by put(row, out). Called by several threads at once.
  template <typename PutRow>
  void WriteRows(std::size_t count, PutRow put) {
    WriteChunks(count, [&](std::size_t begin, std::size_t end, std::string& out) {
      for (std::size_t i = begin; i < end; ++i) put(i, out);
    });
  }
  /// Leaves out the next `bytes` bytes: the separator before the first of a list.
  void DropNext(std::size_t bytes) { drop_ = bytes; }
  /// Throws Error (kOutput) when not all of the text is in the file.
  void Close() { file_.Close(); }

 private:
  // Appends the rows [begin, end) to `out`.
  using FormatRows = std::function<void(std::size_t begin, std::size_t end, std::string& out)>;
  void WriteChunks(std::size_t count, const FormatRows& format);

  io::TextFile file_;
  std::size_t drop_ = 0;
};

/// A file of a header and rows; see ChunkedFile::WriteRows().
template <typename PutRow>
void WriteTextTable(const std::filesystem::path& path, std::string_view header, std::size_t count,
                    PutRow put) {
  ChunkedFile file(path);
  file.Write(header);
  file.WriteRows(count, std::move(put));
  file.Close();
}

// Which columns and kernels the tables show.

/// Level 0 recorded no types and shapes; the profiler leaves those columns and tables out.
inline bool IsLevel0(const raw::Session& session) { return session.info.level == 0; }

/// HWTS chips have no mixed cores and no FFTS+ groups.
inline bool HasMixedCores(const raw::Session& session) { return !raw::IsHwts(session); }

// How the profiler names the calls of CANN.

/// "acl", "node", "communication".
std::string_view LevelName(raw::Level level);

/// The kind of an acl call ("ACL_NN"); empty for a number that has no name.
std::string_view AclMode(std::uint32_t type);

// The files of WriteText(). Each function writes one, or none where the capture has nothing for
// it, and throws Error (kOutput) that names the file.

void WriteTraceView(const raw::Session& session, const std::filesystem::path& path);
void WriteKernelDetails(const raw::Session& session, const std::filesystem::path& path);
void WriteOperatorDetails(const raw::Session& session, const std::filesystem::path& path);
void WriteOpStatistic(const raw::Session& session, const std::filesystem::path& path);
void WriteApiStatistic(const raw::Session& session, const std::filesystem::path& path);
void WriteStepTraceTime(const raw::Session& session, const std::filesystem::path& path);
void WriteOperatorMemory(const raw::Session& session, const std::filesystem::path& path);
void WriteMemoryRecord(const raw::Session& session, const std::filesystem::path& path);
void WriteModuleMemory(const raw::Session& session, const std::filesystem::path& path);
void WriteHccs(const raw::Session& session, const std::filesystem::path& path);
void WritePcie(const raw::Session& session, const std::filesystem::path& path);
void WriteNic(const raw::Session& session, const std::filesystem::path& path);
void WriteRoce(const raw::Session& session, const std::filesystem::path& path);
void WriteL2Cache(const raw::Session& session, const std::filesystem::path& path);
void WriteTaskTime(const raw::Session& session, const std::filesystem::path& path);
void WriteDataPreprocess(const raw::Session& session, const std::filesystem::path& path);
void WriteInputQueue(const raw::Session& session, const std::filesystem::path& path);
void WriteCommunication(const raw::Session& session, const std::filesystem::path& path);
void WriteCommunicationMatrix(const raw::Session& session, const std::filesystem::path& path);

}  // namespace mpa::profiler_output
