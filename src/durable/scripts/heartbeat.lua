#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Says that a worker lives.
-- KEYS: workers.
-- ARGV: now in us, or empty; worker; ttl in ms; channel of the wake hint.
-- Answer: now in us; all workers that did so within the ttl. Publishes "w" if the list changed, and "a" if this is the first of them by
--   name: so all hear that hints arrive.
-- Promise: a clock that was set back leaves no dead worker in the list: a time after now + ttl counts as none.
local now = tonumber(ARGV[1])
if not now then
    local t = redis.call('TIME')
    now = t[1] * 1000000 + t[2]
end
local ms = math.floor(now / 1000)
local changed = redis.call('ZADD', KEYS[1], ms, ARGV[2])
local all = redis.call('ZRANGE', KEYS[1], '0', '-1', 'WITHSCORES')
local live, first = {now}, ARGV[2]
for i = 1, #all, 2 do
    local last = tonumber(all[i + 1])
    if last < ms - ARGV[3] or last > ms + ARGV[3] then
        changed = changed + redis.call('ZREM', KEYS[1], all[i])
    else
        live[#live + 1] = all[i]
        if all[i] < first then first = all[i] end
    end
end
if changed > 0 then redis.call('PUBLISH', ARGV[4], 'w') end
if first == ARGV[2] then redis.call('PUBLISH', ARGV[4], 'a') end
return live
