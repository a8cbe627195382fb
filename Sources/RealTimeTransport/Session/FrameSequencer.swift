// SPDX-License-Identifier: Apache-2.0
/// A coded frame that can be split into packets.
public struct MediaFrame: Equatable, Sendable {
  /// The time in seconds when the picture was taken.
  public var time: Double
  /// The NAL units, without start codes.
  public var units: [[UInt8]]
  public var descriptor: FrameDescriptor

  public init(time: Double, units: [[UInt8]], descriptor: FrameDescriptor) {
    self.time = time
    self.units = units
    self.descriptor = descriptor
  }
}

/// Numbers the frames of a sender, and tracks which frame each one refers to.
public struct FrameSequencer: Sendable {
  /// The result that an encoder reports for a frame.
  public struct CodedFrame: Equatable, Sendable {
    public var isKeyFrame: Bool
    /// Whether other frames may refer to it.
    public var isReference: Bool
    /// The temporal layer.
    public var layer: Int
    /// The token to acknowledge, if the frame is a long-term reference.
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
    /// The times in seconds when the pictures of the lost frames were taken.
    public var lostTimes: [Double]
  }

  private var nextNumber: UInt16 = 0
  /// The time in seconds when each frame's picture was taken, by frame number, for reports of
  /// losses.
  private var times: [UInt16: Double] = [:]
  /// The numbers of the reference frames since the last key frame or refresh that may still be
  /// referred to, the oldest first.
  private var references: [UInt16] = []
  /// Whether a refresh is still to be made, because the frame that should have been one was
  /// dropped.
  private var isRefreshPending = false
  /// Whether a frame was coded or dropped.
  private var hasBegun = false
  /// The largest size of `references`: more than any encoder keeps. It bounds the memory for an
  /// endless group of pictures.
  private static let maxReferences = 4096
  /// The number of reference frames that the encoder keeps, the newest ones.
  private let keptReferences: Int

  /// Creates a sequencer.
  /// - Parameter keptReferences: The number of frames that an encoder may predict from.
  public init(keptReferences: Int = 8) { self.keptReferences = keptReferences }

  /// Whether the encoder still has a reference that is neither one of these frames nor depends on
  /// one.
  /// - Parameter lost: The numbers of lost frames.
  public func leavesReference(without lost: [UInt16]) -> Bool {
    guard let first = references.firstIndex(where: lost.contains) else { return true }
    return first > max(references.count - keptReferences, 0)
  }

  /// Prepares the next frame.
  /// - Parameter requirements: The requirements for it.
  public func attempt(_ requirements: RecoveryPolicy.FrameRequirements) -> Attempt {
    Attempt(
      lost: Set(requirements.lost).intersection(references),
      isRefresh: requirements.forcesRefresh || isRefreshPending,
      lostTimes: requirements.lost.compactMap { times[$0] })
  }

  /// Notes that rate control has dropped the frame.
  /// - Parameter attempt: What ``attempt(_:)`` has returned.
  public mutating func drop(_ attempt: Attempt) {
    hasBegun = true
    isRefreshPending = attempt.isRefresh
    removeReferences(attempt.lost)
  }

  /// Numbers a frame that was coded.
  /// - Parameters:
  ///   - attempt: What ``attempt(_:)`` has returned.
  ///   - coded: What the encoder reports about the frame.
  ///   - time: The time in seconds when its picture was taken.
  /// - Returns: The descriptor for receivers, and whether the frame recovers from a loss.
  public mutating func finish(
    _ attempt: Attempt, _ coded: CodedFrame, time: Double
  ) -> (descriptor: FrameDescriptor, isRepair: Bool) {
    isRefreshPending = false
    removeReferences(attempt.lost)
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
      // No later frame refers to one before the refresh.
      references.removeAll()
    }
    if coded.isReference { references.append(number) }
    if references.count > Self.maxReferences { references.removeFirst(Self.maxReferences / 2) }
    let isRepair = attempt.isRefresh || !attempt.lost.isEmpty || coded.isKeyFrame && hasBegun
    hasBegun = true
    return (descriptor, isRepair)
  }

  /// Removes lost references, and those after them, which depend on them.
  private mutating func removeReferences(_ lost: Set<UInt16>) {
    guard let first = references.firstIndex(where: lost.contains) else { return }
    references.removeSubrange(first...)
  }
}
