// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How loud each track is when tracks are mixed.
open class AVAudioMix: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let lock = Lock()
  var storedParameters: [AVAudioMixInputParameters] = []

  public override init() { super.init() }

  /// For each track that is not played at its own volume all the time.
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

/// A mix that a program makes.
open class AVMutableAudioMix: AVAudioMix, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  override open var inputParameters: [AVAudioMixInputParameters] {
    get { super.inputParameters }
    set { lock.withLock { storedParameters = newValue } }
  }
}

/// How loud a track is over time: 1.0 before the first time that says something else, then what was said last.
open class AVAudioMixInputParameters: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  struct Ramp: Sendable {
    /// Without a duration: from here on.
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

  /// The track, by its number.
  open var trackID: CMPersistentTrackID { lock.withLock { storedTrackID } }

  /// How the track's sound is treated where it is played faster or slower; nil: as the reader's output or the export
  /// session says.
  open var audioTimePitchAlgorithm: AVAudioTimePitchAlgorithm? { lock.withLock { storedPitch } }

  /// Reads and changes the track's sound on its way into the mix; nil: nobody does.
  open var audioTapProcessor: MTAudioProcessingTap? { lock.withLock { storedTap } }

  /// In the order of time.
  var ramps: [Ramp] { lock.withLock { storedRamps } }

  /// The ramp that holds a time.
  /// - Returns: False if the volume is constant there and nothing was said before.
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

/// Volumes that a program sets.
open class AVMutableAudioMixInputParameters: AVAudioMixInputParameters, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  public override init() { super.init() }

  /// Volumes of a track.
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

  /// Sets the volume from a time on, up to the next that is set.
  open func setVolume(_ volume: Float, at time: CMTime) {
    guard time.isNumeric else { return }
    add(Ramp(range: CMTimeRange(start: time, duration: .zero), start: volume, end: volume))
  }

  /// Lets the volume go evenly from one value to another. Ramps that overlap it are replaced.
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
