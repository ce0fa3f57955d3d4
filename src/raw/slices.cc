// SPDX-License-Identifier: Apache-2.0
// Finds the slices of record files and puts their records together.
#include "slices.h"

#include <algorithm>
#include <tuple>

#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/base/stable_sort.h"
#include "mpa/capture/record_kinds.h"
#include "mpa/io/input_text.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;

bool Fits(std::string_view bytes, std::size_t at, Magic magic) {
  return Record<4>(bytes.data() + at).U16(magic.offset) == magic.value;
}

// The offset at which records begin: the first at which the magic is found, and found again one
// record later.
std::size_t Alignment(std::string_view bytes, std::size_t record_size, Magic magic) {
  for (std::size_t at = 0; at < record_size && at + record_size <= bytes.size(); ++at) {
    if (!Fits(bytes, at, magic)) continue;
    const std::size_t next = at + record_size;
    if (next + record_size > bytes.size() || Fits(bytes, next, magic)) return at;
  }
  return 0;
}

// Puts together records that straddle slices.
class RecordJoiner {
 public:
  RecordJoiner(std::size_t record_size, const std::function<void(std::string_view)>& visit)
      : record_size_(record_size), visit_(visit) {}

  void Add(std::string_view bytes) {
    if (!rest_.empty()) {
      const std::size_t missing = std::min(record_size_ - rest_.size(), bytes.size());
      rest_.append(bytes.substr(0, missing));
      bytes.remove_prefix(missing);
      if (rest_.size() < record_size_) return;
      visit_(rest_);
      rest_.clear();
    }
    const std::size_t whole = bytes.size() / record_size_ * record_size_;
    if (whole > 0) visit_(bytes.substr(0, whole));
    rest_ = bytes.substr(whole);
  }
  std::size_t Rest() const { return rest_.size(); }

 private:
  std::size_t record_size_;
  const std::function<void(std::string_view)>& visit_;
  std::string rest_;
};

std::size_t SizeOf(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<std::size_t>(size);
}

std::size_t TotalSize(const std::vector<Slice>& slices) {
  std::size_t total = 0;
  for (const Slice& slice : slices) total += SizeOf(slice.path);
  return total;
}

}  // namespace

DataFiles::DataFiles(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const auto parts = ParseRecordFileName(name);
    if (!parts || !fs::is_regular_file(it->path())) continue;
    slices_[std::string(parts->stem)].push_back({it->path(), parts->number, parts->aging});
  }
  for (auto& [stem, slices] : slices_) {
    StableSort(slices, [](const Slice& a, const Slice& b) {
      return std::tie(a.aging, a.number, a.path) < std::tie(b.aging, b.number, b.path);
    });
  }
}

const std::vector<Slice>& DataFiles::Of(std::string_view stem) const {
  static const std::vector<Slice> none;
  const auto found = slices_.find(stem);
  return found == slices_.end() ? none : found->second;
}

std::vector<Slice> DataFiles::SomeSlices() const {
  std::vector<Slice> some;
  for (const auto& [stem, slices] : slices_) {
    const auto found =
        std::ranges::find_if(slices, [](const Slice& slice) { return SizeOf(slice.path) > 0; });
    if (found != slices.end()) some.push_back(*found);
  }
  return some;
}

void VisitHostSlices(const DataFiles& files, std::string_view stem, std::size_t record_size,
                     Issues& issues,
                     const std::function<void(std::string_view, const Slice&)>& visit) {
  for (const Slice& slice : files.Of(stem)) {
    LogInfo("{}: its records are read", slice.path.string());
    const io::InputText input(slice.path, io::Content::kAsIs);
    const std::string_view bytes = input.text();
    const std::size_t whole = bytes.size() / record_size * record_size;
    if (whole < bytes.size()) {
      issues.Count("file cut off inside a record, read up to there",
                   slice.path.filename().string());
    }
    visit(bytes.substr(0, whole), slice);
    AddProgress(static_cast<std::int64_t>(bytes.size()));
  }
}

void VisitDeviceStream(const DataFiles& files, std::string_view stem, std::size_t record_size,
                       Magic magic, Issues& issues,
                       const std::function<void(std::string_view)>& visit) {
  const std::vector<Slice>& slices = files.Of(stem);
  if (slices.empty()) return;
  std::size_t skip = 0;
  if (magic.value == 0 && slices.front().number > 0) skip = TotalSize(slices) % record_size;
  RecordJoiner joiner(record_size, visit);
  for (const Slice& slice : slices) {
    LogInfo("{}: its records are read", slice.path.string());
    const io::InputText input(slice.path, io::Content::kAsIs);
    std::string_view bytes = input.text();
    if (magic.value != 0 && &slice == &slices.front()) {
      skip = Alignment(bytes, record_size, magic);
      if (skip > 0) issues.Count("file begins inside a record, read from the next one", stem);
    }
    const std::size_t skipped = std::min(skip, bytes.size());
    skip -= skipped;
    joiner.Add(bytes.substr(skipped));
    AddProgress(static_cast<std::int64_t>(bytes.size()));
  }
  if (joiner.Rest() > 0) issues.Count("file cut off inside a record, read up to there", stem);
}

std::size_t CountRecords(const DataFiles& files, std::string_view stem, std::size_t record_size) {
  return TotalSize(files.Of(stem)) / record_size;
}

}  // namespace mpa::raw
