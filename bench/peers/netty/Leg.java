// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The benchmark's workloads on HashedWheelTimer, each with the numbers and the meaning that it has in bench/workloads.
//
// What the worker still has to do for the operations that were measured is part of their cost (LiveSet.settle).

import java.lang.ref.Reference;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

interface Leg extends AutoCloseable {
    Sample repeat(long repetition);

    @Override
    default void close() {}

    static IntFunction<Leg> named(String workload) {
        switch (workload) {
        case "request":
            return timers -> new Rounds(timers, Rounds.Order.OLDEST_FIRST, Rounds.Kind.CHURN);
        case "churn":
            return timers -> new Rounds(timers, Rounds.Order.RANDOM, Rounds.Kind.CHURN);
        case "touch":
            return timers -> new Rounds(timers, Rounds.Order.RANDOM, Rounds.Kind.TOUCH);
        case "touch_earlier":
            return timers -> new Rounds(timers, Rounds.Order.RANDOM, Rounds.Kind.TOUCH_EARLIER);
        case "schedule":
            return timers -> new Phases(timers, Phases.Phase.SCHEDULE);
        case "cancel":
            return timers -> new Phases(timers, Phases.Phase.CANCEL);
        case "memory":
            return timers -> new Phases(timers, Phases.Phase.NONE);
        case "fire_one_tick":
            return timers -> new Firing(timers, 1);
        case "fire_spread":
            return timers -> new Firing(timers, 1000);
        case "idle":
            return Idle::new;
        default:
            throw new IllegalArgumentException("no workload '" + workload + "' for Netty");
        }
    }
}

final class Delay {
    static final long USUAL = TimeUnit.SECONDS.toNanos(30);
    static final long FAR = TimeUnit.HOURS.toNanos(1);

    private Delay() {}
}

/** A live set that keeps its size. */
final class Rounds implements Leg {
    enum Order { RANDOM, OLDEST_FIRST }

    /** What is done to a timer; Netty has one way to do all. */
    enum Kind {
        CHURN(Delay.USUAL),
        TOUCH(Delay.USUAL),
        TOUCH_EARLIER(Delay.FAR);

        final long firstDelay;

        Kind(long firstDelay) {
            this.firstDelay = firstDelay;
        }
    }

    private static final double AGE_LIMIT_NANOSECONDS = 15e9;

    private final int timers;
    private final Order order;
    private final Kind kind;
    private LiveSet set;
    private int oldest;
    private long delay;
    private long moves;
    private Stopwatch age;
    private Sample memory;

    Rounds(int timers, Order order, Kind kind) {
        this.timers = timers;
        this.order = order;
        this.kind = kind;
    }

    @Override
    public Sample repeat(long repetition) {
        renew();
        final int operations = timers >= 1_000_000 ? 300_000 : 1_000_000;
        final int[] warmUp = list(operations / 4, 2 * repetition + 1);
        final int[] measured = list(operations, 2 * repetition + 2);
        final LiveSet.Operation operation = number -> {
            if (kind == Kind.TOUCH_EARLIER && ++moves % 10 == 0) delay -= TimeUnit.MILLISECONDS.toNanos(1);
            final boolean wasPending = set.cancel(number);
            set.schedule(number, delay);
            return wasPending;
        };
        final Sample sample = new Sample();
        sample.bytes = memory.bytes;
        sample.handleBytes = memory.handleBytes;
        set.each(warmUp, operation);
        set.settle();
        final Stopwatch watch = new Stopwatch();
        final long cancelled = set.each(measured, operation);
        set.settle();
        watch.note(sample, operations);
        if (kind == Kind.CHURN) sample.cancelled = cancelled; // the others are moved
        set.noteResult(sample);
        return sample;
    }

    private int[] list(int count, long seed) {
        if (order == Order.RANDOM) return Numbers.random(count, timers, seed);
        final int[] list = Numbers.roundRobin(oldest, count, timers);
        oldest = (oldest + count) % timers;
        return list;
    }

    /** As after some time of use; if the oldest goes first, in the order in which they go. */
    private int[] firstList() {
        if (order == Order.RANDOM) return Numbers.randomOrder(timers, 0);
        oldest = 0;
        return list(timers, 0);
    }

    // Real time passes while other legs run: nothing may fire before the set is made anew.
    private void renew() {
        if (set != null && age.wallNanoseconds() <= AGE_LIMIT_NANOSECONDS) return;
        close();
        final int[] first = firstList();
        age = new Stopwatch();
        set = new LiveSet(timers);
        delay = kind.firstDelay;
        moves = 0;
        set.scheduleAll(first, delay);
        set.settle();
        memory = new Sample();
        set.noteMemory(memory);
        Reference.reachabilityFence(first); // or it is part of the heap before, but not after
    }

    @Override
    public void close() {
        if (set == null) return;
        final LiveSet last = set;
        set = null;
        last.close();
    }
}

/** A live set that grows, or shrinks. */
final class Phases implements Leg {
    enum Phase { NONE, SCHEDULE, CANCEL }

    private final int timers;
    private final Phase measured;

    Phases(int timers, Phase measured) {
        this.timers = timers;
        this.measured = measured;
    }

    @Override
    public Sample repeat(long repetition) {
        final int[] first = Numbers.randomOrder(timers, 2 * repetition + 1);
        final int[] second = Numbers.randomOrder(timers, 2 * repetition + 2);
        try (LiveSet set = new LiveSet(timers)) { // last: what is allocated from here on counts as the timer's
            final Sample sample = new Sample();
            final Stopwatch scheduling = new Stopwatch();
            set.scheduleAll(first, Delay.USUAL);
            set.settle();
            if (measured == Phase.SCHEDULE) scheduling.note(sample, timers);
            set.noteMemory(sample);
            if (measured == Phase.CANCEL) {
                final Stopwatch cancelling = new Stopwatch();
                sample.cancelled = set.each(second, set::cancel);
                set.settle();
                cancelling.note(sample, timers);
            }
            set.noteResult(sample);
            Reference.reachabilityFence(first);
            Reference.reachabilityFence(second);
            return sample;
        }
    }
}

/** All fire, each at a random moment within so many milliseconds. What is measured begins just before the first is due. */
final class Firing implements Leg {
    private final int timers;
    private final long spreadNanoseconds;
    private int patience = 3;

    Firing(int timers, long spreadMilliseconds) {
        this.timers = timers;
        spreadNanoseconds = TimeUnit.MILLISECONDS.toNanos(spreadMilliseconds);
    }

    @Override
    public Sample repeat(long repetition) {
        final int[] inOrder = Numbers.inOrder(timers);
        final int[] order = Numbers.randomOrder(timers, repetition + 1);
        final int[] later = Numbers.random(timers, spreadNanoseconds, repetition + 2);
        for (;; patience *= 2) {
            try (LiveSet set = new LiveSet(timers)) {
                final Sample sample = new Sample();
                final Stopwatch scheduling = new Stopwatch();
                set.scheduleAll(inOrder, Delay.FAR);
                set.settle();
                set.noteMemory(sample);
                Reference.reachabilityFence(inOrder);
                // Everything has to be in place before the first is due.
                final long expected = (long) scheduling.wallNanoseconds() + TimeUnit.MILLISECONDS.toNanos(10);
                final long start = System.nanoTime() + patience * expected;
                set.each(order, number -> set.moveTo(number, start + later[number]));
                set.reach(start);
                final Stopwatch watch = new Stopwatch();
                if (System.nanoTime() >= start) continue;
                set.awaitFiring();
                watch.note(sample, timers);
                set.settle(); // or one that fires twice goes unseen
                set.noteResult(sample);
                if (sample.fired != timers)
                    throw new IllegalStateException("not every timer fired, or one did twice");
                return sample;
            }
        }
    }
}

/** A second in which nothing is due: what the worker wakes for, and what the process takes. */
final class Idle implements Leg {
    private final int timers;

    Idle(int timers) {
        this.timers = timers;
    }

    @Override
    public Sample repeat(long repetition) {
        try (LiveSet set = new LiveSet(timers)) {
            set.scheduleAll(Numbers.randomOrder(timers, repetition), Delay.USUAL);
            set.settle();
            final Sample sample = new Sample();
            final long before = set.wakeUps();
            final Stopwatch watch = new Stopwatch();
            LiveSet.pause(TimeUnit.SECONDS.toNanos(1));
            watch.note(sample, 1);
            sample.figures[0] = set.wakeUps() - before;
            sample.figures[1] = sample.cpuNanoseconds / 1e3;
            sample.figures[2] = Double.NaN; // system calls: nobody counts them
            sample.operations = 0;
            set.noteResult(sample);
            return sample;
        }
    }
}
