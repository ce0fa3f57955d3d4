// SPDX-License-Identifier: Apache-2.0
// The parts of some directories as one file.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/parts.h"
#include "part_file.h"
#include "part_places.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// What goes into the packed file; `place`: with the pieces in which it is there.
struct Packed {
  std::string name;
  PartPlace place;
  std::string problem{};  // empty: it is sound
};

// Where the head of a part ends. Throws Error (kCorrupt) for what merging could not read either.
PartPlace PlaceOfHalves(const PartPlace& place, OpenFile& file) {
  const OpenFile::Texts texts = file.Of(place);
  std::string_view rest = texts.head;
  const std::uint32_t head = Checksum(TakeSealedText(PartFile::kMark, rest));
  PartPlace halves = place;
  halves.head.size = texts.head.size() - rest.size();
  if (rest.empty()) {
    rest = texts.rest;
  } else {
    halves.rest = {place.head.begin + halves.head.size, rest.size()};
  }
  if (TakeSealed<WholePart>(rest).of != head || !rest.empty())
    Fail(ErrorKind::kCorrupt, "damaged: its halves are of different parts");
  return halves;
}

// Takes the first of the copies that is sound.
void FindHalves(const std::vector<PartPlace>& copies, OpenFile& file, Packed& packed) {
  for (const PartPlace& place : copies) {
    try {
      packed.place = PlaceOfHalves(place, file);
      packed.problem.clear();
      return;
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      if (packed.problem.empty()) {
        packed.problem =
            Say("{}: {}; it is left out, run its shard again", place.Text(), error.what());
      }
    }
  }
}

std::vector<Packed> FindParts(const PartPlaces& places) {
  std::vector<Packed> parts;
  for (const auto& [name, copies] : places.Parts()) parts.push_back({name, copies.front()});
  std::vector<std::size_t> all(parts.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  ReadByFile(
      all, [&](std::size_t i) { return parts[i].place.file; },
      [&](std::size_t i, OpenFile& file) {
        FindHalves(places.Find(parts[i].name), file, parts[i]);
      });
  return parts;
}

// Writes the pieces in the order in which the index has them.
class PackWriter {
 public:
  explicit PackWriter(const fs::path& path) : file_(path) {}

  void Write(const std::vector<Packed>& all) {
    PackIndex index;
    for (const Packed& packed : all) {
      const OpenFile::Texts texts = opened_.Of(packed.place);
      index.rows.push_back({packed.name, texts.head.size(), texts.rest.size()});
    }
    file_.Write(Sealed(index));
    for (std::size_t i = 0; i < all.size(); ++i)
      WritePiece(all[i], opened_.Of(all[i].place).head, index.rows[i].head_bytes);
    for (std::size_t i = 0; i < all.size(); ++i)
      WritePiece(all[i], opened_.Of(all[i].place).rest, index.rows[i].rest_bytes);
    file_.Close();
  }

 private:
  // Positions in the file hold for files that nobody replaces meanwhile.
  void WritePiece(const Packed& packed, std::string_view text, std::uint64_t size) {
    if (text.size() != size) {
      Fail(ErrorKind::kInput, "{}: it changed while it was packed; run the same command again",
           packed.place.Text());
    }
    file_.Write(text);
  }

  io::TextFile file_;
  OpenFile opened_;
};

}  // namespace

PackedParts PackParts(const std::vector<fs::path>& directories,
                      const std::vector<PartSelection>& wanted, const fs::path& output) {
  PackedParts result;
  const PartPlaces places(directories, wanted, result.notes);
  RequireLists(directories.front(), places, wanted);
  std::vector<Packed> all;
  for (ReadList& list : ReadLists(places, result.notes)) {
    const auto is_wanted = [&](const PartSelection& of) {
      return of.recipe->name == list.job.recipe;
    };
    if (std::ranges::any_of(wanted, is_wanted)) all.push_back({list.name, std::move(list.place)});
  }
  if (all.empty()) {
    if (result.notes.empty())
      Fail(ErrorKind::kInput, "{}: no parts; --shard makes them", directories.front().string());
    Fail(ErrorKind::kInput, "{}: no parts: {}", directories.front().string(), result.notes.front());
  }
  for (Packed& part : FindParts(places)) {
    if (part.problem.empty()) {
      all.push_back(std::move(part));
      ++result.parts;
    } else {
      result.notes.push_back(std::move(part.problem));
    }
  }
  // Nodes pack into one directory, and the same parts into the same file.
  std::string names;
  for (const Packed& packed : all) names += packed.name + '\n';
  result.file =
      output / fmt::format("parts-{:08x}.{}{}", Checksum(names), MPA_VERSION, kPackedEnding);
  io::OutputFile file(result.file);
  PackWriter(file.temporary_path()).Write(all);
  file.Replace(result.file);
  return result;
}

}  // namespace mpa
