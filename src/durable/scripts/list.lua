#!lua flags=no-writes
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Lists tasks of a shard, in no order.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: cursor, 0 at first; about how many.
-- Answer: the next cursor, 0 at the end; then for each task id, record, envelope, message. Once the envelopes have more
--   than 4 MiB, nil stands for those of all further tasks: find.lua has them.
-- Promise: that of HSCAN: a task that is stored during the whole walk comes at least once.
local page = redis.call('HSCAN', KEYS[2], ARGV[1], 'COUNT', ARGV[2])
local answer, found, bytes = {page[1]}, page[2], 0
for from = 1, #found, 512 do
    local ids = {}
    for i = from, math.min(from + 511, #found), 2 do ids[#ids + 1] = found[i] end
    local notes = redis.call('HMGET', KEYS[7], unpack(ids))
    for i = 1, #ids do
        local k, envelope = #answer, false
        if bytes <= 4194304 then
            envelope = redis.call('HGET', KEYS[3], ids[i]) or ''
            bytes = bytes + #envelope
        end
        answer[k + 1], answer[k + 2] = ids[i], found[from + 2 * i - 1]
        answer[k + 3], answer[k + 4] = envelope, notes[i] or ''
    end
end
return answer
