#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Ends first attempts that are done, of tasks that are not kept, in any shards of one server: as finish.lua, which decides
-- the rest.
-- KEYS: due, meta, body of each shard.
-- ARGV: for each shard the number of requests, their ids, their generations. At most 128 requests, each id and generation
--   once.
-- Answer: for each request 1, or nil: ask finish.lua.
-- Promise: that of finish.lua. What is wrong with a shard concerns no other: its requests get nil.
local call, unpacked = redis.pcall, struct.unpack

local answer, i = {}, 1
for key = 1, #KEYS, 3 do
    local meta, n, count = KEYS[key + 1], #answer, tonumber(ARGV[i])
    local records = call('HMGET', meta, unpack(ARGV, i + 1, i + count))
    local gone, m = {}, 0
    for k = 1, count do
        local record, counts = records[k], false
        if record and #record == 29 then
            local gen, flags, attempt = unpacked('<I8BH', record)
            if flags % 4 == 1 and attempt == 1 and gen == tonumber(ARGV[i + count + k]) then
                m = m + 1
                gone[m] = ARGV[i + k]
                counts = 1
            end
        end
        answer[n + k] = counts
    end
    if m > 0 then
        -- Without its record a task is gone. If another key has the wrong type, claim and audit remove the rest later.
        call('HDEL', meta, unpack(gone))
        call('HDEL', KEYS[key + 2], unpack(gone))
        call('ZREM', KEYS[key], unpack(gone))
    end
    i = i + 2 * count + 1
end
return answer
