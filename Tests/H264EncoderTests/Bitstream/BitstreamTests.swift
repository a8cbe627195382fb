// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@testable import H264Encoder
@testable import VideoEncoding

@Suite struct BitstreamTests {
  @Test("Bits come back as they were written")
  func bitsComeBackAsTheyWereWritten() throws {
    var random = TestRandom(7)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 16)
    defer { memory.deallocate() }
    for _ in 0..<50 {
      var writer = BitWriter(memory, capacity: 1 << 16)
      var written: [(kind: Int, value: Int, length: Int)] = []
      for _ in 0..<500 {
        let length = random.int(1...32)
        let kind = random.int(0...2)
        var value = Int(random.next() & ((1 << UInt64(length)) - 1))
        if kind == 2 && random.chance(50) { value = -value }
        if kind > 0 && abs(value) > 0x7FFF_FFFF { value = 0x7FFF_FFFF }
        switch kind {
        case 0: writer.put(UInt32(value), length)
        case 1:
          let before = writer.bitCount
          writer.ue(value)
          #expect(writer.bitCount - before == EntropyCost.ue(value))
        default:
          let before = writer.bitCount
          writer.se(value)
          #expect(writer.bitCount - before == EntropyCost.se(value))
        }
        written.append((kind, value, length))
      }
      let count = writer.bitCount
      writer.trailingBits()
      writer.flush()
      #expect(!writer.overflowed)
      #expect(writer.next - memory == (count + 8) / 8)
      var reader = BitReader(
        bytes: Array(UnsafeBufferPointer(start: memory, count: writer.next - memory)), position: 0)
      for (kind, value, length) in written {
        let read = try kind == 0 ? reader.u(length) : kind == 1 ? reader.ue() : reader.se()
        #expect(read == value)
      }
      #expect(!reader.hasMore)
    }
  }

  @Test("Nothing is written beyond the capacity")
  func nothingIsWrittenBeyondTheCapacity() {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)
    defer { memory.deallocate() }
    for capacity in 0...16 {
      memory.initialize(repeating: 0xEE, count: 64)
      var writer = BitWriter(memory, capacity: capacity)
      for i in 0..<40 { writer.put(UInt32(i), 9) }
      writer.trailingBits()
      writer.flush()
      #expect(writer.overflowed)
      for i in capacity..<64 { #expect(memory[i] == 0xEE) }
    }
  }

  @Test("The slice coders stop at the end of their memory")
  func theSliceCodersStopAtTheEndOfTheirMemory() {
    let picture = SyntaxPicture(widthInMbs: 2, heightInMbs: 2)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 16)
    defer { memory.deallocate() }
    var contexts = EncoderMemory()
    let cabac = CABACWriter(picture: picture.syntax, memory: &contexts)
    let capacities = [0, 1, 11, 12, 13, 64, 100, 500, 800]
    for seed in 0..<20 {
      for useCABAC in [false, true] {
        /// Writes the same slice into `capacity` bytes; nil if they are too few.
        func write<Writer: EntropyCoder>(_ source: Writer, capacity: Int) -> Int? {
          memory.initialize(repeating: 0xEE, count: 1 << 16)
          var generator = SyntaxGenerator(
            random: TestRandom(UInt64(seed)), slice: SliceParameters(qp: 20), cabac: useCABAC)
          generator.pcms = 30
          generator.density = 90
          var writer = source
          writer.begin(
            generator.slice, picture: picture.syntax, after: BitWriter(memory, capacity: capacity))
          for m in 0..<4 {
            generator.fill(picture, m, slice: 0, first: 0)
            let levels = picture.levels + m * LevelLayout.count
            if m == 2 {
              writer.save()
              writer.encode(macroblock: m, levels: levels, pcm: picture.pcm + m * 384)
              writer.restore()
            }
            writer.encode(macroblock: m, levels: levels, pcm: picture.pcm + m * 384)
          }
          let size = writer.finish()
          return writer.overflowed ? nil : size
        }
        func write(capacity: Int) -> Int? {
          useCABAC
            ? write(cabac, capacity: capacity)
            : write(CAVLCWriter(picture: picture.syntax), capacity: capacity)
        }
        let size = write(capacity: 1 << 16)
        guard let size else {
          Issue.record("64 kB are enough for four macroblocks")
          continue
        }
        for capacity in capacities + [size - 1, size, size + 12] {
          let result = write(capacity: capacity)
          // A few bytes more than the slice are asked for.
          if capacity < size { #expect(result == nil) }
          if capacity >= size + 12 { #expect(result == size) }
          for i in capacity..<1 << 16 where memory[i] != 0xEE {
            Issue.record("wrote at \(i) of \(capacity)")
            break
          }
        }
      }
    }
  }

  @Test("Emulation prevention, against the rule byte by byte")
  func emulationPreventionFollowsTheRule() {
    var random = TestRandom(3)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)
    defer { memory.deallocate() }
    for round in 0..<2000 {
      let count = random.int(0...200)
      let zeros = [0, 3, 50, 95][round % 4]
      var payload = (0..<count).map { _ in
        random.chance(zeros)
          ? UInt8(0) : random.chance(50) ? UInt8(random.int(0...4)) : UInt8(random.int(0...255))
      }
      if round % 8 != 0 { payload.append(0x80) }
      var writer = NALUnitWriter(memory, capacity: 4096)
      let framing: NALUnitFraming = [.shortStartCode, .startCode, .length][round / 4 % 3]
      guard
        let range = writer.append(
          type: .slice, refIDC: 2, payload: payload, count: payload.count, framing: framing)
      else {
        Issue.record("did not fit")
        return
      }
      let unit = Array(UnsafeBufferPointer(start: memory + range.lowerBound, count: range.count))
      #expect(range.upperBound == writer.count)
      #expect(unit[0] == 0x41)
      // Undone, it is the payload; and no forbidden sequence is left.
      var expected: [UInt8] = [0x41]
      var run = 0
      for byte in payload {
        if run >= 2 && byte <= 3 {
          expected.append(3)
          run = 0
        }
        expected.append(byte)
        run = byte == 0 ? run + 1 : 0
      }
      if payload.last == 0 { expected.append(3) }
      #expect(unit == expected)
      switch framing {
      case .shortStartCode: #expect((0..<3).map { memory[$0] } == [0, 0, 1])
      case .startCode: #expect((0..<4).map { memory[$0] } == [0, 0, 0, 1])
      case .length:
        #expect((0..<4).reduce(0) { $0 << 8 | Int(memory[$1]) } == range.count)
      }
    }
    var small = NALUnitWriter(memory, capacity: 40)
    #expect(
      small.append(type: .slice, refIDC: 0, payload: [1, 2, 3, 4, 5, 6, 7], count: 7, framing: .startCode)
        == nil)
    #expect(small.overflowed && small.count == 0)
  }
}
