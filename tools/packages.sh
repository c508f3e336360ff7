# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# Provides the Asio, fmt and doctest of a Debian release, whatever the machine has installed. Other scripts source this file.
#
# Another release's packages come from the machine's own mirror and are unpacked to build/packages, never installed. They
# stay there: remove the directory to get newer ones.

readonly packages=(libasio-dev libfmt-dev doctest-dev) unpacked="$PWD/build/packages"

skip() { printf 'skip: %s\n' "$1"; }

# Reduces each line from 1:10.1.1+ds1-4 to 10.1.1.
upstream() { sed -E 's/^[0-9]+://; s/[-+~].*//'; }

# For each release: the prefix of its headers, installed or unpacked, and its versions as "ASIO FMT DOCTEST".
declare -A prefix versions

mirror() {
    # shellcheck disable=SC2016 # apt-get expands it.
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 'Component: main' |
        sed -n 1p
}

# download SUITE DIRECTORY: apt-get downloads, and checks signature and sums. Its state in DIRECTORY knows only SUITE.
download() {
    local suite=$1 state=$2 uri
    uri=$(mirror)
    if [[ -z $uri ]]; then
        printf 'E: apt knows no Debian mirror\n'
        return 1
    fi
    mkdir -p "$state"/{lists,archives}/partial
    : >"$state/status"
    printf 'deb [target=Packages signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$uri" "$suite" \
        >"$state/sources.list"
    cat >"$state/apt.conf" <<TEXT
Dir::State "$state";
Dir::State::status "$state/status";
Dir::Cache "$state";
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
#clear APT::Update;
TEXT
    apt-get -c "$state/apt.conf" update -qq --error-on=any &&
        (cd "$state" && apt-get -c apt.conf download -qq "${packages[@]}")
}

# unpack DIRECTORY TREE
unpack() {
    local package
    for package in "${packages[@]}"; do dpkg-deb -x "$1/${package}"_*.deb "$2" || return; done
    for package in "${packages[@]}"; do dpkg-deb -f "$1/${package}"_*.deb Version || return; done >"$2/versions"
    # The files of a newer package may be older than what was built from the last one.
    find "$2" -type f -exec touch {} +
}

# installed SUITE: prints the versions of the installed packages. Fails if the machine is of another release.
installed() {
    local package
    # shellcheck source=/dev/null
    [[ $(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}") == "$1" ]] || return
    for package in "${packages[@]}"; do dpkg-query -W -f '${Version}\n' "$package" || return; done
}

# provide SUITE: sets its prefix and versions, or says why it cannot.
provide() {
    local suite=$1 tree="$unpacked/$1" new="$unpacked/new" log="$unpacked/log" found
    if found=$(installed "$suite" 2>/dev/null); then
        prefix[$suite]=/usr
    else
        if [[ ! -d $tree ]]; then
            rm -rf "$new"
            mkdir -p "$new/state" "$new/tree"
            if ! { download "$suite" "$new/state" && unpack "$new/state" "$new/tree"; } >"$log" 2>&1 </dev/null; then
                skip "no packages of $suite: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
                return
            fi
            mv "$new/tree" "$tree"
            rm -rf "$new"
        fi
        prefix[$suite]=$tree/usr
        found=$(<"$tree/versions")
    fi
    versions[$suite]=$(upstream <<<"$found" | paste -sd ' ')
}
