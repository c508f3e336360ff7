// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A process of bench/leg.hpp for Netty's HashedWheelTimer: a sample on standard output for each repetition on standard input.

import io.netty.util.Version;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;

final class NettyLeg {
    private static final String CONTENDER = "netty";
    private static final long LEAVE = ~0L;
    private static final long WARM_UP_NANOSECONDS = TimeUnit.SECONDS.toNanos(4);

    private NettyLeg() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println("Netty " + Version.identify().get("netty-common").artifactVersion() + ", "
                + System.getProperty("java.vm.name") + " " + Runtime.version());
        } else if (arguments.length == 4 && arguments[0].equals("--leg")) {
            final OutputStream answers = new FileOutputStream(FileDescriptor.out);
            System.setOut(System.err); // nothing but samples goes there
            serve(arguments[1], arguments[2], arguments[3], answers);
        } else {
            System.err.println("usage: cogwheel_bench_netty --leg WORKLOAD " + CONTENDER + " TIMERS | --version");
            System.exit(2);
        }
    }

    private static void serve(String workload, String contender, String timers, OutputStream answers)
            throws IOException {
        final DataInputStream commands = new DataInputStream(System.in);
        Leg body = null;
        try {
            for (;;) {
                final long repetition = Long.reverseBytes(commands.readLong());
                if (repetition == LEAVE) return;
                Sample sample;
                try {
                    if (body == null) body = make(workload, contender, Integer.parseInt(timers));
                    sample = body.repeat(repetition);
                } catch (RuntimeException | OutOfMemoryError e) {
                    sample = new Sample();
                    sample.error = e.toString();
                }
                answers.write(sample.toBytes());
            }
        } catch (EOFException parentEnded) {
            return;
        }
    }

    /**
     * A leg of the same kind runs first, until all that is measured later has been compiled; with enough timers that most of
     * that time is spent working, and not on waiting for the worker's next tick. So do stopwatches, or they are compiled while
     * they run.
     */
    private static Leg make(String workload, String contender, int timers) {
        if (!contender.equals(CONTENDER)) throw new IllegalArgumentException("no contender '" + contender + "'");
        final String similar = workload.equals("fire_spread") ? "fire_one_tick" : workload;
        if (!workload.equals("memory") && !workload.equals("idle")) {
            final long start = System.nanoTime();
            try (Leg similarLeg = Leg.named(similar).apply(50_000)) {
                for (long i = 0; System.nanoTime() - start < WARM_UP_NANOSECONDS; ++i) {
                    similarLeg.repeat(i);
                    for (int j = 0; j < 20; ++j) new Stopwatch().note(new Sample(), 1);
                }
            }
        }
        return Leg.named(workload).apply(timers);
    }
}
