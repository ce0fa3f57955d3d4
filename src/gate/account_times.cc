// SPDX-License-Identifier: Apache-2.0
#include "account_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "account_names.h"
#include "mpa/measure/collectives.h"
#include "mpa/measure/group_peers.h"
#include "mpa/measure/host_places.h"

namespace mpa::gate {
namespace {

class PieceNames {
 public:
  PieceNames(const RankTrace& trace, const HostClock& clock)
      : trace_(trace), peers_(trace), sites_(trace, clock) {}

  std::string PartOf(const Piece& piece) const {
    if (IsCompute(piece.leaf)) return AccountKey(kComputeKey, KernelOf(piece));
    const std::string_view leaf = NameOf(piece.leaf);
    return IsCommunication(piece.leaf) ? AccountKey(leaf, OperationOf(piece)) : std::string(leaf);
  }

  // Empty: the host did nothing, or it is not known what.
  std::string PlaceOf(const Piece& piece) const {
    if (!IsFree(piece.leaf)) return "";
    const std::string place = HostPlaceOf(trace_, sites_, piece);
    return place.empty() ? "" : AccountKey(NameOf(piece.leaf), place);
  }

 private:
  std::string KernelOf(const Piece& piece) const {
    const auto row = static_cast<std::size_t>(piece.row);
    const auto view = [&](StringId text) { return std::string(trace_.strings.View(text)); };
    if (piece.table != PieceTable::kKernels) return view(trace_.device_tasks.name[row]);
    const std::string type = view(trace_.kernels.op_type[row]);
    return type.empty() ? view(trace_.kernels.name[row]) : type;
  }

  std::string OperationOf(const Piece& piece) const {
    const auto row = static_cast<std::size_t>(piece.row);
    std::string operation = CollectiveKindOf(trace_, row);
    if (piece.peer < 0) return operation;
    const std::int64_t rank = peers_.RankOf(trace_.communications.group[row], piece.peer);
    return operation + (rank >= 0 ? fmt::format(", rank {}", rank)
                                  : fmt::format(", group rank {}", piece.peer));
  }

  const RankTrace& trace_;
  const GroupPeers peers_;
  const CallSites sites_;
};

}  // namespace

void AddAccount(const RankTrace& trace, const RankAccount& account,
                const std::vector<Interval>& windows, StepTable& parts, StepTable& places) {
  const PieceNames names(trace, account.clock);
  auto first = account.pieces.begin();
  for (std::size_t window = 0; window < windows.size(); ++window) {
    const auto& [begin, end] = windows[window];
    first =
        std::partition_point(first, account.pieces.end(),
                             [&, from = begin](const Piece& piece) { return piece.end <= from; });
    for (auto piece = first; piece != account.pieces.end() && piece->begin < end; ++piece) {
      const TimeNs time = std::min(piece->end, end) - std::max(piece->begin, begin);
      parts.Add(names.PartOf(*piece), window, time);
      if (const std::string place = names.PlaceOf(*piece); !place.empty()) {
        places.Add(place, window, time);
      }
    }
  }
}

}  // namespace mpa::gate
