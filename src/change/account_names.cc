// SPDX-License-Identifier: Apache-2.0
#include "mpa/change/account_names.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/model/collective_tasks.h"

namespace mpa {
namespace {

constexpr std::string_view kBetween = ": ";

constexpr std::string_view kOf = " of ";

// What keys of baselines say in English: "allreduce of dp".
std::string OperationText(std::string_view what) {
  const std::size_t of = what.find(kOf);
  if (of == std::string_view::npos) return std::string(what);
  return Say("{} of {}", what.substr(0, of), what.substr(of + kOf.size()));
}

// "rank 5 in allreduce" of "allreduce, rank 5". What an operation is called may have commas, too.
std::string Awaited(std::string_view what) {
  constexpr std::string_view kGroupRank = "group rank ";
  const std::size_t comma = what.rfind(", ");
  const std::string_view last = comma == std::string_view::npos ? "" : what.substr(comma + 2);
  const std::string operation = OperationText(what.substr(0, comma));
  if (last.starts_with("rank ")) return Say("{} in {}", last, operation);
  if (last.starts_with(kGroupRank))
    return Say("group rank {} in {}", last.substr(kGroupRank.size()), operation);
  return Say("other ranks in {}", OperationText(what));
}

}  // namespace

std::string AccountKey(std::string_view category, std::string_view what) {
  return what.empty() ? std::string(category) : fmt::format("{}{}{}", category, kBetween, what);
}

AccountName ReadAccountKey(std::string_view key) {
  const std::size_t between = key.find(kBetween);
  if (between == std::string_view::npos) return {std::string(key), ""};
  return {std::string(key.substr(0, between)), std::string(key.substr(between + kBetween.size()))};
}

const char* AccountName::Kind() const {
  if (IsCompute()) return "kernel";
  return IsCommunication() ? "collective" : "component";
}

std::string AccountName::Title() const {
  if (IsCompute() && !what.empty()) return ShortFunctionName(what);
  const std::optional<TimeCategory> known = CategoryNamed(category);
  if (!known) return what.empty() ? category : what;
  const std::string_view title = Translated(TitleOf(*known));
  if (what.empty() && IsCommunication()) return std::string(title);
  switch (*known) {
    case TimeCategory::kUnsplit:
      return Say("exposed {}", OperationText(what));
    case TimeCategory::kWaitPeer:
      return Say("waiting for {}", Awaited(what));
    case TimeCategory::kBubble:
      return Say("{} while waiting for {}", title, Awaited(what));
    case TimeCategory::kTransfer:
    case TimeCategory::kSlow:
      return Say("{} in {}", title, OperationText(what));
    case TimeCategory::kInnerWait:
    case TimeCategory::kInnerIdle:
      return Say("{} {}", title, OperationText(what));
    default:
      return mpa::IsFree(*known) ? Say("{} ({})", Translated(kFreeTime), title)
                                 : std::string(title);
  }
}

AccountPieces::AccountPieces(const RankTrace& trace, const HostClock& clock, AccountNaming naming)
    : trace_(trace), naming_(std::move(naming)), peers_(trace), sites_(trace, clock) {}

std::string AccountPieces::PartOf(const Piece& piece) const {
  if (IsCompute(piece.category)) {
    return AccountKey(kComputeKey, trace_.strings.View(KernelTextOf(piece)));
  }
  const std::string_view category = NameOf(piece.category);
  return IsCommunication(piece.category) ? AccountKey(category, OperationOf(piece))
                                         : std::string(category);
}

std::string AccountPieces::PlaceOf(const Piece& piece) const {
  if (!IsFree(piece.category)) return "";
  const std::string place = HostPlaceOf(trace_, sites_, piece);
  return place.empty() ? "" : AccountKey(NameOf(piece.category), place);
}

StringId AccountPieces::KernelTextOf(const Piece& piece) const {
  const auto row = static_cast<std::size_t>(piece.row);
  if (piece.table != PieceTable::kKernels) return trace_.device_tasks.name[row];
  const StringId type = trace_.kernels.op_type[row];
  return naming_.kernel_types && type != StringId::kEmpty ? type : trace_.kernels.name[row];
}

std::string AccountPieces::OperationOf(const Piece& piece) const {
  const auto row = static_cast<std::size_t>(piece.row);
  std::string operation = CollectiveKindOf(trace_, row);
  if (operation.empty() || operation == "N/A") operation = "communication";
  if (IsLcclKernel(trace_.strings.View(trace_.communications.name[row]))) operation = "LCCL";
  const std::string group = naming_.group ? naming_.group(row) : "";
  if (!group.empty()) operation.append(kOf).append(group);
  if (piece.peer < 0) return operation;
  const RankId rank = peers_.RankOf(trace_.communications.group[row], piece.peer);
  return operation +
         (rank >= 0 ? ", rank " + RankName(rank) : fmt::format(", group rank {}", piece.peer));
}

}  // namespace mpa
