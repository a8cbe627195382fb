// SPDX-License-Identifier: Apache-2.0
/// A profile, as profile_idc and the constraint_set flags give it (A.2).
package enum H264Profile: Hashable, Sendable {
  case constrainedBaseline, main, constrainedHigh, high, high444Predictive

  package var profileIDC: Int {
    switch self {
    case .constrainedBaseline: 66
    case .main: 77
    case .constrainedHigh, .high: 100
    case .high444Predictive: 244
    }
  }

  /// The eight bits that follow profile_idc: constraint_set0_flag in the highest to
  /// constraint_set5_flag, and two zeros.
  package var constraintFlags: Int {
    switch self {
    case .constrainedBaseline: 0b1100_0000
    case .main: 0b0100_0000
    case .constrainedHigh: 0b0000_1100
    case .high, .high444Predictive: 0
    }
  }

  package var allowsCABAC: Bool { self != .constrainedBaseline }
  package var allowsTransform8x8: Bool {
    switch self {
    case .constrainedHigh, .high, .high444Predictive: true
    case .constrainedBaseline, .main: false
    }
  }
  /// Whether CAVLC level_prefix may exceed 15: in the High profiles only. In others levels of
  /// coefficients are limited to -2063...2063.
  package var allowsLongLevels: Bool { allowsTransform8x8 }
  /// cpbBrVclFactor (A.3.1, Table A-2): the number of bits in a unit of MaxBR and MaxCPB.
  package var vclFactor: Int {
    switch self {
    case .constrainedBaseline, .main: 1000
    case .constrainedHigh, .high: 1250
    case .high444Predictive: 4000
    }
  }

  /// The profile_idc whose sequence parameter sets contain chroma format, bit depths and scaling
  /// lists.
  package static let idcsWithChromaFormat: Set<Int> = [
    100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
  ]
}
