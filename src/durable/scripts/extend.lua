#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Extends the leases of running attempts.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; lease in ms; then for each attempt: id, generation, attempt. At most 128.
-- Answer: for each attempt 0: stale, 1: extended, 2: extended, and cancelled.
-- Promise: an attempt whose lease ran out is extended too, if no claim has taken notice of that.
local due, meta = KEYS[1], KEYS[2]
local call = redis.call
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local leased = -(math.floor(now / 1000) + ARGV[2])
local ids, n = {}, 0
for i = 3, #ARGV, 3 do
    n = n + 1
    ids[n] = ARGV[i]
end
local records = call('HMGET', meta, unpack(ids))
local answer, scores = {}, {}
for k = 1, n do
    local record, result = records[k], 0
    if record and #record == 29 then
        local gen, flags, attempt = struct.unpack('<I8BH', record)
        if flags % 4 == 1 and gen == tonumber(ARGV[3 * k + 1]) and attempt == tonumber(ARGV[3 * k + 2]) then
            result = flags >= 8 and 2 or 1
            scores[#scores + 1] = leased
            scores[#scores + 1] = ids[k]
        end
    end
    answer[k] = result
end
if #scores > 0 then call('ZADD', due, unpack(scores)) end
return answer
