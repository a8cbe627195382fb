// SPDX-License-Identifier: Apache-2.0
// Measures how long threads wait, both until they are woken and while they yield in loops.

#ifndef WAITCOUNTER_H
#define WAITCOUNTER_H

// The total waiting time of all threads in seconds since the program started.
double waited_seconds(void);

#endif
