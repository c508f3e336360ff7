// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// bench/numbers.hpp, bit for bit: unsigned 64-bit numbers are longs here.

final class Numbers {
    private long state;

    private Numbers(long seed) {
        state = seed;
    }

    private int below(long limit) {
        long z = state += 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return (int) Long.remainderUnsigned(z ^ (z >>> 31), limit);
    }

    static int[] random(int count, long below, long seed) {
        final Numbers random = new Numbers(seed);
        final int[] list = new int[count];
        for (int i = 0; i < count; ++i) list[i] = random.below(below);
        return list;
    }

    static int[] roundRobin(int first, int count, int timers) {
        final int[] list = new int[count];
        for (int i = 0; i < count; ++i) list[i] = (first + i) % timers;
        return list;
    }

    static int[] inOrder(int count) {
        return roundRobin(0, count, count);
    }

    static int[] randomOrder(int count, long seed) {
        final Numbers random = new Numbers(seed);
        final int[] list = inOrder(count);
        for (int i = count; i > 1; --i) {
            final int other = random.below(i);
            final int number = list[i - 1];
            list[i - 1] = list[other];
            list[other] = number;
        }
        return list;
    }
}
