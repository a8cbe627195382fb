// SPDX-License-Identifier: Apache-2.0
// Counts what a program asks of the heap, in every thread. A program that links this target has its malloc and
// the others replaced, those that its libraries call too.

#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

// Allocations since the program began.
unsigned long allocation_count(void);
// With 1, the next allocation stops the program where it is, for a debugger's back trace.
void allocation_trap(int on);

#endif
