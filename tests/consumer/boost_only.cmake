# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Copies an installation for both Asios, without what is for the standalone one.

file(REMOVE_RECURSE "${TO}")
file(COPY "${FROM}/" DESTINATION "${TO}")
file(GLOB_RECURSE exports "${TO}/cogwheel-*.cmake")
list(FILTER exports EXCLUDE REGEX "/cogwheel-(wheel|boost)[^/]*$")
file(REMOVE ${exports})
