// SPDX-License-Identifier: Apache-2.0

extension PassStatistics {
  /// What the pass has learned of some of its pictures, as if there had been no others.
  /// - Parameter numbers: in the order of input, from 0 on.
  /// - Returns: nil if it has not seen them all.
  public func part(_ numbers: Range<Int>) -> PassStatistics? {
    guard numbers.lowerBound >= 0, !numbers.isEmpty else { return nil }
    let first = UInt64(numbers.lowerBound)
    let wanted = first..<UInt64(numbers.upperBound)
    var result = PassStatistics(width: width, height: height)
    for picture in pictures where wanted.contains(picture.index) {
      var own = picture
      own.index -= first
      result.append(own)
    }
    return result.count == numbers.count ? result : nil
  }

  /// Seconds that its pictures are shown.
  public var seconds: Double { pictures.reduce(0) { $0 + $1.duration } }
}
