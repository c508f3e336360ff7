// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// bullmq.cjs produce SOCKET PLAN CHUNK CALLERS | work SOCKET TASKS OUT LIMIT: the contender BullMQ (see bench/durable/run.py).
// The packages bullmq and ioredis are in $BENCH_NODE/node_modules.
const fs = require('node:fs');
const readline = require('node:readline');
const { performance } = require('node:perf_hooks');
const from = require('node:module').createRequire(process.env.BENCH_NODE + '/');
const { Queue, Worker } = from('bullmq');

const [role, path, ...rest] = process.argv.slice(2);
const connection = { path, maxRetriesPerRequest: null };

// The wall clock in microseconds: Date has milliseconds only, so the begin of one is found. An interruption by the machine
// makes the offset too small: the largest of several is right.
let offset = -Infinity;
for (let i = 0; i < 9; ++i) {
    const start = Date.now();
    let base = start;
    while (base === start) base = Date.now();
    offset = Math.max(offset, base - performance.now());
}
const now_us = () => (offset + performance.now()) * 1000;
const say = (line) => process.stdout.write(line + '\n');

async function produce([plan, chunk, callers]) {
    const rows = fs.readFileSync(plan, 'utf8').trim().split('\n').map((l) => l.split(' ').map(Number));
    const singly = Number(chunk) === 1;
    const most = singly ? rows.length : Number(chunk);
    const pad = 'x'.repeat(200);
    const queue = new Queue('bench', { connection });
    await queue.waitUntilReady();
    say('ready');
    await new Promise((go) => readline.createInterface({ input: process.stdin }).once('line', go));
    const zero = Date.now();
    const keep = { removeOnComplete: true, removeOnFail: true };
    for (let i = 0; i < rows.length;) {
        const now = Date.now();
        const jobs = [];
        while (i < rows.length && jobs.length < most && zero + rows[i][0] <= now) {
            const due = zero + rows[i++][1];
            const data = (due + ' ' + pad).slice(0, 200);
            jobs.push({ name: 't', data, opts: { ...keep, timestamp: now, delay: Math.max(0, due - now) } });
        }
        const one_by_one = async () => {
            for (let job = jobs.pop(); job; job = jobs.pop()) await queue.add('t', job.data, job.opts);
        };
        const full = jobs.length === most;
        if (singly) await Promise.all(Array.from({ length: Number(callers) }, one_by_one));
        else if (jobs.length > 0) await queue.addBulk(jobs);
        if (!full && i < rows.length)
            await new Promise((r) => setTimeout(r, Math.max(50, zero + rows[i][0] - Date.now())));
    }
    say('done ' + JSON.stringify({ added: rows.length, seconds: (Date.now() - zero) / 1000 }));
    await queue.close();
    process.exit(0);
}

async function work([tasks, out, limit]) {
    const wanted = Number(tasks);
    const late = [];
    let completed = 0;
    const worker = new Worker('bench', async (job) => { late.push(now_us() - parseInt(job.data, 10) * 1000); },
        { connection, concurrency: 256 });
    worker.on('error', (e) => process.stderr.write(`bullmq: ${e.message}\n`));
    const end = () => {
        fs.writeFileSync(out, late.map((l) => Math.round(l)).join('\n') + '\n');
        const cpu = process.cpuUsage();
        say('done ' + JSON.stringify({ handled: completed, cpu_us: cpu.user + cpu.system }));
        process.exit(0);
    };
    worker.on('completed', () => { if (++completed === wanted) end(); });
    await worker.waitUntilReady();
    setTimeout(end, Number(limit) * 1000);
    setTimeout(() => say('ready'), 300);
}

(role === 'produce' ? produce : work)(rest);
