-- Views with the names and columns of the profiler's databases, so that statements that were written
-- for those run on captures of any format. Ids of names are the names, which STRING_IDS gives back.
-- Numbers that databases count in each rank have the rank above them, so that joins stay within it.
-- Columns of other tables, such as rank and step, are there, too.

CREATE VIEW TASK AS
SELECT t.start AS startNs, t.start + t.dur AS endNs, NULL AS deviceId,
  (t.rank << 40) + coalesce(t.connection, t.link) AS connectionId,
  (t.rank << 40) + t.id AS globalTaskId, NULL AS globalPid, t.type AS taskType, NULL AS contextId,
  t.stream AS streamId, t.task_id AS taskId, t.model AS modelId, t.rank, t.step, t.name
FROM device_task t;

CREATE VIEW COMPUTE_TASK_INFO AS
SELECT k.name, (k.rank << 40) + k.device_task AS globalTaskId, l.blocks AS blockDim,
  l.mix_blocks AS mixBlockDim, k.core AS taskType, k.op_type AS opType,
  k.input_formats AS inputFormats, k.input_types AS inputDataTypes, k.shapes AS inputShapes,
  k.output_formats AS outputFormats, l.output_types AS outputDataTypes,
  k.output_shapes AS outputShapes, l.attributes AS attrInfo, k.rank, k.step
FROM kernel k LEFT JOIN kernel_load l ON l.id = k.id AND l.rank = k.rank;

CREATE VIEW COMMUNICATION_OP AS
SELECT c.name AS opName, c.start AS startNs, c.start + c.dur AS endNs,
  (c.rank << 40) + coalesce(c.connection, c.link) AS connectionId, g.name AS groupName,
  (c.rank << 40) + c.id AS opId, NULL AS relay, NULL AS retry, c.data_type AS dataType,
  NULL AS algType, c.count, substr(c.op_type, 1, instr(c.op_type || '__', '__')) AS opType, c.rank, c.step
FROM comm c LEFT JOIN comm_group g ON g.id = c.comm_group AND g.rank = c.rank;

CREATE VIEW COMMUNICATION_TASK_INFO AS
SELECT t.name, (t.rank << 40) + t.device_task AS globalTaskId, t.name AS taskType, t.plane AS planeId,
  g.name AS groupName, t.notify AS notifyId, t.rdma_type AS rdmaType, t.own_rank AS srcRank,
  t.peer AS dstRank, t.transport AS transportType, t.bytes AS size, NULL AS dataType,
  t.link_type AS linkType, (t.rank << 40) + t.comm AS opId, t.rank, t.start AS startNs,
  t.start + t.dur AS endNs
FROM comm_task t LEFT JOIN comm_group g ON g.id = t.comm_group AND g.rank = t.rank;

CREATE VIEW CANN_API AS
SELECT c.start AS startNs, c.start + c.dur AS endNs,
  lower(replace(substr(c.name, 1, max(instr(c.name, '@') - 1, 0)), 'AscendCL', 'acl')) AS type, t.tid AS globalTid,
  (c.rank << 40) + c.connection AS connectionId, substr(c.name, instr(c.name, '@') + 1) AS name,
  c.rank, c.step
FROM call c LEFT JOIN track t ON t.id = c.track AND t.rank = c.rank;

CREATE VIEW PYTORCH_API AS
SELECT o.start AS startNs, o.start + o.dur AS endNs, t.tid AS globalTid,
  (o.rank << 40) + o.id AS connectionId, o.name, NULL AS sequenceNumber, NULL AS fwdThreadId,
  o.types AS inputDtypes, o.shapes AS inputShapes, (o.rank << 40) + o.id AS callchainId,
  'op' AS type, o.rank, o.step
FROM op o LEFT JOIN track t ON t.id = o.track AND t.rank = o.rank;

CREATE VIEW CONNECTION_IDS AS
SELECT DISTINCT (rank << 40) + op AS id, (rank << 40) + coalesce(connection, link) AS connectionId
FROM device_task WHERE op IS NOT NULL
UNION
SELECT (rank << 40) + op, (rank << 40) + coalesce(connection, link) FROM comm WHERE op IS NOT NULL;

CREATE VIEW PYTORCH_CALLCHAINS AS
SELECT (rank << 40) + id AS id, stack, 0 AS stackDepth FROM op WHERE stack IS NOT NULL;

CREATE VIEW STEP_TIME AS
SELECT step AS id, start AS startNs, finish AS endNs, rank FROM step;

CREATE VIEW OVERLAP_ANALYSIS AS
SELECT id, device AS deviceId, start AS startNs, start + dur AS endNs, activity AS type, rank
FROM overlap;

CREATE VIEW MSTX_EVENTS AS
SELECT m.start AS startNs, m.start + m.dur AS endNs, m.kind AS eventType, NULL AS rangeId,
  NULL AS category, m.message, t.tid AS globalTid, t.tid AS endGlobalTid, m.domain AS domainId,
  (m.rank << 40) + m.link AS connectionId, m.rank, m.step
FROM mark m LEFT JOIN track t ON t.id = m.track AND t.rank = m.rank;

CREATE VIEW MEMORY_RECORD AS
SELECT component, time AS timestamp, allocated_bytes AS totalAllocated,
  reserved_bytes AS totalReserved, NULL AS totalActive, NULL AS streamPtr, NULL AS deviceId, rank
FROM memory;

CREATE VIEW OP_MEMORY AS
SELECT name, bytes AS size, allocated AS allocationTime, released AS releaseTime,
  released - allocated AS duration, rank
FROM allocation;

CREATE VIEW TASK_PMU_INFO AS
SELECT (c.rank << 40) + k.device_task AS globalTaskId, c.name, c.value, c.rank
FROM counter c JOIN kernel k ON k.id = c.kernel AND k.rank = c.rank;

CREATE VIEW AICORE_FREQ AS
SELECT device AS deviceId, start AS timestampNs, mhz AS freq, rank FROM clock;

CREATE VIEW ENUM_API_TYPE AS SELECT DISTINCT type AS id, type AS name FROM CANN_API
UNION SELECT 'op', 'op';
CREATE VIEW ENUM_HCCL_TRANSPORT_TYPE AS SELECT DISTINCT transport AS id, transport AS name FROM comm_task;
CREATE VIEW ENUM_HCCL_LINK_TYPE AS SELECT DISTINCT link_type AS id, link_type AS name FROM comm_task;
CREATE VIEW ENUM_HCCL_DATA_TYPE AS SELECT DISTINCT data_type AS id, data_type AS name FROM comm;
CREATE VIEW ENUM_HCCL_RDMA_TYPE AS SELECT DISTINCT rdma_type AS id, rdma_type AS name FROM comm_task;

CREATE VIEW RANK_DEVICE_MAP AS SELECT DISTINCT rank AS rankId, NULL AS deviceId FROM step;

-- The views that the public skill ascend-profiler-db-explorer defines for the profiler's databases: what
-- kernels and collectives take, and which calls of CANN and PyTorch launched tasks of the device.
CREATE VIEW compute_view AS
SELECT (rank << 40) + device_task AS globalTaskId, dur AS duration_ns, name AS op_name, op_type, rank, step
FROM kernel;

CREATE VIEW comm_view AS
SELECT c.dur AS duration_ns, c.name AS op_name,
  substr(c.op_type, 1, instr(c.op_type || '__', '__')) AS op_type, g.name AS group_name, c.rank, c.step
FROM comm c LEFT JOIN comm_group g ON g.id = c.comm_group AND g.rank = c.rank;

CREATE VIEW dispatch_view AS
SELECT (t.rank << 40) + t.id AS global_task_id, t.type AS task_type, t.start AS task_start_ns,
  t.start + t.dur AS task_end_ns, t.dur AS task_duration_ns,
  substr(c.name, instr(c.name, '@') + 1) AS cann_api_name, c.start AS cann_start_ns,
  c.start + c.dur AS cann_end_ns, c.dur AS cann_duration_ns, o.name AS pytorch_api_name,
  o.start AS pytorch_start_ns, o.start + o.dur AS pytorch_end_ns, o.dur AS pytorch_duration_ns,
  t.rank, t.step
FROM device_task t LEFT JOIN call c ON c.connection = coalesce(t.connection, t.link) AND c.rank = t.rank
LEFT JOIN op o ON o.id = t.op AND o.rank = t.rank;
