// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Prints all metrics that the library defines, for tests/observe/rules_test.py. Each line has four fields with a tab
// between them: name, type, labels, meaning.
#include "src/observe/metric.hpp"

#include <iostream>

int main() {
    for (const auto& m : cogwheel::detail::all_metrics())
        std::cout << m.name << '\t' << to_string(m.type) << '\t' << m.labels << '\t' << m.help << '\n';
    return std::cout.flush() ? 0 : 1;
}
