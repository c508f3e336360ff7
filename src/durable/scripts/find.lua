#!lua flags=no-writes
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Finds a task.
-- KEYS: due, meta, body, seq, done, dead, note of one shard. All scripts of a shard take all seven.
-- ARGV: id.
-- Answer: nil, or record, envelope (of a done task: result), message.
local record = redis.call('HGET', KEYS[2], ARGV[1])
if not record then return false end
return {record, redis.call('HGET', KEYS[3], ARGV[1]) or '', redis.call('HGET', KEYS[7], ARGV[1]) or ''}
