#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Begins attempts of tasks that wait and do not recur, in any shards of one server: as begin.lua, which decides the rest.
-- KEYS: due, meta, seq of each shard.
-- ARGV: now in us, or empty; lease in ms; nonce of the worker, not 0; then for each shard the number of requests, their
--   ids, their generations. At most 128 requests, each id and generation once.
-- Answer: now in us; then for each request an attempt and a generation, as begin.lua. Attempt nil: ask begin.lua.
-- Promise: that of begin.lua. What is wrong with a shard concerns no other: its requests get nil.
local call, pack, unpacked = redis.pcall, struct.pack, struct.unpack
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local leased = string.format('-%d', math.floor(now / 1000) + ARGV[2]) -- as in add.lua
local nonce = tonumber(ARGV[3])

local answer, i = {now}, 4
for key = 1, #KEYS, 3 do
    local due, meta, n = KEYS[key], KEYS[key + 1], #answer
    local count, paused = tonumber(ARGV[i]), call('HGET', KEYS[key + 2], 'paused')
    local records = call('HMGET', meta, unpack(ARGV, i + 1, i + count))
    local scores, metas, m = {}, {}, 0
    for k = 1, count do
        local record, attempt, generation = records[k], 0, 0
        if record and #record == 29 then
            local gen, flags, tries, max, at = unpacked('<I8BHHI8', record)
            if gen == tonumber(ARGV[i + count + k]) then
                if flags ~= 0 or paused then
                    attempt = false
                elseif at * 1000 > now then
                    attempt = now - at * 1000
                else
                    attempt, generation = tries + 1, gen
                    scores[m + 1], scores[m + 2] = leased, ARGV[i + k]
                    metas[m + 1], metas[m + 2] = ARGV[i + k], pack('<I8BHHI8i8', gen, 1, attempt, max, at, nonce)
                    m = m + 2
                end
            end
        end
        answer[n + 2 * k - 1], answer[n + 2 * k] = attempt, generation
    end
    local written = m > 0 and call('ZADD', due, unpack(scores))
    if type(written) == 'number' then written = call('HSET', meta, unpack(metas)) end
    if records.err or type(written) == 'table' then
        for k = 1, count do answer[n + 2 * k - 1] = false end
    end
    i = i + 2 * count + 1
end
return answer
