#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Begins attempts: the only place where it is decided who runs a task.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty; lease in ms; windows in ms, channel and payload of the wake hint; nonce of the worker, not 0;
--   then for each request: id, generation, attempts before, and the number of arguments that follow: 0, or of a recurring
--   task next_due (0: it ends), runs_left and the due times of its occurrences. At most 128 requests. A recurring task
--   with 0 ends.
-- Answer: now in us; then for each request an attempt and a generation. Attempt 0: gone. Below 0: that many us too early; of a recurring
--   task, the time counts of its due time and of its first occurrence.
-- Promise: an attempt begins only if the generation matches, the task waits and is not paused, its due time has come by
--   the server's clock, and the shard is not paused. If it is paused, the claim ends: the task waits for all workers again. A
--   recurring task gets a new generation, so that an old claim cannot make its next occurrences from old dates. A worker
--   that repeats the call, because the answer was lost, gets the same answer while its attempt runs, and the lease
--   counts from now: the record of a running task has the nonce in the place of runs_left.
local due, meta, body, seq = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local call, pack, unpacked = redis.call, struct.pack, struct.unpack
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms = math.floor(now / 1000)
local leased = string.format('-%d', ms + ARGV[2]) -- as in add.lua

local nonce = tonumber(ARGV[7])

local ids, places, n, i = {}, {}, 0, 8
while i <= #ARGV do
    n = n + 1
    ids[n], places[n] = ARGV[i], i
    i = i + 4 + ARGV[i + 3]
end
local records = call('HMGET', meta, unpack(ids))
local paused = call('HGET', seq, 'paused')

local answer, written = {now}, {}
local metas, scores, bodies, m, b = {}, {}, {}, 0, 0
local ended, freed, renewed, gen, first_due = {}, {}, {}, nil, nil

local function put(id, record, score)
    written[id] = record
    metas[m + 1], metas[m + 2] = id, record
    scores[m + 1], scores[m + 2] = score, id
    m = m + 2
end

local function next_gen()
    gen = gen and gen + 1 or math.max((call('HGET', seq, 'gen') or 0) + 1, now)
    return gen
end

-- Makes the occurrences of a recurring task, and gives it its next due time. Returns the attempt and generation of the
-- first occurrence.
local function recur(id, place, max, flags)
    local attempt, first, envelope = 0, 0, nil
    local last = place + 3 + ARGV[place + 3]
    for j = place + 6, last do
        local at = tonumber(ARGV[j])
        if at < 1 then at = 1 end
        local name = id .. '@' .. ARGV[j]
        local old = written[name]
        if old == nil then old = call('HGET', meta, name) end
        if not old then
            envelope = envelope or call('HGET', body, id) or ''
            local g = next_gen()
            if j == place + 6 then
                attempt, first = 1, g
                put(name, pack('<I8BHHI8i8', g, 1, 1, max, at, nonce), leased)
            else
                put(name, pack('<I8BHHI8i8', g, 0, 0, max, at, 1), at)
                first_due = math.min(first_due or at, at)
            end
            bodies[b + 1], bodies[b + 2] = name, envelope
            b = b + 2
        end
    end
    local at = last > place + 3 and tonumber(ARGV[place + 4]) or 0
    if at > 0 then
        put(id, pack('<I8BHHI8i8', next_gen(), flags, 0, max, at, ARGV[place + 5]), at)
        first_due = math.min(first_due or at, at)
    else
        written[id] = false
        ended[#ended + 1] = id
    end
    return attempt, first
end

-- Returns the attempt and generation of what this worker began in an earlier call with this request, and renews its
-- lease.
local function repeated(id, record, before)
    if not record or #record ~= 29 then return 0, 0 end
    local g, flags, tries, _, _, by = unpacked('<I8BHHI8i8', record)
    if flags % 4 ~= 1 or by ~= nonce or tries ~= before + 1 then return 0, 0 end
    renewed[#renewed + 1] = leased
    renewed[#renewed + 1] = id
    return tries, g
end

for k = 1, n do
    local id, place = ids[k], places[k]
    local record = written[id]
    if record == nil then record = records[k] end
    local attempt, generation, gone = 0, 0, true
    if record and #record == 29 then
        local g, flags, tries, max, at = unpacked('<I8BHHI8i8', record)
        if g ~= tonumber(ARGV[place + 1]) then
            attempt = 0 -- replaced
        elseif flags % 4 == 1 then
            attempt, generation = repeated(id, record, tonumber(ARGV[place + 2]))
        elseif flags % 4 == 0 and flags < 16 then
            gone = false
            local first = at
            if flags >= 4 and tonumber(ARGV[place + 3]) > 2 then first = math.max(at, tonumber(ARGV[place + 6])) end
            if paused then
                freed[#freed + 1] = at
                freed[#freed + 1] = id
            elseif first * 1000 > now then
                attempt = now - first * 1000
            elseif flags >= 4 then
                attempt, generation = recur(id, place, max, flags)
            else
                attempt, generation = tries + 1, g
                put(id, pack('<I8BHHI8i8', g, 1, attempt, max, at, nonce), leased)
            end
        end
    end
    if gone and attempt == 0 and tonumber(ARGV[place + 3]) > 2 then
        local name = id .. '@' .. ARGV[place + 6]
        attempt, generation = repeated(name, written[name] or call('HGET', meta, name), 0)
    end
    answer[2 * k], answer[2 * k + 1] = attempt, generation
end

if gen then call('HSET', seq, 'gen', gen) end
if #freed > 0 then call('ZADD', due, unpack(freed)) end
if #renewed > 0 then call('ZADD', due, unpack(renewed)) end
for from = 1, m, 4000 do
    call('ZADD', due, unpack(scores, from, math.min(from + 3999, m)))
end
for from = 1, b, 4000 do
    call('HSET', body, unpack(bodies, from, math.min(from + 3999, b)))
end
for from = 1, m, 4000 do
    call('HSET', meta, unpack(metas, from, math.min(from + 3999, m)))
end
if #ended > 0 then
    call('HDEL', meta, unpack(ended))
    call('HDEL', body, unpack(ended))
    call('ZREM', due, unpack(ended))
end
if first_due and first_due <= ms + ARGV[4] then -- as in add.lua
    local head = call('ZRANGEBYSCORE', due, '1', '+inf', 'LIMIT', '0', '1', 'WITHSCORES')
    if not head[2] or tonumber(head[2]) >= first_due then
        call('PUBLISH', ARGV[5], (first_due > ms + ARGV[3] and '+' or '') .. ARGV[6])
    end
end
return answer
