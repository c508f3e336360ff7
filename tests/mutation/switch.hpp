// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The switch that woven mutants ask: all of them are compiled at once, and an environment variable says which one is
// on. Included by the compiler's -include, before anything else.
#pragma once

#include <cstdlib>
#include <type_traits>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cogwheel_mutants {

struct settings {
    int chosen = 0;                   // COGWHEEL_MUTANT; 0, and before the dynamic initialisation: none
    volatile char* reached = nullptr; // COGWHEEL_MUTANTS_REACHED names a file of one byte a mutant

    settings() noexcept {
        if (const char* number = std::getenv("COGWHEEL_MUTANT")) chosen = std::atoi(number);
        const char* path = std::getenv("COGWHEEL_MUTANTS_REACHED");
        if (path == nullptr) return;
        const int file = ::open(path, O_RDWR | O_CLOEXEC);
        if (file == -1) return;
        const off_t size = ::lseek(file, 0, SEEK_END);
        // Shared with the file, so that what a killed child reached is kept.
        void* bytes = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (bytes != MAP_FAILED) reached = static_cast<volatile char*>(bytes);
        ::close(file);
    }
};

inline const settings the_settings;

inline bool is_on(int mutant) noexcept {
    if (the_settings.reached != nullptr) the_settings.reached[mutant] = 1;
    return the_settings.chosen == mutant;
}

} // namespace cogwheel_mutants

/// What is computed by the compiler stays as it is.
constexpr bool cogwheel_mutant(int mutant) noexcept {
    if (std::is_constant_evaluated()) return false;
    return cogwheel_mutants::is_on(mutant);
}
