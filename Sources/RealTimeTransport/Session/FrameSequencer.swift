// SPDX-License-Identifier: Apache-2.0
/// A coded frame, ready to be split into packets.
public struct MediaFrame: Equatable, Sendable {
  /// When its picture was taken, in seconds.
  public var time: Double
  /// NAL units, without start codes.
  public var units: [[UInt8]]
  public var descriptor: FrameDescriptor

  public init(time: Double, units: [[UInt8]], descriptor: FrameDescriptor) {
    self.time = time
    self.units = units
    self.descriptor = descriptor
  }
}

/// Numbers the frames of a sender, and knows which one each refers to.
public struct FrameSequencer: Sendable {
  /// What an encoder says of a frame.
  public struct CodedFrame: Equatable, Sendable {
    public var isKeyFrame: Bool
    /// Others may refer to it.
    public var isReference: Bool
    /// Temporal layer.
    public var layer: Int
    /// To be acknowledged, if it is a long-term reference.
    public var token: Int64?

    public init(isKeyFrame: Bool, isReference: Bool = true, layer: Int = 0, token: Int64? = nil) {
      self.isKeyFrame = isKeyFrame
      self.isReference = isReference
      self.layer = layer
      self.token = token
    }
  }

  /// A frame that is about to be encoded.
  public struct Attempt: Sendable {
    var lost: Set<UInt16>
    var isRefresh: Bool
    /// When the frames were taken that the wish says are lost.
    public var lostTimes: [Double]
  }

  private var nextNumber: UInt16 = 0
  /// When the frame of each number was taken, for reports of losses.
  private var times: [UInt16: Double] = [:]
  /// Reference frames since the last key frame that may still be referred to, the oldest first.
  private var references: [UInt16] = []
  /// A refresh was asked for, and the frame that should have been one was dropped.
  private var owesRefresh = false
  private var hasBegun = false
  /// More than any encoder keeps, but for an endless group of pictures.
  private static let mostReferences = 4096
  /// Reference frames that the encoder keeps, the newest.
  private let keptReferences: Int

  /// - Parameter keptReferences: how many frames an encoder may predict from.
  public init(keptReferences: Int = 8) { self.keptReferences = keptReferences }

  /// Whether the encoder has anything left to predict from without these frames, and what depends on them.
  public func leavesReference(without lost: [UInt16]) -> Bool {
    guard let first = references.firstIndex(where: lost.contains) else { return true }
    return first > max(references.count - keptReferences, 0)
  }

  public func attempt(_ wish: RecoveryPolicy.Wish) -> Attempt {
    Attempt(
      lost: Set(wish.lost).intersection(references), isRefresh: wish.forcesRefresh || owesRefresh,
      lostTimes: wish.lost.compactMap { times[$0] })
  }

  /// Rate control dropped the frame.
  public mutating func drop(_ attempt: Attempt) {
    hasBegun = true
    owesRefresh = attempt.isRefresh
    giveUp(attempt.lost)
  }

  /// The frame came out of the encoder.
  /// - Returns: What receivers must know of it, and whether it was made to get over a loss.
  public mutating func finish(
    _ attempt: Attempt, _ coded: CodedFrame, time: Double
  ) -> (descriptor: FrameDescriptor, isRepair: Bool) {
    owesRefresh = false
    giveUp(attempt.lost)
    let number = nextNumber
    nextNumber &+= 1
    times[number] = time
    times[number &- 20_000] = nil
    var descriptor = FrameDescriptor(number: number, previous: references.last ?? number)
    descriptor.isKeyFrame = coded.isKeyFrame
    descriptor.isRefresh = attempt.isRefresh && !coded.isKeyFrame
    descriptor.isDiscardable = !coded.isReference
    descriptor.layer = UInt8(clamping: coded.layer)
    descriptor.token = coded.token
    if coded.isKeyFrame {
      descriptor.previous = number
      references.removeAll()
    } else if attempt.isRefresh {
      // Nothing to come refers to what was before.
      references.removeAll()
    }
    if coded.isReference { references.append(number) }
    if references.count > Self.mostReferences { references.removeFirst(Self.mostReferences / 2) }
    let isRepair = attempt.isRefresh || !attempt.lost.isEmpty || coded.isKeyFrame && hasBegun
    hasBegun = true
    return (descriptor, isRepair)
  }

  /// What depends on a lost frame is lost as well.
  private mutating func giveUp(_ lost: Set<UInt16>) {
    guard let first = references.firstIndex(where: lost.contains) else { return }
    references.removeSubrange(first...)
  }
}
