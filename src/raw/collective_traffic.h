// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpa/raw/session.h"
#include "mpa/raw/summaries.h"

/// The amounts that the parts of a collective move over each link.
namespace mpa::raw {

/// A collective and its parts in order of time, rows of the session's tables.
struct CollectiveRows {
  std::size_t collective = 0;
  std::vector<std::size_t> parts;
};

/// In the order of their first parts.
std::vector<CollectiveRows> PartsByCollective(const Session& session);

/// The parts of each plane, the planes in the order of their first parts.
std::vector<std::vector<std::size_t>> PartsByPlane(const Session& session,
                                                   const CollectiveRows& rows);

enum class TransferKind : std::uint8_t {
  kNone,
  kCopy,  ///< by SDMA
  kRdma,  ///< consecutive payloads with the notifications and waits that end them
};

struct Transfer {
  TransferKind kind{};
  std::size_t parts = 1;  ///< number of parts of the plane that it takes
  bool local = false;     ///< a copy within the chip
  std::int64_t link = -1;
  double megabytes = 0, milliseconds = 0;
};

/// Consecutive payloads.
struct PayloadRun {
  std::size_t end = 0;     ///< position in the plane behind the last of them
  std::size_t closed = 0;  ///< and behind the parts that end the transfer; 0: they are missing
  double bytes = 0;
  double dur = 0;  ///< of the transfer, ns
};

/// Separates transfers from the other parts of one collective.
class TrafficReader {
 public:
  TrafficReader(const Session& session, std::size_t collective);

  /// The transfer that begins at plane[at].
  Transfer At(const std::vector<std::size_t>& plane, std::size_t at) const;
  bool IsWait(std::size_t part) const;
  bool IsPayload(std::size_t part) const;
  /// The payloads that begin at plane[at].
  PayloadRun Payloads(const std::vector<std::size_t>& plane, std::size_t at) const;
  /// From the first start to the last end of parts in order of start, in ns.
  double Extent(const std::vector<std::size_t>& parts) const;

 private:
  std::size_t Task(std::size_t part) const {
    return static_cast<std::size_t>(session_.parts.task[part]);
  }

  const Session& session_;
  std::size_t closing_;  // parts that end a run of payloads
};

/// Fills parts.bandwidth.
void SetBandwidths(Session& session);

/// The entries of communication_matrix.json for these collectives, in its order.
std::vector<MatrixEntry> LinkMatrix(const Session& session,
                                    const std::vector<CollectiveRows>& collectives);

}  // namespace mpa::raw
