// SPDX-License-Identifier: Apache-2.0
import KernelTestSupport
import Testing
import VideoEncoding

@Suite struct CABACEngineTests {
  /// A bin with a context variable, bins without one, or the bin 0 before a terminating one.
  enum Symbol: Equatable {
    case decision(UInt32, context: Int)
    case bypass(UInt32, count: Int)
    case continues
  }

  static let contextCount = 6

  /// Symbols whose contexts differ in how probable a 1 is; at times long runs of ones without
  /// context variables, after which a carry runs through bytes of 255.
  static func symbols(_ count: Int, _ random: inout Random) -> [Symbol] {
    (0..<count).map { _ in
      switch random.int(0...9) {
      case 0: return .continues
      case 1:
        let count = random.int(0...16)
        return .bypass(UInt32(random.int(0...(1 << count - 1))), count: count)
      case 2: return .bypass(0xFFFF, count: 16)
      default:
        let context = random.int(0...(contextCount - 1))
        return .decision(random.int(0...9) < [0, 1, 3, 5, 8, 10][context] ? 1 : 0, context: context)
      }
    }
  }

  static func encode(_ symbols: [Symbol], _ engine: inout CABACEngine) {
    for symbol in symbols {
      switch symbol {
      case .decision(let bin, let context): engine.encode(bin, context)
      case .bypass(let bins, let count): engine.bypass(bins, count)
      case .continues: engine.continueSlice()
      }
    }
  }

  /// Decodes as many symbols of the same kinds, and expects the terminating bin 1 after them.
  static func decode(like symbols: [Symbol], _ decoder: inout CABACDecoder) -> [Symbol] {
    let decoded = symbols.map { symbol -> Symbol in
      switch symbol {
      case .decision(_, let context): .decision(decoder.decide(context), context: context)
      case .bypass(_, let count): .bypass(decoder.bypass(count), count: count)
      case .continues: decoder.terminate() ? .bypass(0, count: -1) : .continues
      }
    }
    let ends = decoder.terminate()
    #expect(ends)
    return decoded
  }

  /// pStateIdx and valMPS of each context variable of an engine.
  static func states(_ contexts: Memory<UInt8>) -> [(state: Int, maxProbable: Int)] {
    contexts.values.map { (Int($0 >> 1), Int($0 & 1)) }
  }

  @Test func aDecoderOfTheStandardReadsWhatWasEncoded() {
    var random = Random(70)
    for _ in 0..<400 {
      let contexts = Memory<UInt8>((0..<Self.contextCount).map { _ in UInt8(random.int(0...125)) })
      let initial = Self.states(contexts)
      let memory = Memory<UInt8>(8192)
      var engine = CABACEngine(contexts: contexts.base, at: memory.base, end: memory.base + memory.count)
      let first = Self.symbols(random.int(0...600), &random)
      Self.encode(first, &engine)
      let estimate = engine.bitCount(since: memory.base)
      engine.terminate()
      let middle = engine.next
      #expect(!engine.overflowed)

      // A second part in the same engine, as after the samples of I_PCM: context variables go on.
      let second = Self.symbols(random.int(0...200), &random)
      engine.restart(at: middle)
      Self.encode(second, &engine)
      engine.terminate()

      let length = middle - memory.base
      var decoder = CABACDecoder(Array(memory.values[..<length]), contexts: initial)
      let firstDecoded = Self.decode(like: first, &decoder)
      #expect(firstDecoded == first)
      var rest = CABACDecoder(
        Array(memory.values[length..<(engine.next - memory.base)]), contexts: decoder.contexts)
      let secondDecoded = Self.decode(like: second, &rest)
      #expect(secondDecoded == second)
      #expect(rest.contexts.elementsEqual(Self.states(contexts), by: ==))

      // The bits that a flush adds, and those up to the end of the last byte.
      #expect(length * 8 >= estimate && length * 8 <= estimate + 17)
      // rbsp_stop_one_bit is there, with at most seven bits after it.
      #expect(length > 0 && memory[length - 1] != 0)
    }
  }

  /// Memory that is too small is reported, and nothing is written after it.
  @Test func nothingIsWrittenBeyondTheMemory() {
    var random = Random(71)
    for room in 12...80 {
      let contexts = Memory<UInt8>([UInt8](repeating: 40, count: Self.contextCount))
      let memory = Memory<UInt8>([UInt8](repeating: 0xA5, count: room + 64))
      var engine = CABACEngine(contexts: contexts.base, at: memory.base, end: memory.base + room)
      for _ in 0..<room { engine.bypass(UInt32(random.int(0...65535)), 16) }
      #expect(engine.overflowed)
      engine.terminate()
      #expect(memory.values[room...].allSatisfy { $0 == 0xA5 }, "\(room) bytes")
    }
  }
}
