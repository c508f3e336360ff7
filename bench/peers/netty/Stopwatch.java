// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// CPU time of the whole process: this thread, the timer's worker, the garbage collector, the compilers.
//
// The JVM's own getProcessCpuTime counts in steps of 10 ms (times()), and the kernel's precise clock of the process cannot be
// read without native code. So each thread's account is read from /proc, which is exact for threads that are not running: on
// the one processor that a leg has, all but this one, whose time the JVM reads precisely. No thread may end meanwhile.
// Reading this thread's time last at the start, and first at the end, leaves out what the reading costs.

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Runs from its construction on. */
final class Stopwatch {
    private static final Path TASKS = Path.of("/proc/self/task");
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Map<String, Long> others;
    private final long own;
    private final long wall;

    Stopwatch() {
        others = othersNanoseconds();
        wall = System.nanoTime();
        own = THREADS.getCurrentThreadCpuTime();
    }

    double wallNanoseconds() {
        return System.nanoTime() - wall;
    }

    void note(Sample sample, int operations) {
        long cpu = THREADS.getCurrentThreadCpuTime() - own;
        sample.wallNanoseconds = wallNanoseconds() / operations;
        for (final Map.Entry<String, Long> now : othersNanoseconds().entrySet())
            cpu += now.getValue() - others.getOrDefault(now.getKey(), 0L);
        sample.cpuNanoseconds = (double) cpu / operations;
        sample.operations = operations;
    }

    private static Map<String, Long> othersNanoseconds() {
        final Map<String, Long> all = new HashMap<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            final String self = Path.of("/proc/thread-self").toRealPath().getFileName().toString();
            for (final Path task : tasks) {
                final String thread = task.getFileName().toString();
                if (thread.equals(self)) continue;
                final String account;
                try {
                    account = Files.readString(task.resolve("schedstat"));
                } catch (IOException ended) {
                    continue; // the worker of a timer that was stopped before
                }
                all.put(thread, Long.parseLong(account, 0, account.indexOf(' '), 10));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all;
    }
}
