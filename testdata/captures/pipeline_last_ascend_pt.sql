-- The last stage of a pipeline of two ranks: see "The pipeline" in testdata/README.md.
BEGIN;
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO STRING_IDS VALUES
(1,'default'),
(2,'other'),
(3,'load_start'),
(4,'load_stop'),
(5,'tail_stop'),
(6,'forward_step'),
(7,'backward_step'),
(8,'attention'),
(9,'elsewhere'),
(10,'mstx_mark_op'),
(20,'MsTx'),
(21,'Notify_Record'),
(22,'Notify_Wait'),
(23,'Memcpy'),
(24,'KERNEL_MIX_AIC'),
(30,'GroupedMatmul'),
(31,'grouped'),
(32,'"100,64;50,64;64,32;64,32;;;8"'),
(33,'"101,64;50,64;64,32;64,32;;;8"'),
(34,'"300,64;50,64;64,32;64,32;;;8"'),
(35,'N/A'),
(40,'host%eth_0'),
(41,'host%eth_1'),
(42,'hcom_send_'),
(43,'hcom_receive_'),
(50,'hcom_send__233_0_1'),
(51,'hcom_receive__233_1_1'),
(52,'hcom_send__500_0_1'),
(53,'hcom_send__233_2_1'),
(54,'hcom_batchSendRecv__233_3_1'),
(55,'hcom_receive__233_0_1'),
(56,'hcom_send__233_1_1'),
(57,'hcom_receive__500_0_1');
CREATE TABLE META_DATA (name TEXT, value TEXT);
INSERT INTO META_DATA VALUES
('parallel_group_info', '{"host%eth_0": {"group_name": "pp", "group_rank": 1, "global_ranks": [0, 1]}, "host%eth_1": {"group_name": "exp", "group_rank": 1, "global_ranks": [0, 1]}}'),
('distributed_args', '{"tensor_model_parallel_size": 1, "pipeline_model_parallel_size": 2, "data_parallel_size": 1, "world_size": 2}'),
('pp_info', '{"pp_type": "1f1b", "microbatch_num": 1}');
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
INSERT INTO STEP_TIME VALUES (1,1000,10000), (2,10000,20000);
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
    message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER);
INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, message, globalTid, domainId, connectionId) VALUES
(1100,1100,3,3,12884901893,1,4000000011),
(1400,1400,3,4,12884901893,1,4000000012),
(9000,9000,3,5,12884901893,1,4000000013),
(1500,2000,2,6,12884901893,1,4000000001),
(1600,1800,2,8,12884901893,1,4000000003),
(1550,1900,2,9,12884901893,2,4294967295),
(4000,4600,2,7,12884901893,1,4000000002),
(11000,11500,2,6,12884901893,1,4000000004),
(12000,12100,2,6,12884901893,1,4000000005),
(14000,14500,2,7,12884901893,1,4000000006);
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,
    sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER,
    type INTEGER);
CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_API_TYPE VALUES (50001,'op'), (50002,'queue'), (50003,'trace'), (50004,'mstx');
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) VALUES
('1050','1090',12884901893,1,10,50001),
('1350','1390',12884901893,2,10,50001);
INSERT INTO CONNECTION_IDS VALUES
(1,4000000011),
(2,4000000012);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
    globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId, taskType, streamId) VALUES
(1150,1160,4000000011,1,20,2),
(1600,1610,4000000012,2,20,2),
(2500,3600,4000000001,3,20,2),
(4500,7100,4000000002,4,20,2),
(12500,13500,4000000004,5,20,2),
(13500,13600,4000000005,6,20,2),
(14500,16500,4000000006,7,20,2),
(2700,2900,201,20,24,2),
(2800,2820,301,30,21,3),
(2830,2850,301,31,22,3),
(2860,2880,301,32,23,3),
(4700,4720,302,33,21,3),
(4730,4750,302,34,22,3),
(4760,4780,302,35,23,3),
(13200,13220,303,36,21,3),
(13230,13250,303,37,22,3),
(13260,13280,303,38,23,3),
(13400,13420,304,39,21,3),
(13430,13450,304,40,22,3),
(13460,13480,304,41,23,3);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, taskType INTEGER, opType INTEGER,
    inputShapes INTEGER);
INSERT INTO COMPUTE_TASK_INFO VALUES
(31,20,24,30,34);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,
    opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count NUMERIC,
    opType INTEGER);
INSERT INTO COMMUNICATION_OP (opName, startNs, endNs, connectionId, groupName, opId, opType) VALUES
(55,2800,3520,301,40,1,43),
(56,4700,5010,302,40,2,42),
(55,13200,13420,303,40,3,43),
(57,13400,13620,304,41,4,43);
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER,
    groupName INTEGER, srcRank INTEGER, dstRank INTEGER, opId INTEGER);
INSERT INTO COMMUNICATION_TASK_INFO VALUES
(55,30,21,0,40,1,0,1),
(55,31,22,0,40,1,0,1),
(55,32,23,0,40,1,1,1),
(56,33,21,0,40,1,0,2),
(56,34,22,0,40,1,0,2),
(56,35,23,0,40,1,1,2),
(55,36,21,0,40,1,0,3),
(55,37,22,0,40,1,0,3),
(55,38,23,0,40,1,1,3),
(57,39,21,0,41,1,0,4),
(57,40,22,0,41,1,0,4),
(57,41,23,0,41,1,1,4);
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER,
    name INTEGER);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
INSERT INTO CANN_API (startNs, endNs, type, globalTid, connectionId, name) VALUES
(2750,2790,20000,12884901893,301,10),
(4650,4690,20000,12884901893,302,10),
(13150,13190,20000,12884901893,303,10),
(13350,13390,20000,12884901893,304,10);
INSERT INTO RANK_DEVICE_MAP VALUES (1,1);
COMMIT;
