/* SPDX-License-Identifier: BSL-1.0
 * Copyright (c) 2026 The Cogwheel authors
 *
 * A model of include/cogwheel/asio/detail/engine/biased_mutex.hpp for Spin, with the store buffers of x86 for the flags that
 * say "inside". Each of N threads locks the mutex `rounds` times, and may become the owner each time, `grants` times in
 * all. The assertion: never two threads inside.
 *
 *   spin -a -DN=3 -Drounds=3 -Dgrants=2 biased_mutex.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -E -m1000000
 *
 * With -DONE_FLAG (for all owners) or -DNO_BARRIER (no membarrier(2)), it finds two threads inside.
 */
#ifdef ONE_FLAG
#define flag(thread) 0
#else
#define flag(thread) (thread)
#endif
#define nobody 9

mtype = { unlocked, locked, biased };

mtype word = unlocked;
byte owner = nobody;
byte bias = nobody; /* whose flag unlock() clears: the mutex guards it */
bit inside[N];
chan stores[N] = [3] of { bit }; /* on their way to the flag of a thread */
byte holders = 0, revoked = 0;

inline drain(thread, value) {
  do
  :: len(stores[thread]) > 0 -> stores[thread]?value; inside[flag(thread)] = value
  :: else -> break
  od
}

/* A store arrives some time. */
proctype processor(byte whose) {
  bit value;
  do
  :: atomic { stores[whose]?value; inside[flag(whose)] = value }
  od
}

proctype user(byte me) {
  byte i, done = 0, seen;
  bit value;
  mtype before;
  do
  :: done == rounds -> break
  :: else ->
    seen = owner;
    if
    :: seen == me ->
      stores[me]!1;
      if
      :: owner == seen -> goto locked_it
      :: else -> stores[me]!0
      fi
    :: else
    fi;
by_word:
    atomic { true; drain(me, value); before = word; word = locked } /* an exchange is a fence */
    if
    :: before == locked -> (word != locked); goto by_word
    :: before == biased ->
      owner = nobody;
#ifndef NO_BARRIER
      atomic { for (i : 0 .. N - 1) { drain(i, value) } }
#else
      atomic { drain(me, value) }
#endif
      (inside[flag(bias)] == 0);
      bias = nobody;
      revoked++
    :: before == unlocked
    fi;
locked_it:
    holders++;
    assert(holders == 1);
    holders--;
    if
    :: bias == nobody && revoked < grants -> stores[me]!1; bias = me; owner = me; atomic { drain(me, value); word = biased }
    :: true
    fi;
    if
    :: bias != nobody -> assert(bias == me); stores[me]!0
    :: else -> atomic { drain(me, value); word = unlocked }
    fi;
    done++
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. N - 1) { run user(i); run processor(i) }
  }
}
