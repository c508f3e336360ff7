#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Leases tasks that are due soon, or whose lease has run out, to a worker.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; horizon in ms; how many, at most 128; lease in ms; done_ms, max_done, dead_ms, max_dead.
-- Answer: now in us; 1 if the number or the bytes ended the claim; when, in ms, a further claim may find something: the
--   due time of what is left, less the horizon, or the end of a lease; or more to remove; 9000000000000000: never, or the shard is paused;
--   then for each task id, record (add.lua), envelope.
-- Promise: at most half of the tasks, rounded up, are those whose lease has run out, the oldest first. It takes no
--   further task once the envelopes have more than 4 MiB, half of that for those whose lease has run out; these stay as
--   they are. A claim of a waiting task changes its score only. A running one waits again; without a further attempt it is dead; if cancelled,
--   it is gone. Members without a sound record of a waiting or running task go. Then removes up to 64 done and 64 dead
--   tasks that are too old or too many.
local due, meta, body = KEYS[1], KEYS[2], KEYS[3]
local call, text = redis.call, string.format -- as in add.lua
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms = math.floor(now / 1000)
local answer = {now, 0, 9000000000000000}

-- A note as in attempt_history.hpp, for an attempt whose lease has run out. As in finish.lua.
local function noted(old, attempt, lost, message)
    local list = ''
    if old and string.byte(old) == 1 and #old > 4 then list = string.sub(old, 6 + struct.unpack('<I4', old, 2)) end
    local count, at = 0, 1
    while at <= #list do
        at = at + 12 + (string.byte(list, at + 11) or 0)
        count = count + 1
    end
    if count >= 10 then list = string.sub(list, 13 + string.byte(list, 12)) end
    local short = string.sub(message, 1, 200)
    return struct.pack('<BI4', 1, #message) .. message .. list .. struct.pack('<i8HBB', ms, attempt, lost, #short) .. short
end

-- Where the order goes on: with a lease that has run out, or the task that is due next.
local function head() return tonumber(call('ZRANGEBYSCORE', due, text('-%d', ms), '+inf', 'LIMIT', '0', '1', 'WITHSCORES')[2]) end

local next = head()
local near = next and next <= ms + ARGV[2]
local paused = near and call('HGET', KEYS[4], 'paused')
if near and not paused then
    local n, lease = tonumber(ARGV[3]), tonumber(ARGV[4])
    local half = math.ceil(n / 2)
    local ids = call('ZREVRANGEBYSCORE', due, '-1', text('-%d', ms), 'LIMIT', '0', half)
    local k = #ids
    if k == half then answer[2] = 1 end
    if k < n then
        local rest = call('ZRANGEBYSCORE', due, '1', text('%d', ms + ARGV[2]), 'LIMIT', '0', n - k)
        if #rest == n - k then answer[2] = 1 end
        for i = 1, #rest do ids[k + i] = rest[i] end
    end
    if #ids > 0 then
        local records = call('HMGET', meta, unpack(ids))
        local scores, t, bytes = {}, 0, 0
        local changed, gone, dropped, died, notes = {}, {}, {}, {}, {}
        for i = 1, #ids do
            local id, record = ids[i], records[i]
            local flags = record and #record == 29 and string.byte(record, 9) or 3
            local state = flags % 4
            if bytes > (i > k and 4194304 or 2097152) then
                answer[2] = 1
            elseif state > 1 then
                dropped[#dropped + 1] = id
            else
                local live = true
                local gen, _, attempt, max, at, runs = struct.unpack('<I8BHHI8i8', record)
                if state == 1 then
                    if flags >= 8 then
                        gone[#gone + 1] = id
                        live = false
                    else
                        live = attempt < max
                        record = struct.pack('<I8BHHI8i8', gen, live and flags - 1 or flags + 2, attempt, max, at, runs)
                        changed[#changed + 1] = id
                        changed[#changed + 1] = record
                        notes[#notes + 1] = id
                        notes[#notes + 1] = noted(call('HGET', KEYS[7], id), attempt, 1, 'the lease of the attempt ran out')
                        if not live then
                            died[#died + 1] = ms
                            died[#died + 1] = id
                            dropped[#dropped + 1] = id
                        end
                    end
                end
                if live then
                    local envelope = call('HGET', body, id) or ''
                    bytes = bytes + #envelope
                    t = t + 1
                    scores[2 * t - 1] = text('-%d', (at > ms and at or ms) + lease)
                    scores[2 * t] = id
                    answer[3 * t + 1], answer[3 * t + 2], answer[3 * t + 3] = id, record, envelope
                end
            end
        end
        if t > 0 then call('ZADD', due, unpack(scores)) end
        if #notes > 0 then call('HSET', KEYS[7], unpack(notes)) end
        if #died > 0 then call('ZADD', KEYS[6], unpack(died)) end
        if #changed > 0 then call('HSET', meta, unpack(changed)) end
        if #dropped > 0 then call('ZREM', due, unpack(dropped)) end
        if #gone > 0 then
            call('HDEL', meta, unpack(gone))
            call('HDEL', body, unpack(gone))
            call('HDEL', KEYS[7], unpack(gone))
            call('ZREM', due, unpack(gone))
        end
    end
    next = head()
end
if not paused then
    local lease = tonumber(call('ZREVRANGEBYSCORE', due, text('(-%d', ms), '-inf', 'LIMIT', '0', '1', 'WITHSCORES')[2])
    answer[3] = math.min(next and next - ARGV[2] or answer[3], lease and -lease or answer[3])
end

for place = 5, 6 do
    local key, size = KEYS[place], call('ZCARD', KEYS[place])
    if size > 0 then
        local age, most = ARGV[2 * place - 5], ARGV[2 * place - 4]
        local over = math.min(size - most, 64)
        local old = call('ZRANGEBYSCORE', key, '-inf', ms - age, 'LIMIT', 0, 64)
        if over > #old then old = call('ZRANGE', key, 0, over - 1) end
        if #old > 0 then
            call('HDEL', meta, unpack(old))
            call('HDEL', body, unpack(old))
            call('HDEL', KEYS[7], unpack(old))
            call('ZREM', key, unpack(old))
            if #old == 64 then answer[3] = math.min(answer[3], ms) end
        end
    end
end
return answer
