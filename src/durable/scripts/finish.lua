#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Ends attempts, and gives claims back.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; windows in ms, channel and payload of the wake hint; done_ms, max_done, dead_ms, max_dead;
--   then for each request: ack | nack | fail | back | release, id, generation, attempt, delay in ms, text. At most 128 requests.
-- Answer: for each request 1, or 0: stale.
-- Promise: ack counts unless a later attempt has begun, even if the lease ran out since, and the task waits again or is
--   dead. nack, fail and back count while the attempt runs. A cancelled task that fails is gone. After back, the task keeps its
--   due time, and may be tried once more. Nobody claims it before the delay is over, nor what is released with one. For each task that becomes
--   done or dead, up to four are removed that are too old or too many.
local due, meta, body, done, dead, note = KEYS[1], KEYS[2], KEYS[3], KEYS[5], KEYS[6], KEYS[7]
local call, pack = redis.call, struct.pack
local keeps_done = tonumber(ARGV[6]) > 0 and tonumber(ARGV[7]) > 0

local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms, soon = math.floor(now / 1000), math.ceil(now / 1000)

local ids, n = {}, 0
for i = 10, #ARGV, 6 do
    n = n + 1
    ids[n] = ARGV[i + 1]
end
local records = call('HMGET', meta, unpack(ids))

local answer, written = {}, {}
-- Arguments of the writes below.
local metas, scores, results = {}, {}, {}
local gone, ended, revived, dones, deads = {}, {}, {}, {}, {}
local texts = {} -- what becomes of notes; false: they go
local first, free -- due times; the end of what is given back with a delay

-- A note as in attempt_history.hpp, with a further attempt. As in claim.lua.
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
    return pack('<BI4', 1, #message) .. message .. list .. pack('<i8HBB', ms, attempt, lost, #short) .. short
end

-- The same history, and another message.
local function waits(old, message)
    local list = ''
    if old and string.byte(old) == 1 and #old > 4 then list = string.sub(old, 6 + struct.unpack('<I4', old, 2)) end
    return pack('<BI4', 1, #message) .. message .. list
end

local function note_of(id)
    if texts[id] ~= nil then return texts[id] end
    return call('HGET', note, id)
end

-- Of a done task: its history only.
local function silenced(old)
    if not old or string.byte(old) ~= 1 or #old < 5 then return false end
    return waits(old, '')
end

for k = 1, n do
    local i, id = 4 + 6 * k, ids[k]
    local record = written[id]
    if record == nil then record = records[k] end
    local counts = 0
    if record and #record == 29 then
        local kind = ARGV[i]
        local gen, flags, attempt, max, at, runs = struct.unpack('<I8BHHI8i8', record)
        local state = flags % 4
        if gen ~= tonumber(ARGV[i + 2]) then
            state = -1
        elseif kind == 'release' then
            local delay = tonumber(ARGV[i + 4])
            if state == 0 and flags < 16 and (delay <= 0 or attempt == tonumber(ARGV[i + 3])) then
                counts = 1
                scores[#scores + 1] = delay > 0 and -(soon + delay) or at
                scores[#scores + 1] = id
                if delay > 0 then
                    free = math.min(free or soon + delay, soon + delay)
                else
                    first = math.min(first or at, at)
                end
            end
        elseif attempt == 0 or attempt ~= tonumber(ARGV[i + 3]) then
            state = -1
        elseif kind == 'ack' then
            if state ~= 2 then
                counts = 1
                ended[#ended + 1] = id
                if state == 3 then revived[#revived + 1] = id end
                if attempt > 1 or state ~= 1 then texts[id] = keeps_done and silenced(note_of(id)) end
                if keeps_done then
                    record = pack('<I8BHHI8i8', gen, 2, attempt, max, at, runs)
                    written[id] = record
                    metas[#metas + 1] = id
                    metas[#metas + 1] = record
                    results[#results + 1] = id
                    results[#results + 1] = ARGV[i + 5]
                    dones[#dones + 1] = ms
                    dones[#dones + 1] = id
                else
                    written[id] = false
                    gone[#gone + 1] = id
                end
            end
        elseif state == 1 then
            local died = #deads
            counts = 1
            if flags >= 8 then
                written[id] = false
                gone[#gone + 1] = id
                ended[#ended + 1] = id
                texts[id] = false
            else
                if kind == 'back' then max = math.min(max + 1, 65535) end
                if kind == 'fail' or attempt >= max then
                    record = pack('<I8BHHI8i8', gen, flags + 2, attempt, max, at, runs)
                    deads[#deads + 1] = ms
                    deads[#deads + 1] = id
                    ended[#ended + 1] = id
                elseif kind == 'back' then
                    record = pack('<I8BHHI8i8', gen, flags - 1, attempt, max, at, runs)
                    local till = soon + math.max(tonumber(ARGV[i + 4]), 1)
                    free = math.min(free or till, till)
                    scores[#scores + 1] = -till
                    scores[#scores + 1] = id
                else
                    local delay = tonumber(ARGV[i + 4])
                    at = delay > 0 and soon + delay or ms
                    record = pack('<I8BHHI8i8', gen, flags - 1, attempt, max, at, runs)
                    scores[#scores + 1] = at
                    scores[#scores + 1] = id
                    first = math.min(first or at, at)
                end
                written[id] = record
                metas[#metas + 1] = id
                metas[#metas + 1] = record
                if kind == 'back' and #deads == died then
                    texts[id] = waits(attempt > 1 and note_of(id), ARGV[i + 5])
                else
                    texts[id] = noted(attempt > 1 and note_of(id), attempt, 0, ARGV[i + 5])
                end
            end
        end
    end
    answer[k] = counts
end

local notes, quiet = {}, {}
for id, text in pairs(texts) do
    if text then
        notes[#notes + 1] = id
        notes[#notes + 1] = text
    else
        quiet[#quiet + 1] = id
    end
end

-- Within one call a task only goes from the order to dead, and from there to done: so first all additions, then all
-- removals.
if #scores > 0 then call('ZADD', due, unpack(scores)) end
if #deads > 0 then call('ZADD', dead, unpack(deads)) end
if #dones > 0 then
    call('ZADD', done, unpack(dones))
    call('HSET', body, unpack(results))
end
if #notes > 0 then call('HSET', note, unpack(notes)) end
if #metas > 0 then call('HSET', meta, unpack(metas)) end
if #gone > 0 then
    call('HDEL', meta, unpack(gone))
    call('HDEL', body, unpack(gone))
end
if #ended > 0 then call('ZREM', due, unpack(ended)) end
if #revived > 0 then call('ZREM', dead, unpack(revived)) end
if #quiet > 0 then call('HDEL', note, unpack(quiet)) end

local function trim(key, added, age, most)
    local most_now = 4 * added
    local over = math.min(call('ZCARD', key) - most, most_now)
    local old = call('ZRANGEBYSCORE', key, '-inf', ms - age, 'LIMIT', 0, most_now)
    if over > #old then old = call('ZRANGE', key, 0, over - 1) end
    if #old > 0 then
        call('HDEL', meta, unpack(old))
        call('HDEL', body, unpack(old))
        call('HDEL', note, unpack(old))
        call('ZREM', key, unpack(old))
    end
end
if #dones > 0 then trim(done, #dones / 2, ARGV[6], ARGV[7]) end
if #deads > 0 then trim(dead, #deads / 2, ARGV[8], ARGV[9]) end

local wakes = free and free <= ms + ARGV[3] and '+' -- as in add.lua; a claim at once would not find what comes back later
if first and first <= ms + ARGV[3] then
    local head = call('ZRANGEBYSCORE', due, '1', '+inf', 'LIMIT', '0', '1', 'WITHSCORES')
    if not head[2] or tonumber(head[2]) >= first then wakes = first > ms + ARGV[2] and '+' or '' end
end
if wakes then call('PUBLISH', ARGV[4], wakes .. ARGV[5]) end
return answer
