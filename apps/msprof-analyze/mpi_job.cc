// SPDX-License-Identifier: Apache-2.0
// Processes that send their parts to the first of them by MPI.
//
// A process first reports its version and its machine. Then it offers file after file, and process
// 0 answers whether it takes it. A file travels in pieces, the last of which is shorter. An empty
// name ends the offers, and a report of what went wrong follows it. No process knows how long
// another one needs, so each waits for messages without keeping a core busy.
#include "mpi_job.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/notes.h"
#include "mpa/io/input_text.h"
#include "mpa/io/output_file.h"
#include "mpa/io/scratch_directory.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

enum Tag { kReport, kOffer, kAnswer, kPiece, kEnd };

constexpr std::string_view kTake = "take", kLeave = "leave", kStop = "stop";
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

void Send(int to, Tag tag, std::string_view bytes) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

// MPI_Probe() would take a core for as long as others read their ranks.
MPI_Status WaitFor(int from, Tag tag) {
  constexpr int kTriesAtOnce = 1000;
  MPI_Status status;
  int there = 0;
  for (int tries = 0;; ++tries) {
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status);
    if (there != 0) return status;
    if (tries > kTriesAtOnce) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string Receive(int from, Tag tag) {
  const MPI_Status status = WaitFor(from, tag);
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(bytes.data(), size, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return bytes;
}

std::string Machine() {
  std::string name(MPI_MAX_PROCESSOR_NAME, '\0');
  int size = 0;
  MPI_Get_processor_name(name.data(), &size);
  return name.substr(0, static_cast<std::size_t>(size));
}

std::string Lost(int process, int processes, const std::string& machine,
                 const std::string& problem) {
  return Say("process {} of {} ({}): {}; ranks of its share are missing", process, processes,
             machine, problem);
}

// What a process made.
struct Share {
  std::vector<fs::path> files;
  std::string problem;         ///< empty: none
  std::exception_ptr failure;  ///< the same
};

Share ShareOf(const MakeParts& make) {
  Share share;
  try {
    share.files = make();
  } catch (const std::exception& error) {
    share.problem = error.what();
    share.failure = std::current_exception();
  }
  return share;
}

void SendFile(const io::InputText& file) {
  for (std::string_view rest = file.text();; rest.remove_prefix(kPieceBytes)) {
    Send(0, kPiece, rest.substr(0, kPieceBytes));
    if (rest.size() < kPieceBytes) return;
  }
}

void SendShare(const Share& share) {
  Send(0, kReport, MPA_VERSION);
  Send(0, kReport, Machine());
  std::string problem = share.problem;
  for (const fs::path& path : share.files) {
    try {
      const io::InputText file(path, io::Content::kAsIs);
      Send(0, kOffer, path.filename().string());
      const std::string answer = Receive(0, kAnswer);
      if (answer == kStop) break;
      if (answer == kTake) SendFile(file);
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  Send(0, kOffer, "");
  Send(0, kReport, problem);
}

// The files of a run in the directory of process 0.
class Collection {
 public:
  explicit Collection(fs::path directory) : directory_(std::move(directory)) {}

  void AddOwn(const std::vector<fs::path>& files) {
    for (const fs::path& path : files) names_.insert(path.filename().string());
  }
  bool HasParts() const {
    return std::ranges::any_of(names_, [](const auto& name) { return name.ends_with(".part"); });
  }

  // Takes those of the next process that is done. Gives what is lost; empty: nothing.
  std::string AddNext(int processes) {
    const int from = WaitFor(MPI_ANY_SOURCE, kReport).MPI_SOURCE;
    const std::string version = Receive(from, kReport), machine = Receive(from, kReport);
    std::string problem;
    if (version != MPA_VERSION)
      problem = Say("it runs version {}, process 0 {}", version, MPA_VERSION);
    for (std::string name; !(name = Receive(from, kOffer)).empty();) {
      const bool is_new = !names_.contains(name);
      Send(from, kAnswer, !problem.empty() ? kStop : is_new ? kTake : kLeave);
      if (problem.empty() && is_new) problem = Take(from, name);
    }
    const std::string problem_there = Receive(from, kReport);
    if (problem.empty()) problem = problem_there;
    return problem.empty() ? "" : Lost(from, processes, machine, problem);
  }

  // Parts of earlier runs must not stand in for those that are lost.
  void RemoveOthers() const {
    std::set<std::string> questions;
    for (const std::string& name : names_) questions.insert(QuestionOf(name));
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory_, ignored)) {
      const std::string name = entry.path().filename().string();
      if (!names_.contains(name) && questions.contains(QuestionOf(name)))
        fs::remove(entry.path(), ignored);
    }
  }

 private:
  // "hccl_sum.rank5-01234567.0.1.0.89abcdef.part" without the rank and the ending.
  static std::string QuestionOf(const std::string& name) {
    const std::size_t rank = name.find('.'), version = name.find('.', rank + 1);
    const std::size_t ending = name.rfind('.');
    if (version == std::string::npos || version >= ending) return "";
    return name.substr(0, rank) + name.substr(version, ending - version);
  }

  // Writes the file as a whole or not at all. Gives the problem.
  std::string Take(int from, const std::string& name) {
    std::optional<io::TextFile> file;
    fs::path temporary;
    std::string problem;
    const auto guarded = [&](const auto& body) {
      try {
        if (problem.empty()) body();
      } catch (const std::exception& error) {
        problem = Say("process 0 cannot write its parts: {}", error.what());
      }
    };
    guarded([&] {
      if (!scratch_) {
        io::PrepareOutputDirectory(directory_);
        scratch_.emplace(directory_);
      }
      temporary = scratch_->path() / name;
      file.emplace(temporary);
    });
    for (bool is_last = false; !is_last;) {  // to the end, whatever fails: the other one sends
      const std::string piece = Receive(from, kPiece);
      is_last = piece.size() < kPieceBytes;
      guarded([&] { file->Write(piece); });
    }
    guarded([&] {
      file->Close();
      fs::rename(temporary, directory_ / name);
      names_.insert(name);
    });
    return problem;
  }

  fs::path directory_;
  std::set<std::string> names_;
  std::optional<io::ScratchDirectory> scratch_;  // one for all files
};

int MergeShares(const fs::path& directory, const Share& own, const MergeParts& merge,
                int processes) {
  std::vector<std::string> lost;
  if (own.failure) lost.push_back(Lost(0, processes, Machine(), own.problem));
  Collection collection(directory);
  collection.AddOwn(own.files);
  for (int i = 1; i < processes; ++i) {
    const std::string problem = collection.AddNext(processes);
    if (!problem.empty()) lost.push_back(problem);
  }
  std::ranges::sort(lost);
  if (!lost.empty()) collection.RemoveOthers();
  try {
    // Where the parts cannot be written nothing can be merged, whoever made them.
    if (!collection.HasParts() && own.failure) std::rethrow_exception(own.failure);
    return merge(lost);
  } catch (...) {
    LogNotes(lost);
    throw;
  }
}

}  // namespace

std::string MpiLibrary() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int size = 0;
  MPI_Get_library_version(text.data(), &size);
  return text.substr(0, text.find_first_of(",\n"));
}

Shard ShareOfMpi() {
  int level = 0, number = 0, count = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return {static_cast<std::size_t>(number), static_cast<std::size_t>(count)};
}

int RunMpiJob(const fs::path& directory, const MakeParts& make, const MergeParts& merge) {
  int number = 0, count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  const Share share = ShareOf(make);
  if (number != 0) {
    SendShare(share);
    (void)Receive(0, kEnd);
    MPI_Finalize();
    return 0;
  }
  const auto end = [count] {
    for (int to = 1; to < count; ++to) Send(to, kEnd, "");
    MPI_Finalize();
  };
  int code = 0;
  try {
    code = MergeShares(directory, share, merge, count);
  } catch (...) {
    end();
    throw;
  }
  end();
  return code;
}

}  // namespace mpa
