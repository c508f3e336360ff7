// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// bench::sample of bench/leg.hpp, as the benchmark's process reads it.

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

final class Sample {
    static final int SIZE = 10 * 8 + 8 * 8 + 160;
    private static final int ERROR_AT = SIZE - 160;

    double cpuNanoseconds;
    double wallNanoseconds;
    long operations;
    double bytes;
    double handleBytes;
    long cancelled;
    long pending;
    long fired;
    long sum;
    final double[] figures = new double[8];
    String error = "";

    byte[] toBytes() {
        final ByteBuffer buffer = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putDouble(cpuNanoseconds).putDouble(wallNanoseconds).putLong(operations);
        buffer.putDouble(bytes).putDouble(handleBytes);
        buffer.putDouble(0); // what the JVM takes from malloc says nothing about timers
        buffer.putLong(cancelled).putLong(pending).putLong(fired).putLong(sum);
        for (final double figure : figures) buffer.putDouble(figure);
        final byte[] text = error.getBytes(StandardCharsets.US_ASCII);
        buffer.position(ERROR_AT).put(text, 0, Math.min(text.length, SIZE - ERROR_AT - 1));
        return buffer.array();
    }
}
