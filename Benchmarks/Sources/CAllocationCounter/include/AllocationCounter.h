// SPDX-License-Identifier: Apache-2.0
// Counts the heap allocations of all threads. In a program that links this target, malloc and the
// related functions are replaced, also for the libraries that the program uses.

#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

// The number of allocations since the program started.
unsigned long allocation_count(void);
// If `on` is 1, the next allocation stops the program, so that a debugger can show the call stack.
void allocation_trap(int on);

#endif
