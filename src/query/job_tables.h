// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "computed_tables.h"
#include "job.h"

/// Tables that need all ranks of a job at once.
namespace mpa::query {

ArrivalTable ArrivalsOf(Job& job);
FindingTable FindingsOf(Job& job);
ChangeTable ChangesOf(Job& job);
RlRoleTable RlRolesOf(Job& job);
CapturedTable CapturedOf(Job& job);
RunTable RunsOf(Job& job);
TextTable TextsOf(Job& job);

}  // namespace mpa::query
