-- Marks of the communication library without records of HCCL: see "Marks of communication" in testdata/README.md.
BEGIN;
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO STRING_IDS VALUES
(1,'default'), (20,'MsTx'), (21,'KERNEL_AIVEC'),
(2,'{\"streamId\": \"7\",\"count\": \"4096\",\"dataType\": \"fp16\",\"groupName\": \"host%eth_0\",\"opName\": \"hcom_allReduce\"}'),
(3,'{"streamId": 7, "count": 512, "dataType": "newtype", "groupName": "host%eth_0", "opName": "hcom_allReduce"}'),
(4,'{"streamId": "7", "count": "64", "opName": "hcom_allReduce"}'),
(5,'comm:HcclAllGather,host%eth_1,int8,100'),
(6,'{"streamId": "9", "count": "1", "dataType": "fp32", "groupName": "host%eth_0", "opName": "hcom_broadcast"}'),
(7,'{"an": "object of the program"}');
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
    message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER);
INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, message, globalTid, domainId, connectionId) VALUES
(100,110,2,2,12884901893,1,4000000001),  -- its task is on stream 7
(200,210,2,3,12884901893,1,4294967295),  -- the first task of stream 7 behind it: 1500
(300,310,2,3,12884901893,1,4000000003),  -- the next one: 1700, its connection has no task
(400,410,2,4,12884901893,1,4000000004),  -- names no group
(500,510,2,5,12884901893,1,4000000005),
(600,610,2,6,12884901893,1,4294967295),  -- stream 9 has no tasks
(700,710,2,7,12884901893,1,4000000007);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
    globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId, taskType, streamId) VALUES
(150,180,11,1,21,7),
(1000,1400,4000000001,2,20,7),
(1500,1600,12,3,21,7),
(1700,1950,13,4,21,7),
(1200,1300,4000000005,5,20,8);
COMMIT;
