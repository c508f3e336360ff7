#!lua
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Gives a recurring task another envelope and max_attempts, and a new generation, which ends a claim of it. Refused by a
-- full server, as add.lua.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; windows in ms, channel and payload of the wake hint; id, its generation, max_attempts,
--   envelope.
-- Answer: generation and due time; 0: there is no recurring task with this generation.
-- Promise: due time, runs left and pause stay.
local call = redis.call
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms = math.floor(now / 1000)
local id = ARGV[6]
local record = call('HGET', KEYS[2], id)
if not record or #record ~= 29 then return {0, 0} end
local gen, flags, attempt, max, at, runs = struct.unpack('<I8BHHI8i8', record)
if flags % 8 ~= 4 or gen ~= tonumber(ARGV[7]) then return {0, 0} end
gen = math.max((call('HGET', KEYS[4], 'gen') or 0) + 1, now)
call('HSET', KEYS[4], 'gen', gen)
call('ZADD', KEYS[1], flags >= 16 and '9000000000000000' or at, id)
call('HSET', KEYS[3], id, ARGV[9])
call('HSET', KEYS[2], id, struct.pack('<I8BHHI8i8', gen, flags, attempt, ARGV[8], at, runs))
if flags < 16 and at <= ms + ARGV[3] then -- as in add.lua
    local head = call('ZRANGEBYSCORE', KEYS[1], '1', '+inf', 'LIMIT', '0', '1', 'WITHSCORES')
    if tonumber(head[2]) >= at then call('PUBLISH', ARGV[4], (at > ms + ARGV[2] and '+' or '') .. ARGV[5]) end
end
return {gen, at}
