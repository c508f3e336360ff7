#!lua
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Adds tasks. Refused by a full server, as the only script: it lacks the flag allow-oom.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty: the server's time; windows in ms, channel and payload of the wake hint;
--   reject | replace | keep; then for each task: id, due in ms, flags (1 recurring, 2 due is a delay), max_attempts,
--   runs_left (-1: no end), envelope. At most 128 tasks.
-- Answer: for each task a generation and a due time. Generation 0: refused. Below 0: the stored task stays, and this is
--   its generation with a minus sign.
-- Promise: a recurring task that takes the place of one with the same trigger keeps its due time, its runs left and its
--   pause; if nothing differs, the stored task stays. Later generations of a shard are larger, even if the server's clock goes back. The record is written last:
--   if a write before it fails, there is no task, and claim and audit remove the rest. Each call writes, even if no task
--   is new: so a WAIT after it waits for the replicas, also on a new connection after an add that was not confirmed.
-- A wake hint is given for what is due within the second window, if no unclaimed task is due before it: for that one,
--   there was a hint, or a claim has seen it. What is due after the first window has a + before the payload.
--
-- A record in meta is 29 bytes: generation, flags (state 0..3, +4 recurring, +8 cancelled, +16 paused), attempt, max_attempts, due,
-- and runs_left of a recurring task, or the nonce of begin.lua. A record of another length is damaged: it counts as none,
-- and audit makes a dead task of it.
local due, meta, body, seq = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- Redis writes Lua's numbers with 17 digits, which takes it longer than '%d'.
local call, pack, text = redis.call, struct.pack, string.format
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms, soon = math.floor(now / 1000), math.ceil(now / 1000)
local policy = ARGV[6]

local function hint(first)
    if first > ms + ARGV[3] then return end
    local head = call('ZRANGEBYSCORE', due, '1', '+inf', 'LIMIT', '0', '1', 'WITHSCORES')
    if head[2] and tonumber(head[2]) < first then return end
    call('PUBLISH', ARGV[4], (first > ms + ARGV[2] and '+' or '') .. ARGV[5])
end

-- Where the first point and the end of the trigger of a recurring task are in its envelope (task_envelope.hpp).
local function trigger(envelope)
    local head = envelope and string.byte(envelope, 1)
    if head ~= 18 and head ~= 19 then return end
    local at = head == 19 and 3 + (string.byte(envelope, 2) or 0) or 2
    if #envelope < at + 11 then return end
    return at, at + 11 + struct.unpack('<I4', envelope, at + 8)
end

-- The new envelope with the first point of the old one; nil if their triggers differ.
local function continued(old, new)
    local a, b = trigger(old)
    local c, d = trigger(new)
    if not a or not c or string.sub(old, a + 8, b) ~= string.sub(new, c + 8, d) then return end
    return string.sub(new, 1, c - 1) .. string.sub(old, a, a + 7) .. string.sub(new, c + 8)
end

-- One task with a new id is the usual call.
if #ARGV == 12 and not call('HGET', meta, ARGV[7]) then
    local id, at, flags = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
    if flags >= 2 then
        flags = flags - 2
        at = at > 0 and soon + at or ms
    end
    if at < 1 then at = 1 end
    local gen = math.max((call('HGET', seq, 'gen') or 0) + 1, now)
    call('HSET', seq, 'gen', text('%d', gen))
    call('ZADD', due, text('%d', at), id)
    call('HSET', body, id, ARGV[12])
    call('HSET', meta, id, pack('<I8BHHI8i8', gen, 4 * flags, 0, ARGV[10], at, ARGV[11]))
    hint(at)
    return {gen, at}
end

local ids, n = {}, 0
for i = 7, #ARGV, 6 do
    n = n + 1
    ids[n] = ARGV[i]
end
local olds = call('HMGET', meta, unpack(ids))
local last = call('HGET', seq, 'gen') or 0
local gen = math.max(last + 1, now)

local answer, records, bodies, scores, m = {}, {}, {}, {}, 0
local written, envelopes, replaced, r = {}, {}, {}, 0
local first
for k = 1, n do
    local id, i = ids[k], 6 * k + 1
    local old = written[id] or olds[k]
    local sound = old and #old == 29
    if sound and policy ~= 'replace' then
        local g, _, _, _, d = struct.unpack('<I8BHHI8', old)
        answer[2 * k - 1] = policy == 'keep' and -g or 0
        answer[2 * k] = policy == 'keep' and d or 0
    else
        local at, flags = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
        if flags >= 2 then
            flags = flags - 2
            at = at > 0 and soon + at or ms
        end
        if at < 1 then at = 1 end
        local runs, envelope, same = ARGV[i + 4], ARGV[i + 5], false
        flags = 4 * flags
        if sound and flags == 4 then
            local g, marks, _, max, its, left = struct.unpack('<I8BHHI8i8', old)
            local stored = marks % 8 == 4 and (envelopes[id] or call('HGET', body, id))
            local next = stored and continued(stored, envelope)
            if next then
                same = next == stored and max == tonumber(ARGV[i + 3])
                at, runs, envelope, flags = its, left, next, marks
                if same then answer[2 * k - 1], answer[2 * k] = -g, its end
            end
        end
        if not same then
            if old then
                r = r + 1
                replaced[r] = id
            end
            local paused = flags >= 16
            if not paused and (not first or at < first) then first = at end
            local record = pack('<I8BHHI8i8', gen, flags, 0, ARGV[i + 3], at, runs)
            written[id], envelopes[id] = record, envelope
            records[m + 1], records[m + 2] = id, record
            bodies[m + 1], bodies[m + 2] = id, envelope
            scores[m + 1], scores[m + 2] = paused and '9000000000000000' or text('%d', at), id
            m = m + 2
            answer[2 * k - 1], answer[2 * k] = gen, at
            gen = gen + 1
        end
    end
end
if m > 0 then
    call('HSET', seq, 'gen', gen - 1)
    if r > 0 then
        call('ZREM', KEYS[5], unpack(replaced))
        call('ZREM', KEYS[6], unpack(replaced))
        call('HDEL', KEYS[7], unpack(replaced))
    end
    call('ZADD', due, unpack(scores))
    call('HSET', body, unpack(bodies))
    call('HSET', meta, unpack(records))
    if first then hint(first) end
else
    call('HSET', seq, 'gen', last)
end
return answer
