#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Repairs a step of a shard: all tasks whose record and place do not fit together.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; channel and payload of the wake hint; which key (2, 1, 5, 6, 3, 7 in turn) and its cursor, 0 at first; about how many.
-- Answer: the next key and cursor, 0 and 0 at the end; how many it saw; how many it repaired.
-- Promise: the record is the truth. A record without its place gets it (a running one with a lease that ends now); a
--   place, envelope or message without a record goes. A damaged record becomes a dead task with a message. It changes
--   nothing of a sound task. If it repaired something, it gives a wake hint.
local due, meta, seq, done, dead, note = KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local call = redis.call
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms, place = math.floor(now / 1000), tonumber(ARGV[4])
local following = {[2] = 1, [1] = 5, [5] = 6, [6] = 3, [3] = 7, [7] = 0}
local hash = place == 2 or place == 3 or place == 7
local page = call(hash and 'HSCAN' or 'ZSCAN', KEYS[place], ARGV[5], 'COUNT', ARGV[6])
local found, repaired = page[2], 0

local function repair_record(id, record)
    if #record ~= 29 then
        local gen = math.max((call('HGET', seq, 'gen') or 0) + 1, now)
        call('HSET', seq, 'gen', gen)
        call('ZADD', dead, ms, id)
        call('HSET', note, id, 'the record was damaged')
        call('ZREM', due, id)
        call('ZREM', done, id)
        call('HSET', meta, id, struct.pack('<I8BHHI8i8', gen, 3, 0, 1, ms, 1))
        return 1
    end
    local _, flags, _, _, at = struct.unpack('<I8BHHI8', record)
    local state = flags % 4
    if state > 1 then
        local key = state == 2 and done or dead
        if call('ZSCORE', key, id) then return 0 end
        call('ZADD', key, ms, id)
        return 1
    end
    local score = tonumber(call('ZSCORE', due, id) or 0)
    if flags >= 16 then -- paused
        if score == 9000000000000000 then return 0 end
        call('ZADD', due, '9000000000000000', id)
        return 1
    end
    if score == 9000000000000000 then score = 0 end
    if state == 0 and score ~= 0 or score < 0 then return 0 end
    call('ZADD', due, state == 0 and math.max(at, 1) or -ms, id)
    return 1
end

local function repair_place(id)
    local record = call('HGET', meta, id)
    if record and #record ~= 29 then return 0 end
    local state = record and string.byte(record, 9) % 4
    local right = record and true or false
    if place == 1 then
        right = record and state < 2
    elseif place == 5 then
        right = state == 2
    elseif place == 6 then
        right = state == 3
    end
    if right then return 0 end
    call(hash and 'HDEL' or 'ZREM', KEYS[place], id)
    return 1
end

for i = 1, #found, 2 do
    if place == 2 then
        repaired = repaired + repair_record(found[i], found[i + 1])
    else
        repaired = repaired + repair_place(found[i])
    end
end
if repaired > 0 then call('PUBLISH', ARGV[2], ARGV[3]) end
if page[1] == '0' then place = following[place] end
return {place, page[1], #found / 2, repaired}
