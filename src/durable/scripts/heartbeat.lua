#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Says that a worker lives.
-- KEYS: workers.
-- ARGV: now in us, or empty; worker; ttl in ms; channel of the wake hint.
-- Answer: all workers that did so within the ttl. Publishes "w" if the list changed.
-- Promise: a clock that was set back leaves no dead worker in the list: a time after now + ttl counts as none.
local now = tonumber(ARGV[1])
if not now then
    local t = redis.call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms = math.floor(now / 1000)
local changed = redis.call('ZADD', KEYS[1], ms, ARGV[2])
changed = changed + redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', ms - ARGV[3]))
changed = changed + redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', ms + ARGV[3]), '+inf')
if changed > 0 then redis.call('PUBLISH', ARGV[4], 'w') end
return redis.call('ZRANGE', KEYS[1], 0, -1)
