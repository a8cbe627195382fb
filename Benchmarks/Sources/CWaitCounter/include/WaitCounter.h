// SPDX-License-Identifier: Apache-2.0
// How long threads have waited: until they were woken, and giving way to others in loops.

#ifndef WAITCOUNTER_H
#define WAITCOUNTER_H

// Seconds of all threads together since the program began.
double waited_seconds(void);

#endif
