// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The contents of communication.json, communication_matrix.json and the tables CommAnalyzer* of
/// analysis.db. Milliseconds, megabytes of 10^6 bytes and GB/s are doubles, because the profiler's
/// own files hold rounded doubles.
namespace mpa {

/// The kinds of links in the order of the profiler's file.
enum class LinkKind : std::uint8_t { kRdma, kHccs, kPcie, kSdma, kSio };
inline constexpr LinkKind kAllLinkKinds[] = {LinkKind::kRdma, LinkKind::kHccs, LinkKind::kPcie,
                                             LinkKind::kSdma, LinkKind::kSio};

struct LinkUse {
  double megabytes = 0, milliseconds = 0, bandwidth = 0, large_packet_ratio = 0;
  /// Size of a packet in MB -> how many, and their time in ms.
  std::map<double, std::pair<double, double>> sizes;
};

struct CommunicationTime {
  double start_us = 0;  ///< epoch microseconds of the first piece
  double elapse = 0, transit = 0, wait = 0, synchronization = 0, idle = 0;  ///< ms
  double wait_ratio = 0, synchronization_ratio = 0;
};

/// One operation, or the total of all of a kind in a step ("Total Op Info").
struct CommunicationOp {
  std::string name;   ///< "hcom_allReduce__586_0_1"
  std::string group;  ///< hash of the group name; empty for the total
  CommunicationTime time;
  std::map<LinkKind, LinkUse> links;  ///< those named in the capture

  /// Adds the times and the amounts moved over each kind of link; ratios and bandwidths do not
  /// change.
  void Add(const CommunicationOp& other);
};

/// One row of the matrix.
struct MatrixEntry {
  std::string name;  ///< "allreduce-top1", "allreduce-total"
  std::string group;
  std::int64_t source = 0, destination = 0;
  std::string transport;  ///< "HCCS", "RDMA", "LOCAL"; empty: another
  double megabytes = 0, milliseconds = 0, bandwidth = 0;
  std::string op;  ///< "hcom_allReduce__586_0_1"; empty of a total
};

/// The operations of one step in the order of their first parts, followed by their total if there
/// are any operations. The matrix file leaves out steps without operations.
struct CommunicationStep {
  std::string step;  ///< "step5", or "step" where the capture has none
  std::vector<CommunicationOp> p2p, collective;
  std::vector<MatrixEntry> p2p_matrix, collective_matrix;
};

/// "HCCS"; empty for text that is not the name of a kind of link.
std::string_view NameOf(LinkKind kind);

}  // namespace mpa
