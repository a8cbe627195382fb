// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The volumes with which tracks are mixed, over time.
open class AVAudioMix: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let lock = Lock()
  var storedParameters: [AVAudioMixInputParameters] = []

  public override init() { super.init() }

  /// The parameters of each track whose audio is not mixed unchanged.
  open var inputParameters: [AVAudioMixInputParameters] { lock.withLock { storedParameters } }

  open func copy(with zone: NSZone? = nil) -> Any { copied(to: AVAudioMix()) }
  open func mutableCopy(with zone: NSZone? = nil) -> Any { copied(to: AVMutableAudioMix()) }

  private func copied(to mix: AVAudioMix) -> AVAudioMix {
    mix.storedParameters = inputParameters.map { parameters in
      let copy = AVMutableAudioMixInputParameters()
      copy.adopt(parameters)
      return copy
    }
    return mix
  }
}

/// An audio mix that can be modified.
open class AVMutableAudioMix: AVAudioMix, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  override open var inputParameters: [AVAudioMixInputParameters] {
    get { super.inputParameters }
    set { lock.withLock { storedParameters = newValue } }
  }
}

/// The volume of a track over time. It is 1.0 before the first volume that is set.
open class AVAudioMixInputParameters: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  struct Ramp: Sendable {
    /// If the duration is zero, the volume applies from the start on.
    let range: CMTimeRange
    let start: Float
    let end: Float
  }

  let lock = Lock()
  var storedTrackID = kCMPersistentTrackID_Invalid
  var storedRamps: [Ramp] = []
  var storedPitch: AVAudioTimePitchAlgorithm?
  var storedTap: MTAudioProcessingTap?

  override init() { super.init() }

  /// The identifier of the track.
  open var trackID: CMPersistentTrackID { lock.withLock { storedTrackID } }

  /// How the track's audio is converted where its speed changes; nil for the setting of the
  /// reader's output or the export session.
  open var audioTimePitchAlgorithm: AVAudioTimePitchAlgorithm? { lock.withLock { storedPitch } }

  /// Reads and changes the track's audio before it is mixed; nil for none.
  open var audioTapProcessor: MTAudioProcessingTap? { lock.withLock { storedTap } }

  /// The ramps, ordered by time.
  var ramps: [Ramp] { lock.withLock { storedRamps } }

  /// Gets the volume ramp at a time. After a ramp or a volume set at a time, it is a constant ramp
  /// up to the start of the next.
  /// - Parameters:
  ///   - time: The time.
  ///   - startVolume: Receives the volume at the start of the ramp.
  ///   - endVolume: Receives the volume at its end.
  ///   - timeRange: Receives the time range of the ramp.
  /// - Returns: False if no volume was set at or before the time; nothing is then written.
  @discardableResult
  open func getVolumeRamp(
    for time: CMTime, startVolume: UnsafeMutablePointer<Float>?, endVolume: UnsafeMutablePointer<Float>?,
    timeRange: UnsafeMutablePointer<CMTimeRange>?
  ) -> Bool {
    let ramps = ramps
    guard time.isNumeric, let index = ramps.lastIndex(where: { $0.range.start <= time }) else {
      return false
    }
    let ramp = ramps[index]
    if time < ramp.range.end {
      startVolume?.pointee = ramp.start
      endVolume?.pointee = ramp.end
      timeRange?.pointee = ramp.range
    } else {
      startVolume?.pointee = ramp.end
      endVolume?.pointee = ramp.end
      let next = index + 1 < ramps.count ? ramps[index + 1].range.start : .positiveInfinity
      timeRange?.pointee = CMTimeRange(start: ramp.range.end, end: next)
    }
    return true
  }
}

/// Parameters of a track that can be modified.
open class AVMutableAudioMixInputParameters: AVAudioMixInputParameters, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  public override init() { super.init() }

  /// Creates parameters for a track, with a constant volume of 1.0.
  public convenience init(track: AVAssetTrack?) {
    self.init()
    storedTrackID = track?.trackID ?? kCMPersistentTrackID_Invalid
  }

  override open var trackID: CMPersistentTrackID {
    get { super.trackID }
    set { lock.withLock { storedTrackID = newValue } }
  }

  override open var audioTimePitchAlgorithm: AVAudioTimePitchAlgorithm? {
    get { super.audioTimePitchAlgorithm }
    set { lock.withLock { storedPitch = newValue } }
  }

  override open var audioTapProcessor: MTAudioProcessingTap? {
    get { super.audioTapProcessor }
    set { lock.withLock { storedTap = newValue } }
  }

  /// Sets the volume from a time on, until the next one that is set. A time that is not numeric has
  /// no effect.
  open func setVolume(_ volume: Float, at time: CMTime) {
    guard time.isNumeric else { return }
    add(Ramp(range: CMTimeRange(start: time, duration: .zero), start: volume, end: volume))
  }

  /// Changes the volume linearly during a time range. Ramps that overlap the range are replaced. A
  /// time range that is not numeric has no effect.
  open func setVolumeRamp(
    fromStartVolume startVolume: Float, toEndVolume endVolume: Float, timeRange: CMTimeRange
  ) {
    guard timeRange.isValid, timeRange.start.isNumeric, timeRange.duration.isNumeric else { return }
    add(Ramp(range: timeRange, start: startVolume, end: endVolume))
  }

  private func add(_ ramp: Ramp) {
    lock.withLock {
      storedRamps.removeAll {
        $0.range.start == ramp.range.start
          || ($0.range.start < ramp.range.end && ramp.range.start < $0.range.end)
      }
      storedRamps.append(ramp)
      storedRamps.sort { $0.range.start < $1.range.start }
    }
  }

  func adopt(_ other: AVAudioMixInputParameters) {
    storedTrackID = other.trackID
    storedRamps = other.ramps
    storedPitch = other.audioTimePitchAlgorithm
    storedTap = other.audioTapProcessor
  }
}
