// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import KernelTestSupport
import Testing

/// Rows of source pictures, at odd addresses.
@Suite struct RowTests {
  @Test("Ten bits, upper or lower ones of sixteen, to 10 and to 8 bits", arguments: [Int32(0), 6])
  func tenBits(shift: Int32) {
    var random = Random(90)
    for n in [1, 2, 7, 16, 33, 100] {
      let samples = (0..<2 * n).map { _ in random.int(0...(shift == 0 ? 2047 : 65535)) }
      var bytes: [UInt8] = [0]
      for sample in samples { bytes += [UInt8(sample & 255), UInt8(sample >> 8)] }
      let values = samples.map { min($0 >> Int(shift), 1023) }
      let rounded = values.map { UInt8(min(($0 + 2) / 4, 255)) }
      let deep = [UInt16](repeating: 9, count: n)
      let flat = [UInt8](repeating: 9, count: n)
      var (wide, first, second) = (deep, deep, deep)
      var (narrow, narrowFirst, narrowSecond) = (flat, flat, flat)
      bytes.withUnsafeBytes { raw in
        guard let source = raw.baseAddress.map({ $0 + 1 }) else { return }
        ovt_hevc_row16(&wide, source, Int32(n), shift)
        ovt_hevc_split_row16(&first, &second, source, Int32(n), shift)
        ovt_hevc_narrow_row(&narrow, source, Int32(n), shift)
        ovt_hevc_narrow_split_row(&narrowFirst, &narrowSecond, source, Int32(n), shift)
      }
      #expect(wide == values.prefix(n).map { UInt16($0) })
      #expect(first == (0..<n).map { UInt16(values[2 * $0]) })
      #expect(second == (0..<n).map { UInt16(values[2 * $0 + 1]) })
      #expect(narrow == Array(rounded.prefix(n)))
      #expect(narrowFirst == (0..<n).map { rounded[2 * $0] })
      #expect(narrowSecond == (0..<n).map { rounded[2 * $0 + 1] })
      let error = (0..<n).reduce(0) { sum, i in
        let difference = values[2 * i] - values[2 * i + 1]
        return sum + difference * difference
      }
      #expect(ovt_hevc_ssd_row16(first, second, Int32(n)) == UInt64(error))
    }
  }

  @Test("Eight bits to ten")
  func eightBits() {
    var random = Random(91)
    for n in [1, 5, 16, 47] {
      let samples = (0..<2 * n).map { _ in UInt8(random.int(0...255)) }
      let zeros = [UInt16](repeating: 0, count: n)
      var (wide, first, second) = (zeros, zeros, zeros)
      ovt_hevc_widen_row(&wide, samples, Int32(n))
      ovt_hevc_widen_split_row(&first, &second, samples, Int32(n))
      #expect(wide == samples.prefix(n).map { UInt16($0) * 4 })
      #expect(first == (0..<n).map { UInt16(samples[2 * $0]) * 4 })
      #expect(second == (0..<n).map { UInt16(samples[2 * $0 + 1]) * 4 })
    }
  }
}
