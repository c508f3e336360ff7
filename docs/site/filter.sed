# What Doxygen 1.9 reads in place of the headers: the comment at the head as the description of the file, no inline
# namespaces, no specialisations of others' templates, and the sections of a comment as paragraphs with a title.
/^\/\/ SPDX/,/^#pragma once/ {
    /^\/\/     /! s/([@\\])([a-z])/\\\1\2/g
    s/ ::ffff/ \\::ffff/
    s/^\/\/ SPDX.*/\/\/\/ @file/
    s/^\/\/ Copyright.*/\/\/\//
    s/^\/\/( |$)/\/\/\/\1/
}
s/^(namespace cogwheel)::COGWHEEL_ABI(::detail)?(::testing)?(::COGWHEEL_ASIO)? \{/\1\2\3 {/
s/#include COGWHEEL_ASIO_HEADER\((.*)\)/#include <asio\/\1>/
s/\[\[gnu::[a-z_]+\]\] //g
/^template <>/,/^[^ ].*;$/ {
    s/^template <>/\/*! @cond *\/ template <>/
    s/^([^ ].*;)$/\1 \/*! @endcond *\//
}
:again
s/^( *\/\/\/ .*[.;)]) (Effects|Errors|Complexity|Thread safety|Lifetime|Preconditions|Parameters|Completion signature|Cancellation|Executor|Example|Memory): /\1\n\/\/\/ \2: /
t again
s/(^|\n)( *\/\/\/) (Effects|Errors|Complexity|Thread safety|Lifetime|Preconditions|Parameters|Completion signature|Cancellation|Executor|Example|Memory):/\1\2 @par \3\n\2/g
