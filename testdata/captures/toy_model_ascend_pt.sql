-- One step of a small model, written by hand: see "The toy model" in testdata/README.md.
BEGIN;
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO STRING_IDS VALUES
(1,'Module'), (2,'ToyModel'), (3,'Linear'), (4,'RMSNorm'), (5,'user'), (6,'a range of another domain'),
(10,'aten::addmm'), (11,'aten::clamp'), (12,'aten::pow'), (13,'aten::mean'), (14,'aten::rsqrt'),
(15,'aten::mul'), (16,'AddmmBackward0'), (17,'aten::mm'), (18,'MulBackward0'), (19,'aten::zero_'),
(20,'Optimizer.step#SGD.step'),
(30,'MatMulV2'), (31,'ClipByValueV2'), (32,'Pow'), (33,'ReduceMeanD'), (34,'Rsqrt'), (35,'Mul'),
(36,'ZerosLike'), (37,'Cast'), (38,'ForeachAddList'),
(40,'AI_CORE'), (41,'AI_VECTOR_CORE'), (42,'KERNEL_AICORE'), (43,'KERNEL_AIVEC'),
(50,'hcom_allReduce_'), (51,'hcom_allReduce__001_0_1'), (52,'group_0'),
(60,'FLOAT16;FLOAT16;FLOAT16'), (61,'ND;ND;ND'), (62,'"100,250;250,100;100"'), (63,'ND'), (64,'"100,100"'),
(65,'FLOAT16;FLOAT16'), (66,'ND;ND'), (67,'"100,100;100,250"'), (68,'"100,250"');

CREATE TABLE ENUM_MSTX_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES (0,'marker'), (1,'push/pop'), (2,'start/end'), (3,'marker_ex');
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER,
    category INTEGER, message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER,
    connectionId INTEGER);
-- Thread 5 of process 3. The second Linear runs three times.
INSERT INTO MSTX_EVENTS VALUES
(1000,10000,2,1,4294967295,2,12884901893,12884901893,1,4000000001),
(1100,1900,2,2,4294967295,3,12884901893,12884901893,1,4000000002),
(2100,2900,2,3,4294967295,3,12884901893,12884901893,1,4000000003),
(3100,3900,2,4,4294967295,3,12884901893,12884901893,1,4000000004),
(4100,4900,2,5,4294967295,3,12884901893,12884901893,1,4000000005),
(5100,5900,2,6,4294967295,3,12884901893,12884901893,1,4000000006),
(6100,9000,2,7,4294967295,4,12884901893,12884901893,1,4000000007),
(100,20000,2,8,4294967295,6,12884901893,12884901893,5,4000000008);

CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_API_TYPE VALUES (50001,'op'), (50002,'queue'), (50003,'trace'), (50004,'mstx');
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER,
    name INTEGER, sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER,
    inputShapes INTEGER, callchainId INTEGER, type INTEGER);
INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) VALUES
('500','600',12884901893,1,19,50001),       -- before the model
('1200','1800',12884901893,2,10,50001),     -- Linear: its backward operator is the last but one
('2000','2050',12884901893,3,11,50001),     -- clamp, in ToyModel itself
('2200','2800',12884901893,4,10,50001),
('3000','3050',12884901893,5,11,50001),
('3200','3800',12884901893,6,10,50001),
('4000','4050',12884901893,7,11,50001),
('4200','4800',12884901893,8,10,50001),
('5000','5050',12884901893,9,11,50001),
('5200','5800',12884901893,10,10,50001),
('6200','6300',12884901893,11,12,50001),    -- RMSNorm
('6400','6500',12884901893,12,13,50001),
('6600','6700',12884901893,13,14,50001),
('6800','6900',12884901893,14,15,50001),
('7000','7100',12884901893,15,15,50001),
('11000','11100',12884901894,16,18,50001),  -- backward, on thread 6
('11010','11050',12884901894,17,15,50001),
('12000','12100',12884901894,18,16,50001),
('12010','12090',12884901894,19,17,50001),
('15000','15100',12884901893,20,20,50001);  -- the optimizer
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
INSERT INTO CONNECTION_IDS VALUES
(1,101), (2,102), (3,103), (4,104), (5,105), (6,106), (7,107), (8,108), (9,109), (10,110),
(11,111), (11,112), (12,113), (13,114), (14,115), (15,116), (17,117), (19,118), (20,119),
(10,200), (18,200),   -- the last Linear and AddmmBackward0
(15,201), (16,201);   -- the last mul of RMSNorm and MulBackward0

CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,
    globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER,
    streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER,
    mixBlockDim INTEGER, taskType INTEGER, opType INTEGER, inputFormats INTEGER,
    inputDataTypes INTEGER, inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER,
    outputShapes INTEGER, attrInfo INTEGER);
INSERT INTO TASK (startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId) VALUES
(20000,20001,0,101,1,43,2),
(21000,21100,0,102,2,42,2), (21200,21203,0,103,3,43,2),
(22000,22200,0,104,4,42,2), (22300,22304,0,105,5,43,2),
(23000,23210,0,106,6,42,2), (23300,23305,0,107,7,43,2),
(24000,24220,0,108,8,42,2), (24300,24306,0,109,9,43,2),
(25000,25050,0,110,10,42,2),
(26000,26002,0,111,11,43,2), (26010,26020,0,112,12,43,2), (26100,26120,0,113,13,43,2),
(26200,26205,0,114,14,43,2), (26300,26306,0,115,15,43,2), (26400,26407,0,116,16,43,2),
(27000,27008,0,117,17,43,2), (28000,28060,0,118,18,42,2), (29000,29100,0,119,19,43,2);
INSERT INTO COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType) VALUES
(36,1,41,36), (30,2,40,30), (31,3,41,31), (30,4,40,30), (31,5,41,31), (30,6,40,30), (31,7,41,31),
(30,8,40,30), (31,9,41,31), (30,10,40,30), (37,11,41,37), (32,12,41,32), (33,13,41,33),
(34,14,41,34), (35,15,41,35), (35,16,41,35), (35,17,41,35), (30,18,40,30), (38,19,41,38);
-- Every Linear multiplies 100 x 250 with 250 x 100; its gradient 100 x 100 with 100 x 250.
UPDATE COMPUTE_TASK_INFO SET inputDataTypes = 60, inputFormats = 61, inputShapes = 62,
    outputFormats = 63, outputShapes = 64 WHERE opType = 30;
UPDATE COMPUTE_TASK_INFO SET inputDataTypes = 65, inputFormats = 66, inputShapes = 67,
    outputFormats = 63, outputShapes = 68 WHERE globalTaskId = 18;
COMMIT;
