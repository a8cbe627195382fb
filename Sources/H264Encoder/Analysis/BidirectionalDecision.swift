// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Decision and coding of one macroblock of a B picture.
extension MacroblockCoder {
  /// Codes the macroblock at hand; in next to no bits if the picture's budget is spent (`economy`).
  mutating func codeBidirectional(economy: Bool) {
    codeIntra(decideIntra16x16())
  }

  /// Marks the macroblock as not predicted from list 1.
  mutating func storeNoMotionL1() {
    UnsafeMutableRawPointer(f.syntax.referenceIndexL1 + m &* 4).storeBytes(of: 0xFFFF_FFFF, as: UInt32.self)
    clear(f.syntax.motionL1 + m &* 16)
    clear(f.syntax.motionDifferenceL1 + m &* 16)
  }
}
