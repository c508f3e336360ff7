# shellcheck shell=bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# progress LABEL COMMAND...: runs a build by Ninja and shows how far it is: on a terminal in one line, else by a line at the
# start, one every ten seconds, and one at the end. A build that is silent for minutes looks like one that hangs. Shows the
# build's own output only if it fails.
progress() {
    local label=$1 log status=0
    shift
    log=$(mktemp)
    "$@" 2>&1 </dev/null | tee "$log" | show_progress "$label" || status=$?
    if ((status)); then cat "$log" >&2; fi
    rm -f "$log"
    return "$status"
}

show_progress() {
    local label=$1 line='' piece='' step='' begin=$SECONDS said=-1
    while :; do
        if IFS= read -r -t 1 piece; then
            line+=$piece
            # Skips the steps in which Ninja runs CMake again: they come first, with a count of their own.
            if [[ $line =~ ^\[[1-9][0-9]*/[0-9]+\] && $line != *'] Re-'* ]]; then step="${BASH_REMATCH[0]}, "; fi
            line=
        elif (($? > 128)); then
            line+=$piece # a second has passed; the line is not complete
        else
            break
        fi
        if [[ -t 1 ]]; then
            printf '\r%s: %s%d s\033[K' "$label" "$step" "$((SECONDS - begin))"
        elif [[ -n $step ]] && ((said < 0 || SECONDS - said >= 10)); then
            printf '%s: %s%d s\n' "$label" "$step" "$((SECONDS - begin))"
            said=$SECONDS
        fi
    done
    if [[ -t 1 ]]; then printf '\r\033[K'; fi
    if [[ -n $step ]]; then printf '%s: %s%d s\n' "$label" "$step" "$((SECONDS - begin))"; fi
}
