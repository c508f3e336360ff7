#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Gives a waiting task a new due time and a new generation, which ends a claim of it.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; windows in ms, channel and payload of the wake hint; id; due in ms; 1 if this is a delay.
-- Answer: 0: there is no waiting or running task, 1: done, 2: it runs, and stays as it is, 3: it is a recurring task, and
--   stays as it is; then generation and due time.
-- Promise: a paused task stays paused. No occurrence gets the name of an earlier one. With an earlier due time, a recurring task would make some
--   again.
local call = redis.call
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms = math.floor(now / 1000)
local id = ARGV[6]
local record = call('HGET', KEYS[2], id)
if not record or #record ~= 29 then return {0, 0, 0} end
local gen, flags, attempt, max, at, runs = struct.unpack('<I8BHHI8i8', record)
if flags % 4 > 1 then return {0, 0, 0} end
if flags % 4 == 1 then return {2, gen, at} end
if flags % 8 >= 4 then return {3, gen, at} end
at = tonumber(ARGV[7])
if ARGV[8] == '1' then at = at > 0 and math.ceil(now / 1000) + at or ms end
if at < 1 then at = 1 end
gen = math.max((call('HGET', KEYS[4], 'gen') or 0) + 1, now)
call('HSET', KEYS[4], 'gen', gen)
local paused = flags >= 16
call('ZADD', KEYS[1], paused and '9000000000000000' or at, id)
call('HSET', KEYS[2], id, struct.pack('<I8BHHI8i8', gen, flags, attempt, max, at, runs))
if not paused and at <= ms + ARGV[3] then -- as in add.lua
    local head = call('ZRANGEBYSCORE', KEYS[1], '1', '+inf', 'LIMIT', '0', '1', 'WITHSCORES')
    if tonumber(head[2]) >= at then call('PUBLISH', ARGV[4], (at > ms + ARGV[2] and '+' or '') .. ARGV[5]) end
end
return {1, gen, at}
