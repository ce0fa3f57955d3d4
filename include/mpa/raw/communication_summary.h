// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/model/communication_summary.h"
#include "mpa/raw/session.h"

/// The future contents of communication.json, communication_matrix.json and the tables
/// CommAnalyzer* of analysis.db, before they are written.
namespace mpa::raw {

using mpa::CommunicationOp;
using mpa::CommunicationStep;
using mpa::CommunicationTime;
using mpa::LinkKind;
using mpa::LinkUse;
using mpa::MatrixEntry;

std::vector<CommunicationStep> SummariseCommunication(const Session& session);

}  // namespace mpa::raw
