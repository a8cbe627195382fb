import CH264Kernels

/// Rate-distortion optimised levels.
extension MacroblockCoder {
  mutating func optimiseLevels4x4(
    _ level: UnsafeMutablePointer<Int16>, _ coef: UnsafeMutablePointer<Int16>, first: Int
  ) {}
  mutating func optimiseLevels8x8(
    _ level: UnsafeMutablePointer<Int16>, _ coef: UnsafeMutablePointer<Int16>
  ) {}
}
