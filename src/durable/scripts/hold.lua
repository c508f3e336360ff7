#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Pauses a waiting task, which gets a new generation, so that a claim of it ends; or ends its pause.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; windows in ms, channel and payload of the wake hint; id; 1: pause, 0: go on.
-- Answer: 0: there is no waiting or running task, 1: done, 2: it runs, and stays as it is.
-- Promise: each call writes, even if nothing changes (as in cancel.lua). A paused task has the place 9000000000000000,
--   which no claim reaches, and keeps its due time.
local call = redis.call
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local id, paused = ARGV[6], ARGV[7] == '1'
local last = call('HGET', KEYS[4], 'gen') or 0
local record = call('HGET', KEYS[2], id)
local state = record and #record == 29 and string.byte(record, 9) % 4 or 3
if state > 0 then
    call('HSET', KEYS[4], 'gen', last)
    return state == 1 and 2 or 0
end
local gen, flags, attempt, max, at, runs = struct.unpack('<I8BHHI8i8', record)
if paused == (flags >= 16) then
    call('HSET', KEYS[4], 'gen', last)
    return 1
end
if paused then
    gen = math.max(last + 1, now)
    call('HSET', KEYS[4], 'gen', gen)
end
call('ZADD', KEYS[1], paused and '9000000000000000' or at, id)
call('HSET', KEYS[2], id, struct.pack('<I8BHHI8i8', gen, paused and flags + 16 or flags - 16, attempt, max, at, runs))
local ms = math.floor(now / 1000)
if not paused and at <= ms + ARGV[3] then -- as in add.lua
    local head = call('ZRANGEBYSCORE', KEYS[1], '1', '+inf', 'LIMIT', '0', '1', 'WITHSCORES')
    if tonumber(head[2]) >= at then call('PUBLISH', ARGV[4], (at > ms + ARGV[2] and '+' or '') .. ARGV[5]) end
end
return 1
