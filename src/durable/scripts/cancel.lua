#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Cancels a task.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: id.
-- Answer: 0: there is no waiting or running task, 1: removed, 2: it runs; no further attempt begins.
local id = ARGV[1]
local record = redis.call('HGET', KEYS[2], id)
if not record or #record ~= 29 then return 0 end
local flags = string.byte(record, 9)
if flags % 4 > 1 then return 0 end
if flags % 4 == 1 then
    if flags < 8 then
        redis.call('HSET', KEYS[2], id, string.sub(record, 1, 8) .. string.char(flags + 8) .. string.sub(record, 10))
    end
    return 2
end
redis.call('HDEL', KEYS[2], id)
redis.call('HDEL', KEYS[3], id)
redis.call('ZREM', KEYS[1], id)
redis.call('HDEL', KEYS[7], id)
return 1
