#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Cancels a task.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: id.
-- Answer: 0: there is no waiting or running task, 1: removed, 2: it runs; no further attempt begins.
-- Promise: each call writes, even if nothing changes: so a WAIT after it waits for the replicas, also on a new connection
--   after a cancel that was not confirmed.
local call, id = redis.call, ARGV[1]
local record = call('HGET', KEYS[2], id)
local flags = record and #record == 29 and string.byte(record, 9) or 3
if flags % 4 > 1 then
    call('HSET', KEYS[4], 'gen', call('HGET', KEYS[4], 'gen') or 0)
    return 0
end
if flags % 4 == 1 then
    if flags < 8 then flags = flags + 8 end
    call('HSET', KEYS[2], id, string.sub(record, 1, 8) .. string.char(flags) .. string.sub(record, 10))
    return 2
end
call('HDEL', KEYS[2], id)
call('HDEL', KEYS[3], id)
call('ZREM', KEYS[1], id)
call('HDEL', KEYS[7], id)
return 1
