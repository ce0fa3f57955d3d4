// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The roles of reinforcement learning by the names that frameworks give them.
namespace mpa::recipes::rl_roles {

enum class RoleKind : std::uint8_t {
  kRollout,    ///< generates answers
  kLogProb,    ///< of the actor, before it is updated
  kReference,  ///< the same of the reference model
  kReward,
  kValues,      ///< of the critic
  kUpdate,      ///< of the actor or the critic
  kWeightSync,  ///< the weights go to the engine that generates, or back
  kOther,       ///< a directory beside those of roles
};
/// "weight sync"
std::string_view NameOf(RoleKind kind);

/// The one name of all names of a role: "actor_update" for the directory "actor_update", the range
/// "update_actor" and the range "ActorHybridWorker.update". A number behind it does not count.
/// Empty: no role has this name.
std::optional<std::string_view> ReadRole(std::string_view name);

/// Of a name that ReadRole() gives; of others kOther.
RoleKind KindOf(std::string_view role);

/// What the directories on the way to a capture say, as in "3/actor_update".
struct NamedDirectories {
  std::string role;             ///< as ReadRole() gives it, else the innermost one; empty: none
  std::int64_t iteration = -1;  ///< "3", "step_3", "rollout_step_3"; -1: they do not say
  std::int64_t replica = -1;    ///< "agent_loop_replica_2"; -1: they do not say
};
NamedDirectories ReadDirectories(std::string_view way);

}  // namespace mpa::recipes::rl_roles
