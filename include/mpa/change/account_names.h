// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "mpa/measure/accounting.h"
#include "mpa/measure/collectives.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/time_category.h"

/// What parts of the account are called in baselines, "comm.wait_peer: allreduce, rank 5", and in
/// reports: "waiting for rank 5 in allreduce".
namespace mpa {

/// Of all categories of kernels: their types distinguish them.
inline constexpr std::string_view kComputeKey = "comp";
/// The components of a step.
inline constexpr const char* kComputing = "computing";
inline constexpr const char* kExposed = "exposed communication";
inline constexpr const char* kCopies = "copies";
inline constexpr const char* kFreeTime = "free time";
/// A part of the end-to-end time, with the copies in it.
inline constexpr const char* kFreeBetweenTasks = "free between tasks";

/// `what` may be empty.
std::string AccountKey(std::string_view category, std::string_view what);

struct AccountName {
  std::string category;  ///< "comm.wait_peer"; of kernels kComputeKey
  std::string what;      ///< "allreduce, rank 5"

  bool IsCompute() const { return category == kComputeKey || category.starts_with("comp."); }
  bool IsCommunication() const { return category.starts_with("comm."); }
  bool IsCopy() const { return category.starts_with("copy."); }
  /// "kernel", "collective" or "component"
  const char* Kind() const;
  /// "waiting for rank 5 in allreduce"
  std::string Title() const;
};
AccountName ReadAccountKey(std::string_view key);

/// How the keys of a rank are made.
struct AccountNaming {
  bool kernel_types = true;  ///< kernels by type where they have one; else by name
  /// The group of a row of the communications for people; empty: groups are not distinguished.
  std::function<std::string(std::size_t)> group = {};
};

/// Names the pieces of a rank's account.
class AccountPieces {
 public:
  /// Refers to the rank, which must outlive it.
  AccountPieces(const RankTrace& trace, const HostClock& clock, AccountNaming naming = {});

  /// The key of the part that the piece belongs to.
  std::string PartOf(const Piece& piece) const;
  /// The key of what the host did in a piece of free time: "free.gc: gc.collect at train.py:90".
  /// Empty: the host did nothing, or it is not known what.
  std::string PlaceOf(const Piece& piece) const;
  /// What a piece of a kernel is named by.
  StringId KernelTextOf(const Piece& piece) const;
  /// The line of the program that PlaceOf() names: none where operators are issued.
  CallSite SiteOf(const Piece& piece) const {
    return IsIssuing(piece.category) ? CallSite() : sites_.Find(piece);
  }

 private:
  std::string OperationOf(const Piece& piece) const;

  const RankTrace& trace_;
  const AccountNaming naming_;
  const GroupPeers peers_;
  const CallSites sites_;
};

}  // namespace mpa
