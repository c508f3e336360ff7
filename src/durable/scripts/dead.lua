#!lua flags=no-writes
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Lists the dead tasks of a shard, the oldest first.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: score and id of the last task of the page before, both empty at first; how many.
-- Answer: 1 if there may be more tasks; then for each task score, id, record, envelope, message. The page ends once the
--   envelopes have more than 4 MiB.
-- Promise: a task that is dead during the whole walk comes at least once, even if the last one of a page is removed.
local call = redis.call
local from = 0
if ARGV[1] ~= '' then
    local rank = call('ZSCORE', KEYS[6], ARGV[2]) == ARGV[1] and call('ZRANK', KEYS[6], ARGV[2])
    from = rank and rank + 1 or call('ZCOUNT', KEYS[6], '-inf', '(' .. ARGV[1])
end
local found = call('ZRANGE', KEYS[6], from, from + ARGV[3] - 1, 'WITHSCORES')
local ids, answer = {}, {#found / 2 < tonumber(ARGV[3]) and 0 or 1}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
if #ids == 0 then return answer end
local records = call('HMGET', KEYS[2], unpack(ids))
local bytes = 0
local notes = call('HMGET', KEYS[7], unpack(ids))
for i = 1, #ids do
    if bytes > 4194304 then
        answer[1] = 1
        break
    end
    local k, envelope = #answer, call('HGET', KEYS[3], ids[i]) or ''
    bytes = bytes + #envelope
    answer[k + 1], answer[k + 2], answer[k + 3] = found[2 * i], ids[i], records[i] or ''
    answer[k + 4], answer[k + 5] = envelope, notes[i] or ''
end
return answer
