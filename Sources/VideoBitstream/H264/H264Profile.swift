// SPDX-License-Identifier: Apache-2.0
/// A profile and the constraint_set flags that say it (A.2).
package enum H264Profile: Hashable, Sendable {
  case constrainedBaseline, main, constrainedHigh, high

  package var profileIDC: Int {
    switch self {
    case .constrainedBaseline: 66
    case .main: 77
    case .constrainedHigh, .high: 100
    }
  }

  /// constraint_set0_flag in the highest bit ... constraint_set5_flag; the last two bits are zero.
  package var constraintFlags: Int {
    switch self {
    case .constrainedBaseline: 0b1100_0000
    case .main: 0b0100_0000
    case .constrainedHigh: 0b0000_1100
    case .high: 0
    }
  }

  package var allowsCABAC: Bool { self != .constrainedBaseline }
  package var allowsTransform8x8: Bool { self == .high || self == .constrainedHigh }
  /// level_prefix above 15 (CAVLC) is for the High profiles only: elsewhere a level stays within
  /// -2063...2063.
  package var allowsLongLevels: Bool { allowsTransform8x8 }
  /// cpbBrVclFactor (A.3.1, Table A-2): bits for each unit of MaxBR and MaxCPB.
  package var vclFactor: Int { allowsTransform8x8 ? 1250 : 1000 }

  /// profile_idc of the profiles whose parameter sets say the chroma format, bit depths and scaling lists.
  package static let idcsWithChromaFormat: Set<Int> = [
    100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
  ]
}
