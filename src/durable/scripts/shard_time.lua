#!lua flags=allow-oom
-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Cogwheel authors
local t = redis.call('TIME')
return t[1] * 1000 + math.floor(t[2] / 1000)
