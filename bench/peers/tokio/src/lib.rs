// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
//! tokio's timers behind C functions: tokio.hpp has what they are called for.
//!
//! A timer is a `Sleep`, pinned where it was made: one piece of memory for all. It is polled as a task would poll it, which
//! registers it, and again when it has woken that task, which then ends and drops it. Here a task is but its number: its waker
//! costs nothing to clone, and what it wakes is queued, as by tokio's scheduler, until the time driver is done.
//!
//! The clock is paused (tokio's test-util). Deadlines come as points in time: `sleep(delay)` would read that clock, which costs a
//! lock that the real one has not. The context is entered once, as a program that runs on tokio does; that is the thread's, and so
//! one contender can be alive at a time.

use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, EnterGuard, Runtime};
use tokio::time::{advance, sleep_until, Instant, Sleep};

/// Not `Option<Sleep>`: to set that to `None` is to copy 640 bytes of nothing, which dropping a `Sleep` does not cost its user.
struct Sleeps {
    memory: Box<[MaybeUninit<Sleep>]>,
    alive: Box<[bool]>,
}

impl Sleeps {
    fn new(count: usize) -> Sleeps {
        Sleeps {
            // Zeroed, so that its pages are there before anything is measured.
            memory: (0..count).map(|_| MaybeUninit::zeroed()).collect(),
            alive: vec![false; count].into(),
        }
    }

    fn get(&mut self, number: u32) -> Option<Pin<&mut Sleep>> {
        let index = number as usize;
        if !self.alive[index] {
            return None;
        }
        // Alive, and stays where it is until end().
        Some(unsafe { Pin::new_unchecked(self.memory[index].assume_init_mut()) })
    }

    fn make(&mut self, number: u32, deadline: Instant) -> Pin<&mut Sleep> {
        self.end(number);
        let index = number as usize;
        self.alive[index] = true;
        unsafe { Pin::new_unchecked(self.memory[index].write(sleep_until(deadline))) }
    }

    /// False if there was none.
    fn end(&mut self, number: u32) -> bool {
        let index = number as usize;
        let was_alive = std::mem::replace(&mut self.alive[index], false);
        if was_alive {
            unsafe { self.memory[index].assume_init_drop() };
        }
        was_alive
    }
}

impl Drop for Sleeps {
    fn drop(&mut self) {
        for number in 0..self.alive.len() {
            self.end(number as u32);
        }
    }
}

/// The fields end in this order: timers before the driver that they are registered with.
pub struct Timers {
    sleeps: Sleeps,
    _entered: EnterGuard<'static>,
    runtime: Runtime,
    start: Instant,
    now: u64, // milliseconds since start
    fired: u64,
    sum: u64,
}

static ALIVE: AtomicBool = AtomicBool::new(false);

/// The numbers of the tasks that are ready to run. Not in `Timers`: a waker has one word, which is the number.
static mut READY: Vec<u32> = Vec::new();

fn ready() -> &'static mut Vec<u32> {
    // One contender, one thread; no reference outlives a statement that could make another.
    unsafe { &mut *std::ptr::addr_of_mut!(READY) }
}

static WAKER: RawWakerVTable = RawWakerVTable::new(
    |number| RawWaker::new(number, &WAKER),
    |number| ready().push(number as usize as u32),
    |number| ready().push(number as usize as u32),
    |_| {},
);

fn waker(number: u32) -> Waker {
    unsafe { Waker::from_raw(RawWaker::new(number as usize as *const (), &WAKER)) }
}

impl Timers {
    fn new(count: usize) -> Timers {
        assert!(!ALIVE.swap(true, Relaxed), "one at a time");
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        // The guard holds nothing of the runtime's, and ends before it.
        let entered = unsafe { std::mem::transmute::<EnterGuard<'_>, EnterGuard<'static>>(runtime.enter()) };
        Timers {
            sleeps: Sleeps::new(count),
            _entered: entered,
            runtime,
            start: Instant::now(),
            now: 0,
            fired: 0,
            sum: 0,
        }
    }

    fn at(&self, milliseconds: u64) -> Instant {
        self.start + Duration::from_millis(milliseconds)
    }

    fn schedule(&mut self, number: u32, at: u64) {
        let deadline = self.at(at);
        let sleep = self.sleeps.make(number, deadline);
        if sleep.poll(&mut Context::from_waker(&waker(number))).is_ready() {
            ready().push(number); // due already
        }
    }

    /// Without a poll: the waker stays registered.
    fn move_to(&mut self, number: u32, at: u64) {
        let deadline = self.at(at);
        if let Some(sleep) = self.sleeps.get(number) {
            sleep.reset(deadline);
        }
    }

    fn advance_to(&mut self, now: u64) {
        let by = Duration::from_millis(now - self.now);
        self.now = now;
        self.runtime.block_on(advance(by));
        debug_assert_eq!(Instant::now(), self.at(now), "a paused clock goes on by itself if the runtime runs out of work");
        self.run_ready();
    }

    fn run_ready(&mut self) {
        let mut tasks = std::mem::take(ready());
        for &number in &tasks {
            let waker = waker(number);
            let mut context = Context::from_waker(&waker);
            let poll = self.sleeps.get(number).map(|sleep| sleep.poll(&mut context));
            if poll == Some(Poll::Ready(())) {
                self.sleeps.end(number);
                self.fired += 1;
                self.sum = self.sum.wrapping_add((u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            }
        }
        tasks.clear();
        *ready() = tasks;
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        ready().clear();
        ALIVE.store(false, Relaxed);
    }
}

#[no_mangle]
pub extern "C" fn cogwheel_bench_tokio_new(count: usize) -> *mut Timers {
    Box::into_raw(Box::new(Timers::new(count)))
}

/// # Safety
/// Here and below: `timers` comes from `cogwheel_bench_tokio_new` and has not been freed; numbers are below its count.
#[no_mangle]
pub unsafe extern "C" fn cogwheel_bench_tokio_free(timers: *mut Timers) {
    drop(Box::from_raw(timers));
}

#[no_mangle]
pub unsafe extern "C" fn cogwheel_bench_tokio_schedule(timers: *mut Timers, number: u32, at: u64) {
    (*timers).schedule(number, at);
}

#[no_mangle]
pub unsafe extern "C" fn cogwheel_bench_tokio_cancel(timers: *mut Timers, number: u32) -> bool {
    (*timers).sleeps.end(number)
}

#[no_mangle]
pub unsafe extern "C" fn cogwheel_bench_tokio_move(timers: *mut Timers, number: u32, at: u64) {
    (*timers).move_to(number, at);
}

#[no_mangle]
pub unsafe extern "C" fn cogwheel_bench_tokio_advance_to(timers: *mut Timers, now: u64) {
    (*timers).advance_to(now);
}

#[no_mangle]
pub unsafe extern "C" fn cogwheel_bench_tokio_pending(timers: *const Timers) -> usize {
    (*timers).sleeps.alive.iter().filter(|alive| **alive).count()
}

#[no_mangle]
pub unsafe extern "C" fn cogwheel_bench_tokio_fired(timers: *const Timers, count: *mut u64, sum: *mut u64) {
    *count = (*timers).fired;
    *sum = (*timers).sum;
}
