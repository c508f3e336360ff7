#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
--
-- Takes a worker off the list.
-- KEYS: workers.
-- ARGV: worker; channel of the wake hint.
-- Answer: 1, or 0: it was not there. Publishes "w" if it was.
local changed = redis.call('ZREM', KEYS[1], ARGV[1])
if changed > 0 then redis.call('PUBLISH', ARGV[2], 'w') end
return changed
