# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# Provides the Asio, fmt and doctest of a Debian release, or its Boost, whatever the machine has installed. Other scripts source
# this file.
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

# know SUITE DIRECTORY: fetches the lists of SUITE. apt-get's state in DIRECTORY knows nothing else.
know() {
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
    apt-get -c "$state/apt.conf" update -qq --error-on=any
}

# download DIRECTORY PACKAGE...: apt-get checks signature and sums.
download() { (cd "$1" && apt-get -c apt.conf download -qq "${@:2}"); }

# unpack DIRECTORY TREE PACKAGE...
unpack() {
    local from=$1 tree=$2 package
    shift 2
    for package; do dpkg-deb -x "$from/${package}"_*.deb "$tree" || return; done
    for package; do dpkg-deb -f "$from/${package}"_*.deb Version || return; done >"$tree/versions"
    # The files of a newer package may be older than what was built from the last one.
    find "$tree" -type f -exec touch {} +
}

# fetch_headers SUITE STATE TREE
fetch_headers() { know "$1" "$2" && download "$2" "${packages[@]}" && unpack "$2" "$3" "${packages[@]}"; }

# fetch_boost SUITE STATE TREE: the newest Boost of the release, which may have several.
fetch_boost() {
    local package
    know "$1" "$2" || return
    package=$(apt-cache -c "$2/apt.conf" search --names-only '^libboost1\.[0-9]+-dev$' | cut -d' ' -f1 | sort -V | tail -n 1)
    download "$2" "$package" && unpack "$2" "$3" "$package"
}

# fetch_cobalt SUITE VERSION STATE TREE: Boost.Cobalt, which is a library, and what runs programs of that release.
fetch_cobalt() {
    local cobalt=("libboost-cobalt$2-dev" "libboost-cobalt$2.0" libc6 libstdc++6 libgcc-s1)
    know "$1" "$3" && download "$3" "${cobalt[@]}" && unpack "$3" "$4" "${cobalt[@]}"
}

# fetch NAME COMMAND...: runs the command with a state and a new tree, which becomes build/packages/NAME. Says why if it fails.
fetch() {
    local name=$1 tree="$unpacked/$1" new="$unpacked/new" log="$unpacked/log"
    shift
    [[ ! -d $tree ]] || return 0
    rm -rf "$new"
    mkdir -p "$new/state" "$new/tree"
    if ! "$@" "$new/state" "$new/tree" >"$log" 2>&1 </dev/null; then
        skip "no packages of $name: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
        return 1
    fi
    mv "$new/tree" "$tree"
    rm -rf "$new"
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
    local suite=$1 found
    if found=$(installed "$suite" 2>/dev/null); then
        prefix[$suite]=/usr
    else
        fetch "$suite" fetch_headers "$suite" || return 0
        prefix[$suite]=$unpacked/$suite/usr
        found=$(<"$unpacked/$suite/versions")
    fi
    versions[$suite]=$(upstream <<<"$found" | paste -sd ' ')
}

# provide_boost SUITE: sets the prefix of "boost-SUITE", or says why it cannot.
provide_boost() {
    fetch "boost-$1" fetch_boost "$1" || return 0
    prefix[boost-$1]=$unpacked/boost-$1/usr
}
