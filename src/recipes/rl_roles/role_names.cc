// SPDX-License-Identifier: Apache-2.0
#include "role_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>

#include "mpa/base/enum_name.h"
#include "mpa/base/text.h"

namespace mpa::recipes::rl_roles {
namespace {

struct NamedRole {
  std::string_view name;  // in lower case
  std::string_view role;
};

// verl names directories by roles and ranges by the functions of its workers; MindSpeed-RL names
// directories by stages and ranges by functions with their classes.
constexpr NamedRole kNames[] = {{"rollout_generate", "rollout_generate"},
                                {"generate_sequences", "rollout_generate"},
                                {"actor_generate", "rollout_generate"},
                                {"agent_loop_rollout_replica", "rollout_generate"},
                                {"agent_loop_replica", "rollout_generate"},
                                {"rollout", "rollout_generate"},
                                {"actor_compute_log_prob", "actor_compute_log_prob"},
                                {"compute_log_prob", "actor_compute_log_prob"},
                                {"old_log_prob", "actor_compute_log_prob"},
                                {"ref_compute_log_prob", "ref_compute_log_prob"},
                                {"compute_ref_log_prob", "ref_compute_log_prob"},
                                {"reference_compute_log_prob", "ref_compute_log_prob"},
                                {"reference", "ref_compute_log_prob"},
                                {"compute_rm_score", "compute_rm_score"},
                                {"compute_verifier_score", "compute_rm_score"},
                                {"reward", "compute_rm_score"},
                                {"reward_model", "compute_rm_score"},
                                {"compute_values", "compute_values"},
                                {"critic_compute_values", "compute_values"},
                                {"actor_update", "actor_update"},
                                {"update_actor", "actor_update"},
                                {"critic_update", "critic_update"},
                                {"update_critic", "critic_update"},
                                {"update_weights", "weight_sync"},
                                {"sync_rollout_weights", "weight_sync"},
                                {"sync_rollout_weights_by_checkpoint", "weight_sync"},
                                {"weight_sync", "weight_sync"},
                                {"resharding", "weight_sync"},
                                {"enter_infer_mode", "weight_sync"},
                                {"exit_infer_mode", "weight_sync"},
                                {"enter_forward_mode", "weight_sync"},
                                {"exit_forward_mode", "weight_sync"},
                                {"enter_train_mode", "weight_sync"},
                                {"exit_train_mode", "weight_sync"}};

constexpr std::pair<std::string_view, RoleKind> kKinds[] = {
    {"rollout_generate", RoleKind::kRollout},       {"actor_compute_log_prob", RoleKind::kLogProb},
    {"ref_compute_log_prob", RoleKind::kReference}, {"compute_rm_score", RoleKind::kReward},
    {"compute_values", RoleKind::kValues},          {"actor_update", RoleKind::kUpdate},
    {"critic_update", RoleKind::kUpdate},           {"weight_sync", RoleKind::kWeightSync}};

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Where the digits at the end of the name begin.
std::size_t EndOfWords(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  return end;
}

std::string_view WithoutReplica(std::string_view name) {
  const std::size_t end = EndOfWords(name);
  return end < name.size() && end > 1 && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

std::int64_t NumberBehind(std::string_view name) {
  std::int64_t number = -1;
  std::from_chars(name.data() + EndOfWords(name), name.data() + name.size(), number);
  return number;
}

std::int64_t IterationIn(std::string_view name) {
  const std::string words = ToLower(name.substr(0, EndOfWords(name)));
  const bool counts = words.empty() || IsOneOf(words, {"step", "step_", "iter", "iter_"}) ||
                      words.ends_with("_step_") || words.ends_with("iteration_");
  return counts ? NumberBehind(name) : -1;
}

}  // namespace

std::string_view NameOf(RoleKind kind) {
  return EnumName<RoleKind::kOther>(kind, {"rollout", "log prob", "reference", "reward", "values",
                                           "update", "weight sync", "other"});
}

std::optional<std::string_view> ReadRole(std::string_view name) {
  constexpr std::size_t kMaxLength = 80;
  if (name.size() > kMaxLength) return std::nullopt;
  const std::string lower = ToLower(WithoutReplica(name));
  const std::size_t dot = lower.rfind('.');
  const std::string_view owner =
      dot == std::string::npos ? std::string_view() : std::string_view(lower).substr(0, dot);
  const std::string_view function = std::string_view(lower).substr(dot + 1);  // npos + 1 is 0
  if (function == "update" && !owner.empty()) {
    if (owner.find("critic") != std::string_view::npos) return "critic_update";
    if (owner.find("actor") != std::string_view::npos) return "actor_update";
    return std::nullopt;
  }
  const auto* const found = std::ranges::find(kNames, function, &NamedRole::name);
  if (found == std::end(kNames)) return std::nullopt;
  const bool of_reference = owner.find("reference") != std::string_view::npos;
  if (of_reference && found->role == "actor_compute_log_prob") return "ref_compute_log_prob";
  return found->role;
}

RoleKind KindOf(std::string_view role) {
  for (const auto& [name, kind] : kKinds) {
    if (name == role) return kind;
  }
  return RoleKind::kOther;
}

NamedDirectories ReadDirectories(std::string_view way) {
  NamedDirectories named;
  bool is_known = false;
  for (const std::string_view part : Split(way, '/')) {
    const auto role = ReadRole(part);
    const std::int64_t iteration = IterationIn(part);
    if (iteration >= 0) named.iteration = iteration;
    if (role) named.role = *role;
    if (role && WithoutReplica(part) != part) named.replica = NumberBehind(part);
    if (!role && !is_known && iteration < 0) named.role = WithoutReplica(part);
    is_known = is_known || role;
  }
  return named;
}

}  // namespace mpa::recipes::rl_roles
