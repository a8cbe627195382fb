// SPDX-License-Identifier: Apache-2.0
import FuzzDriver
import HEVCEncoder

/// What to encode, and how: a configuration, pictures and calls, which the fuzzer's input chooses.
struct HEVCJob {
  let configuration: HEVCEncoderConfiguration
  let layout: HEVCLayout
  let steps: [HEVCStep]
  /// The time of the first picture; nil: not set.
  let begin: Double?
  /// Whether the stream is compared with that of one thread.
  let comparesThreads: Bool
  /// Whether the pictures are encoded a second time with the statistics of the first.
  let repeatsPass: Bool

  /// Whether frames can have a QP out of the range of the configuration.
  var changesRange: Bool {
    steps.contains {
      switch $0 {
      case .encode(_, let request, _): request.options.qp != nil
      case .reconfigure(let change): change.changesRange
      default: false
      }
    }
  }

  /// Reads a job. `scripts/fuzz-seeds` writes the same format.
  init(_ input: inout FuzzInput) {
    let (stream, tests, source) = (input.byte(), input.byte(), input.byte())
    var made = HEVCEncoderConfiguration(width: Self.side(input.byte()), height: Self.side(input.byte()))
    if stream & 1 != 0 { made.profile = .main10 }
    made.usesWavefronts = stream & 2 != 0
    made.writesAccessUnitDelimiters = stream & 4 != 0
    made.writesParameterSets = stream & 8 == 0
    made.framing = stream & 16 == 0 ? .startCodes : .lengths
    made.deblocking = stream & 32 == 0
    made.adaptiveOffset = stream & 64 == 0
    made.allowsWeightedPrediction = stream & 128 == 0
    made.effort = Int(input.byte() % 10)
    made.threads = Int(input.byte() % 4) + 1
    made.maximumReferences = Int(input.byte() % 15) + 1
    let range = [Int(input.byte() % 52), 51 - Int(input.byte() % 52)].sorted()
    (made.minimumQP, made.maximumQP) = (range[0], range[1])
    let interval = Int(input.byte())
    made.keyFrameInterval = interval == 0 ? nil : interval % 32 + 1
    made.frameRate = [30, 29.97, 5, 1000, 0.01, 60, 12.5, 240][Int(input.byte() % 8)]
    made.measuresError = tests & 1 != 0
    comparesThreads = tests & 2 != 0
    if tests & 4 != 0 {
      made.visibleWidth = made.width - Int(input.byte() % 8) * 2
      made.visibleHeight = made.height - Int(input.byte() % 8) * 2
    }
    if tests & 8 != 0 {
      made.dataRateLimits = [
        .init(bytes: Int(input.byte()) * 64 + 1, seconds: Double(input.byte()) / 32 + 0.01)
      ]
    }
    begin = tests & 16 != 0 ? input.real() : nil
    if tests & 32 != 0 {
      made.masteringDisplay = [UInt8](repeating: input.byte(), count: 24)
      made.contentLightLevel = [UInt8](repeating: input.byte(), count: 4)
    }
    let looksAhead = tests & 128 != 0
    if looksAhead {
      made.lookAhead = Self.lookAhead(&input)
    } else {
      made.lowLatency = Self.lowLatency(&input)
    }
    repeatsPass = looksAhead && tests & 64 != 0
    if source & 16 != 0 {
      for _ in 0..<input.byte() % 4 { HEVCSettingChange(&input).apply(to: &made) }
    }
    configuration = made
    layout = HEVCLayout(
      isDeep: source & 1 != 0, isUpper: source & 2 != 0, isPlanar: source & 4 != 0, padding: Int(source >> 5))

    // Fewer pictures of large sizes.
    let area = max(64.0, min(65_536.0, Double(made.width) * Double(made.height)))
    var left = max(4, min(24, Int(60_000 / area)))
    var read: [HEVCStep] = []
    while !input.isEmpty, left > 0, read.count < 100 {
      let step = HEVCStep(&input)
      if case .encode = step { left -= 1 }
      read.append(step)
    }
    steps = read
  }

  /// A side of a picture: mostly small and even.
  private static func side(_ byte: UInt8) -> Int {
    switch byte {
    case 0..<192: 8 + Int(byte % 48) * 2
    case 192..<224: 64 + Int(byte - 192) * 6
    default: Int(byte - 224)
    }
  }

  /// A bit rate, in steps of about a fifth.
  private static func bitRate(_ byte: UInt8) -> Int { (4 + Int(byte & 3)) * 250 << Int(byte >> 2 & 15) }

  private static func lowLatency(_ input: inout FuzzInput) -> HEVCEncoderConfiguration.LowLatency {
    var made = HEVCEncoderConfiguration.LowLatency()
    let (rate, flags) = (input.byte(), input.byte())
    made.rateControl = rate < 128 ? .constantQP(Int(rate) % 52) : .averageBitRate(bitRate(input.byte()))
    made.allowsFrameDropping = flags & 1 != 0
    made.allowsNonReferenceFrames = flags & 2 == 0
    made.cascadesQuality = flags & 4 == 0
    made.sceneChange = flags & 8 != 0 ? .keyFrame : flags & 16 != 0 ? .intraRefresh : .none
    made.refreshesContinuously = flags & 32 == 0
    if flags & 16 != 0 { made.intraRefreshPeriod = Int(input.byte() % 12) + 1 }
    if flags & 64 != 0 { made.longTermReferences = Int(input.byte() % 4) }
    if flags & 128 != 0 { made.temporalLayers = Int(input.byte() % 7) + 1 }
    let (activity, delay) = (input.byte(), input.byte())
    made.adaptiveQuantisation = Double(activity % 9) / 4
    if delay > 0 { made.maximumQueueDelay = Double(delay) / 25 }
    made.maximumStillPSNR = 30 + Double(input.byte() % 70)
    return made
  }

  private static func lookAhead(_ input: inout FuzzInput) -> HEVCEncoderConfiguration.LookAhead {
    var made = HEVCEncoderConfiguration.LookAhead()
    let (rate, flags) = (input.byte(), input.byte())
    switch rate >> 6 {
    case 0: made.rate = .constantQP(Int(rate) % 52)
    case 1: made.rate = .quality(Double(rate & 63) * 0.8)
    case 2: made.rate = .average(bitRate(rate))
    default: made.rate = .constant(bitRate(rate))
    }
    made.usesPyramid = flags & 1 == 0
    made.usesOpenGOP = flags & 2 != 0
    made.usesMacroblockTree = flags & 4 == 0
    made.placesKeyFramesAtCuts = flags & 8 == 0
    var filling = bitRate(input.byte())
    if case .constant(let rate) = made.rate { filling = rate }
    let size = (Int(input.byte()) + 8) * filling / 64
    if flags & 16 != 0 || rate >= 192 {
      made.buffer = .init(maximumRate: filling, size: size, initialFullness: Double(input.byte()) / 255)
      made.writesBufferTiming = flags & 32 != 0
      made.hasFramesBefore = flags & 64 != 0
      made.hasFramesAfter = flags & 128 != 0
    }
    let (frames, times) = (input.byte(), input.byte())
    made.frames = Int(frames % 24)
    made.maximumBidirectional = Int(times & 3)
    made.adaptiveQuantisation = Double(input.byte() % 9) / 4
    if times & 4 != 0 { made.keyFrameDuration = Double(input.byte()) / 32 + 0.01 }
    if times & 8 != 0 { made.expectedDuration = Double(input.byte()) / 16 + 0.01 }
    if times & 16 != 0 { made.partRate = bitRate(input.byte()) }
    return made
  }
}

/// A call of the encoder.
enum HEVCStep {
  /// Changes the picture and encodes it; with zero latency the frame may be lost.
  case encode([HEVCPictureChange], HEVCFrameRequest, isLost: Bool)
  case reconfigure(HEVCSettingChange)
  /// Invalidates references from some frames before the next one on.
  case invalidate(back: Int)
  /// Invalidates all references but one that the decoder has.
  case acknowledge(place: Int)
  /// Completes pictures up to some pictures before the next one.
  case complete(back: Int)
  case flush

  init(_ input: inout FuzzInput) {
    let kind = input.byte()
    switch kind & 15 {
    case 11: self = .reconfigure(HEVCSettingChange(&input))
    case 12: self = .invalidate(back: Int(kind >> 4) == 15 ? input.number() : Int(kind >> 4))
    case 13: self = .acknowledge(place: Int(kind >> 4))
    case 14: self = .complete(back: Int(kind >> 4) == 15 ? input.number() : Int(kind >> 4))
    case 15: self = .flush
    default:
      let changes = (0..<kind & 3).map { _ in HEVCPictureChange(&input) }
      let request = kind & 16 != 0 ? HEVCFrameRequest(&input) : HEVCFrameRequest()
      self = .encode(changes, request, isLost: kind >> 5 == 7)
    }
  }
}

/// The options of a frame, whose references may be chosen among those that are available.
struct HEVCFrameRequest {
  private(set) var options = HEVCFrameOptions()
  /// The places of the references in the list of those that are available.
  private var places: [Int] = []

  init() {}

  init(_ input: inout FuzzInput) {
    let (flags, more) = (input.byte(), input.byte())
    options.isKeyFrame = flags & 1 != 0
    options.isReference = flags & 2 == 0
    options.startsIntraRefresh = flags & 4 != 0
    if flags & 8 != 0 { options.qp = Int(input.byte() % 53) }
    if flags & 16 != 0 { options.temporalLayer = Int(input.byte() % 7) }
    if flags & 32 != 0 { options.longTermSlot = Int(input.byte() % 4) }
    if flags & 64 != 0 { places = (0..<input.byte() % 4).map { _ in Int(input.byte()) } }
    if flags & 128 != 0 {
      options.references = .longTerm((0..<input.byte() % 4).map { _ in Int(input.byte() % 5) })
    }
    if more & 1 != 0 { options.targetBits = input.number() }
    if more & 2 != 0 { options.budgetShare = input.real() }
    if more & 4 != 0 { options.duration = input.real() }
    if more & 8 != 0 { options.qp = input.number() }
    if more & 16 != 0 { options.longTermSlot = input.number() }
    if more & 32 != 0 { options.references = .frames([UInt64(bitPattern: Int64(input.number()))]) }
  }

  mutating func resolve(_ available: [UInt64]) {
    guard !places.isEmpty else { return }
    options.references = .frames(places.map { $0 < available.count ? available[$0] : UInt64($0) })
  }
}

/// A change of one setting to any value.
struct HEVCSettingChange {
  private let field: UInt8
  private let number: Int
  private let real: Double

  init(_ input: inout FuzzInput) {
    field = input.byte() % 36
    (number, real) = field < 26 ? (input.number(), 0) : (0, input.real())
  }

  /// Whether the QP of frames that are coded before and after it is of different ranges.
  var changesRange: Bool { field == 3 || field == 4 }

  func apply(to made: inout HEVCEncoderConfiguration) {
    switch field {
    case 0: made.threads = number
    case 1: made.maximumReferences = number
    case 2: made.effort = number
    case 3: made.minimumQP = number
    case 4: made.maximumQP = number
    case 5: (made.level, made.raisesLevel) = (number, true)
    case 6: made.level = number
    case 7: made.levelBitRate = number
    case 8: made.keyFrameInterval = number
    case 9: made.visibleWidth = number
    case 10: made.visibleHeight = number
    case 11: made.dataRateLimits.append(.init(bytes: number, seconds: 1))
    case 12: made.dataRateLimits = []
    case 13: made.width = number
    case 14: made.height = number
    case 15: made.masteringDisplay = [UInt8](repeating: 1, count: min(max(number, 0), 1000))
    case 16: made.contentLightLevel = [UInt8](repeating: 1, count: min(max(number, 0), 1000))
    case 26: made.frameRate = real
    case 27: made.dataRateLimits.append(.init(bytes: 10_000, seconds: real))
    default:
      switch made.latency {
      case .zero(var options):
        apply(to: &options)
        made.latency = .zero(options)
      case .lookAhead(var options):
        apply(to: &options)
        made.latency = .lookAhead(options)
      }
    }
  }

  private func apply(to made: inout HEVCEncoderConfiguration.LowLatency) {
    switch field {
    case 17: made.rateControl = .constantQP(number)
    case 18: made.rateControl = .averageBitRate(number)
    case 19: made.longTermReferences = number
    case 20: made.intraRefreshPeriod = number
    case 21: made.temporalLayers = number
    case 22: made.allowsFrameDropping.toggle()
    case 23: made.sceneChange = .keyFrame
    case 24: made.sceneChange = .intraRefresh
    case 25: made.rateControl = .averageBitRate(max(number, 1) &* 1000)
    case 28: made.maximumQueueDelay = real
    case 29: made.maximumStillPSNR = real
    default: made.adaptiveQuantisation = real
    }
  }

  private func apply(to made: inout HEVCEncoderConfiguration.LookAhead) {
    switch field {
    case 17: made.rate = .constantQP(number)
    case 18: made.rate = .average(number)
    case 19: made.partRate = number
    case 20: made.frames = number
    case 21: made.maximumBidirectional = number
    case 22: made.buffer?.maximumRate = number
    case 23: made.buffer?.size = number
    case 24:
      made.rate = .constant(number)
      made.buffer = .init(maximumRate: number, size: number)
    case 25: made.rate = .average(max(number, 1) &* 1000)
    case 28: made.rate = .quality(real)
    case 29: made.keyFrameDuration = real
    case 30: made.expectedDuration = real
    case 31: made.buffer?.initialFullness = real
    default: made.adaptiveQuantisation = real
    }
  }
}
