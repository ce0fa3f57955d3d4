// SPDX-License-Identifier: Apache-2.0
// The numbers and names that are fixed by the record formats and the profiler's databases.
#include "mpa/raw/enumerations.h"

#include <algorithm>

namespace mpa::raw {
namespace {

// In order of the number: NameOf() searches by halving.
constexpr NamedNumber kCommunicationDataTypes[] = {
    {0, "INT8"},     {1, "INT16"},    {2, "INT32"},      {3, "FP16"},    {4, "FP32"},
    {5, "INT64"},    {6, "UINT64"},   {7, "UINT8"},      {8, "UINT16"},  {9, "UINT32"},
    {10, "FP64"},    {11, "BFP16"},   {12, "INT128"},    {14, "HIF8"},   {15, "FP8E4M3"},
    {16, "FP8E5M2"}, {17, "FP8E8M0"}, {255, "RESERVED"}, {65534, "N/A"}, {65535, "INVALID_TYPE"}};

constexpr NamedNumber kLinkTypes[] = {
    {0, "ON_CHIP"}, {1, "HCCS"},       {2, "PCIE"},          {3, "ROCE"},
    {4, "SIO"},     {5, "HCCS_SW"},    {6, "STANDARD_ROCE"}, {7, "UB"},
    {8, "UBoE"},    {255, "RESERVED"}, {65534, "N/A"},       {65535, "INVALID_TYPE"}};

constexpr NamedNumber kTransportTypes[] = {
    {0, "SDMA"}, {1, "RDMA"},       {2, "LOCAL"},   {3, "UB"},
    {4, "ROCE"}, {255, "RESERVED"}, {65534, "N/A"}, {65535, "INVALID_TYPE"}};

constexpr NamedNumber kRdmaTypes[] = {{0, "RDMA_SEND_NOTIFY"},
                                      {1, "RDMA_SEND_PAYLOAD"},
                                      {255, "RESERVED"},
                                      {65534, "N/A"},
                                      {65535, "INVALID_TYPE"}};

constexpr NamedNumber kCopyDirections[] = {
    {0, "host to host"},      {1, "host to device"},    {2, "device to host"},
    {3, "device to device"},  {4, "managed memory"},    {5, "addr device to device"},
    {6, "host to device ex"}, {7, "device to host ex"}, {65535, "other"}};

constexpr NamedNumber kModuleNames[] = {{0, "SLOG"},        {1, "IDEDD"},     {2, "SCC"},
                                        {3, "HCCL"},        {4, "FMK"},       {5, "CCU"},
                                        {6, "DVPP"},        {7, "RUNTIME"},   {8, "CCE"},
                                        {9, "HDC"},         {10, "DRV"},      {11, "NET"},
                                        {22, "DEVMM"},      {23, "KERNEL"},   {24, "LIBMEDIA"},
                                        {25, "CCECPU"},     {27, "ROS"},      {28, "HCCP"},
                                        {29, "ROCE"},       {30, "TEFUSION"}, {31, "PROFILING"},
                                        {32, "DP"},         {33, "APP"},      {34, "TS"},
                                        {35, "TSDUMP"},     {36, "AICPU"},    {37, "LP"},
                                        {38, "TDT"},        {39, "FE"},       {40, "MD"},
                                        {41, "MB"},         {42, "ME"},       {43, "IMU"},
                                        {44, "IMP"},        {45, "GE"},       {47, "CAMERA"},
                                        {48, "ASCENDCL"},   {49, "TEEOS"},    {50, "ISP"},
                                        {51, "SIS"},        {52, "HSM"},      {53, "DSS"},
                                        {54, "PROCMGR"},    {55, "BBOX"},     {56, "AIVECTOR"},
                                        {57, "TBE"},        {58, "FV"},       {60, "TUNE"},
                                        {61, "HSS"},        {62, "FFTS"},     {63, "OP"},
                                        {64, "UDF"},        {65, "HICAID"},   {66, "TSYNC"},
                                        {67, "AUDIO"},      {68, "TPRT"},     {69, "ASCENDCKERNEL"},
                                        {70, "ASYS"},       {71, "ATRACE"},   {72, "RTC"},
                                        {73, "SYSMONITOR"}, {74, "AMP"},      {75, "ADETECT"},
                                        {76, "MBUFF"},      {77, "CUSTOM"}};

constexpr NamedNumber kApiLevels[] = {{5000, "runtime"}, {5500, "communication"}, {10000, "node"},
                                      {15000, "model"},  {20000, "acl"},          {50001, "op"},
                                      {50002, "queue"},  {50003, "trace"},        {50004, "mstx"}};

constexpr NamedNumber kMarkTypes[] = {
    {0, "marker"}, {1, "push/pop"}, {2, "start/end"}, {3, "marker_ex"}};

constexpr NamedNumber kActivityTypes[] = {{0, "COMPUTE"},
                                          {1, "COMMUNICATION"},
                                          {2, "COMM_NOT_OVERLAP_COMP"},
                                          {3, "FREE"},
                                          {65535, "RESERVE"}};

}  // namespace

std::span<const NamedNumber> CommunicationDataTypes() { return kCommunicationDataTypes; }
std::span<const NamedNumber> LinkTypes() { return kLinkTypes; }
std::span<const NamedNumber> TransportTypes() { return kTransportTypes; }
std::span<const NamedNumber> RdmaTypes() { return kRdmaTypes; }
std::span<const NamedNumber> CopyDirections() { return kCopyDirections; }
std::span<const NamedNumber> Modules() { return kModuleNames; }
std::span<const NamedNumber> ApiLevels() { return kApiLevels; }
std::span<const NamedNumber> MarkTypes() { return kMarkTypes; }
std::span<const NamedNumber> ActivityTypes() { return kActivityTypes; }

std::string_view NameOf(std::span<const NamedNumber> table, std::int64_t number) {
  const auto found = std::lower_bound(
      table.begin(), table.end(), number,
      [](const NamedNumber& entry, std::int64_t wanted) { return entry.number < wanted; });
  if (found == table.end() || found->number != number) return {};
  return found->name;
}

}  // namespace mpa::raw
