#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Lets a dead task wait again: due at once, no attempt used, a new generation.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; channel and payload of the wake hint; id.
-- Answer: 1, or 0: there is no such dead task.
local call = redis.call
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms, id = math.floor(now / 1000), ARGV[4]
local record = call('HGET', KEYS[2], id)
if not record or #record ~= 29 then return 0 end
local _, flags, _, max, _, runs = struct.unpack('<I8BHHI8i8', record)
if flags % 4 ~= 3 then return 0 end
local gen = math.max((call('HGET', KEYS[4], 'gen') or 0) + 1, now)
call('HSET', KEYS[4], 'gen', gen)
call('ZADD', KEYS[1], ms, id)
call('HSET', KEYS[2], id, struct.pack('<I8BHHI8i8', gen, 0, 0, max, ms, runs))
call('ZREM', KEYS[6], id)
call('HDEL', KEYS[7], id)
call('PUBLISH', ARGV[2], ARGV[3])
return 1
