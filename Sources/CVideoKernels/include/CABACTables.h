// SPDX-License-Identifier: Apache-2.0
// The tables of the arithmetic coding engine of CABAC, the same in ITU-T H.264 (9.3.3.2) and H.265
// (9.3.4.3.2). What the contexts are, and how they begin, is each codec's own.

#ifndef CABACTABLES_H
#define CABACTABLES_H

#include <stdint.h>

extern const uint8_t ovt_cabac_transitions_table[128 * 2];
extern const uint16_t ovt_cabac_ranges_table[64 * 4];

// By pStateIdx << 1 | valMPS: two bytes, the next state after an MPS and after an LPS.
static inline const uint8_t *ovt_cabac_transitions(void) { return ovt_cabac_transitions_table; }
// By pStateIdx * 4 + (codIRange >> 6 & 3): rangeTabLPS, and << 8 by how far renormalisation shifts
// it.
static inline const uint16_t *ovt_cabac_ranges(void) { return ovt_cabac_ranges_table; }

#endif
