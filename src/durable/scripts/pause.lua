#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Pauses a shard, or resumes it: no attempt begins while it is paused.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: 1: pause, 0: resume; channel and payload of the wake hint, which a resumed shard gives.
-- Answer: 1 if this changed the shard.
if ARGV[1] == '1' then return redis.call('HSET', KEYS[4], 'paused', 1) end
local changed = redis.call('HDEL', KEYS[4], 'paused')
if changed == 1 then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
return changed
