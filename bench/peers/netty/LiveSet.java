// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// HashedWheelTimer with N timeouts, driven by one thread; the timer's worker is another. A timer's handle is its Timeout, and
// its task one object that lasts: what it is set to next takes the task from the timeout before.
//
// Ticks of 10 ms instead of Netty's 100, as many slots as Netty has: what Cogwheel's wheel has by default.

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.PhantomReference;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

final class LiveSet implements AutoCloseable {
    interface Operation {
        boolean apply(int number);
    }

    private static final String WORKER = "worker";
    private static final int BATCH = 128;
    private static final long PATIENCE_SECONDS = 120;
    private static final int REFERENCE_BYTES = 4; // compressed, in a heap of this size

    private static PhantomReference<HashedWheelTimer> lastStopped = new PhantomReference<>(null, null);

    private final long heapBefore = heapInUse();
    private final Timeout[] handles;
    private final HashedWheelTimer timer;
    private final CountDownLatch allFired = new CountDownLatch(1);
    private long scheduled;
    private long cancelled;
    // The worker's; to be read after settle() or awaitFiring().
    private long fired;
    private long sum;

    LiveSet(int timers) {
        handles = new Timeout[timers];
        timer = new HashedWheelTimer(LiveSet::daemon, 10, TimeUnit.MILLISECONDS, 512, false);
        timer.start();
    }

    private static Thread daemon(Runnable body) {
        final Thread thread = new Thread(body, WORKER);
        thread.setDaemon(true);
        return thread;
    }

    private final class Task implements TimerTask {
        private final int number;

        Task(int number) {
            this.number = number;
        }

        @Override
        public void run(Timeout timeout) {
            sum += (number + 1) * 0x9E3779B97F4A7C15L;
            if (++fired == handles.length) allFired.countDown();
        }
    }

    /**
     * Counts the trues. In batches as elsewhere, although the worker needs nobody's visit: a loop that is called often is
     * compiled in full, while one long loop is only ever replaced when it has run for some time.
     */
    long each(int[] list, Operation operation) {
        long trues = 0;
        for (int from = 0; from < list.length; from += BATCH)
            trues += batch(list, from, Math.min(from + BATCH, list.length), operation);
        return trues;
    }

    private static long batch(int[] list, int from, int to, Operation operation) {
        long trues = 0;
        for (int i = from; i < to; ++i)
            if (operation.apply(list[i])) ++trues;
        return trues;
    }

    boolean schedule(int number, long delayNanoseconds) {
        final Timeout last = handles[number];
        final TimerTask task = last != null ? last.task() : new Task(number);
        handles[number] = timer.newTimeout(task, delayNanoseconds, TimeUnit.NANOSECONDS);
        ++scheduled;
        return false;
    }

    boolean cancel(int number) {
        if (!handles[number].cancel()) return false;
        ++cancelled;
        return true;
    }

    /** At a point of System.nanoTime(). */
    boolean moveTo(int number, long at) {
        cancel(number);
        return schedule(number, at - System.nanoTime());
    }

    void scheduleAll(int[] list, long delayNanoseconds) {
        each(list, number -> schedule(number, delayNanoseconds));
    }

    /**
     * Waits until the worker has done what it owes: until then new timeouts and cancelled ones lie in its queues. A timeout
     * that is due at once fires in a tick that begins after its making, so after the unlinking of all that were cancelled
     * before it; and the queue of new ones is in order. That is one or two ticks with nothing else to do, each the end of a
     * sleep: where that costs 50 us, as in some virtual machines, an operation of a thousand costs 0.1 us more for it.
     */
    void settle() {
        final CountDownLatch reached = new CountDownLatch(1);
        timer.newTimeout(timeout -> reached.countDown(), 0, TimeUnit.NANOSECONDS);
        await(reached);
    }

    /** Half a tick before that, or a sleep that lasts a little too long would miss the firing. */
    void reach(long at) {
        settle();
        pause(Math.max(0, at - TimeUnit.MILLISECONDS.toNanos(5) - System.nanoTime()));
    }

    void awaitFiring() {
        await(allFired);
    }

    /** Times that the worker has gone to sleep. */
    long wakeUps() {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (final Path task : tasks) {
                if (!Files.readString(task.resolve("comm")).equals(WORKER + "\n")) continue;
                for (final String line : Files.readAllLines(task.resolve("status")))
                    if (line.startsWith("voluntary_ctxt_switches:")) return Long.parseLong(line.split("\\s+")[1]);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("the worker's account is not in /proc");
    }

    private static void await(CountDownLatch latch) {
        try {
            if (latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) return;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        throw new IllegalStateException("the worker did not get there within " + PATIENCE_SECONDS + " s");
    }

    /** Call it settled, while all are live. */
    void noteMemory(Sample sample) {
        sample.handleBytes = REFERENCE_BYTES;
        sample.bytes = (double) (heapInUse() - heapBefore) / handles.length - REFERENCE_BYTES;
    }

    /** Call it settled. */
    void noteResult(Sample sample) {
        sample.pending = pending();
        sample.fired = fired;
        sample.sum = sum;
    }

    /**
     * Counted here: pendingTimeouts() subtracts twice what is cancelled while the worker walks its slot (netty#14959; Debian
     * 12's Netty has it).
     */
    private long pending() {
        return scheduled - cancelled - fired;
    }

    /** Netty has to agree about what was pending: it hands that out at its end. */
    @Override
    public void close() {
        settle();
        final long left = timer.stop().size();
        lastStopped = new PhantomReference<>(timer, null);
        if (left != pending()) throw new IllegalStateException("Netty had " + left + " pending, not " + pending());
    }

    // A stopped timer waits for its finaliser, and holds what it had pending until then.
    private static long heapInUse() {
        System.gc(); // done when this returns
        for (int i = 0; !lastStopped.refersTo(null); ++i) {
            if (i == 1000) throw new IllegalStateException("a stopped timer stays in the heap");
            pause(TimeUnit.MILLISECONDS.toNanos(1));
            System.gc();
        }
        final Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    static void pause(long nanoseconds) {
        try {
            TimeUnit.NANOSECONDS.sleep(nanoseconds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
