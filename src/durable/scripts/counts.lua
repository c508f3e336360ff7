#!lua flags=no-writes
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Counts the tasks of a shard.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: now in us, or empty.
-- Answer: now in us; waiting, leased, waiting and due, done, dead; 1 if paused; how long, in ms, the first of those that
--   wait has been due, or 0.
local call = redis.call
local now = tonumber(ARGV[1])
if not now then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms = math.floor(now / 1000)
local first = call('ZRANGEBYSCORE', KEYS[1], 1, ms, 'LIMIT', 0, 1, 'WITHSCORES')[2]
return {
    now, call('ZCOUNT', KEYS[1], 1, '+inf'), call('ZCOUNT', KEYS[1], '-inf', -1),
    call('ZCOUNT', KEYS[1], 1, ms), call('ZCARD', KEYS[5]), call('ZCARD', KEYS[6]),
    call('HEXISTS', KEYS[4], 'paused'), first and ms - first or 0
}
