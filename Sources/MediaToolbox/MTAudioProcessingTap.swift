// SPDX-License-Identifier: Apache-2.0
import CoreAudioTypes
import Foundation

/// An argument of a tap is missing or impossible.
public let kMTAudioProcessingTapInvalidArgumentErr: OSStatus = -12780

/// Where a tap's callbacks are in the mix.
public typealias MTAudioProcessingTapCreationFlags = UInt32
/// Before the track's volume.
public let kMTAudioProcessingTapCreationFlag_PreEffects: MTAudioProcessingTapCreationFlags = 1 << 0
/// Behind the track's volume.
public let kMTAudioProcessingTapCreationFlag_PostEffects: MTAudioProcessingTapCreationFlags = 1 << 1

/// What there is to say of some frames.
public typealias MTAudioProcessingTapFlags = UInt32
/// They are the first, at the beginning or after a jump.
public let kMTAudioProcessingTapFlag_StartOfStream: MTAudioProcessingTapFlags = 1 << 8
/// Nothing follows them.
public let kMTAudioProcessingTapFlag_EndOfStream: MTAudioProcessingTapFlags = 1 << 9

// A C function pointer cannot take a Swift class on Linux: these are closures.

/// Called when a tap is created: its client information, and where its storage goes.
public typealias MTAudioProcessingTapInitCallback = (
  MTAudioProcessingTap, UnsafeMutableRawPointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> Void
/// Called when a tap goes away. It must not be kept.
public typealias MTAudioProcessingTapFinalizeCallback = (MTAudioProcessingTap) -> Void
/// Called before sound comes: the most frames at once, and their format.
public typealias MTAudioProcessingTapPrepareCallback = (
  MTAudioProcessingTap, CMItemCount, UnsafePointer<AudioStreamBasicDescription>
) -> Void
/// Called when no more sound comes.
public typealias MTAudioProcessingTapUnprepareCallback = (MTAudioProcessingTap) -> Void
/// Called for some frames: how many, and what is said of them; then where the sound goes, how many frames it is and what is
/// to be said of them. The source's come from `MTAudioProcessingTapGetSourceAudio`.
public typealias MTAudioProcessingTapProcessCallback = (
  MTAudioProcessingTap, CMItemCount, MTAudioProcessingTapFlags, UnsafeMutablePointer<AudioBufferList>,
  UnsafeMutablePointer<CMItemCount>, UnsafeMutablePointer<MTAudioProcessingTapFlags>
) -> Void

/// The version of `MTAudioProcessingTapCallbacks`.
public let kMTAudioProcessingTapCallbacksVersion_0: Int32 = 0

/// What a tap calls.
public struct MTAudioProcessingTapCallbacks {
  /// `kMTAudioProcessingTapCallbacksVersion_0`.
  public var version: Int32
  /// For `init`.
  public var clientInfo: UnsafeMutableRawPointer?
  public var `init`: MTAudioProcessingTapInitCallback?
  public var finalize: MTAudioProcessingTapFinalizeCallback?
  public var prepare: MTAudioProcessingTapPrepareCallback?
  public var unprepare: MTAudioProcessingTapUnprepareCallback?
  public var process: MTAudioProcessingTapProcessCallback

  public init(
    version: Int32, clientInfo: UnsafeMutableRawPointer?, `init`: MTAudioProcessingTapInitCallback?,
    finalize: MTAudioProcessingTapFinalizeCallback?, prepare: MTAudioProcessingTapPrepareCallback?,
    unprepare: MTAudioProcessingTapUnprepareCallback?, process: @escaping MTAudioProcessingTapProcessCallback
  ) {
    self.version = version
    self.clientInfo = clientInfo
    self.`init` = `init`
    self.finalize = finalize
    self.prepare = prepare
    self.unprepare = unprepare
    self.process = process
  }
}

/// Lets a program read and change the sound of a track on its way into a mix.
public final class MTAudioProcessingTap: @unchecked Sendable {
  // Sendable: `running` is held by whoever calls the callbacks, one at a time.
  let callbacks: MTAudioProcessingTapCallbacks
  fileprivate(set) var storage: UnsafeMutableRawPointer?
  /// Whether the callbacks come behind the track's volume.
  package let isPostEffects: Bool
  private let running = NSLock()
  /// While `process` runs, what gives it the source's sound.
  private(set) var source: TapSource?

  fileprivate init(_ callbacks: MTAudioProcessingTapCallbacks, isPostEffects: Bool) {
    self.callbacks = callbacks
    self.isPostEffects = isPostEffects
    // Not in place: the callback may ask for the storage.
    var made: UnsafeMutableRawPointer?
    callbacks.`init`?(self, callbacks.clientInfo, &made)
    storage = made
  }

  deinit { callbacks.finalize?(self) }

  /// Says that sound will come.
  package func prepare(frames: Int, _ format: AudioStreamBasicDescription) {
    running.withLock { withUnsafePointer(to: format) { callbacks.prepare?(self, frames, $0) } }
  }

  /// Says that no more sound will come.
  package func unprepare() { running.withLock { callbacks.unprepare?(self) } }

  /// Has some frames processed.
  /// - Parameters:
  ///   - frames: That are wanted.
  ///   - flags: Of them.
  ///   - list: Where they go, with memory for so many.
  ///   - source: Gives the frames before they are processed.
  /// - Returns: How many frames there were, and what the tap says of them.
  package func process(
    frames: Int, flags: MTAudioProcessingTapFlags, into list: UnsafeMutablePointer<AudioBufferList>,
    from source: TapSource
  ) -> (frames: Int, flags: MTAudioProcessingTapFlags) {
    running.withLock {
      self.source = source
      defer { self.source = nil }
      var count: CMItemCount = 0
      var out: MTAudioProcessingTapFlags = 0
      callbacks.process(self, frames, flags, list, &count, &out)
      return (max(0, min(count, frames)), out)
    }
  }
}

extension MTAudioProcessingTap: Hashable {
  public static func == (a: MTAudioProcessingTap, b: MTAudioProcessingTap) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension MTAudioProcessingTap: CFRuntimeObject {
  package static let cfTypeID = CFRuntimeRegister("MTAudioProcessingTap")
}

/// Identifies the type of taps.
public func MTAudioProcessingTapGetTypeID() -> CFTypeID { MTAudioProcessingTap.cfTypeID }

/// Creates a tap.
/// - Parameters:
///   - allocator: Not used.
///   - callbacks: Copied.
///   - flags: `kMTAudioProcessingTapCreationFlag_PreEffects` or `kMTAudioProcessingTapCreationFlag_PostEffects`.
///   - tapOut: The tap; nil on failure.
/// - Returns: `kMTAudioProcessingTapInvalidArgumentErr` for another version, and for both flags or none.
@discardableResult
public func MTAudioProcessingTapCreate(
  _ allocator: CFAllocator?, _ callbacks: UnsafePointer<MTAudioProcessingTapCallbacks>,
  _ flags: MTAudioProcessingTapCreationFlags, _ tapOut: UnsafeMutablePointer<MTAudioProcessingTap?>
) -> OSStatus {
  tapOut.pointee = nil
  let places = [kMTAudioProcessingTapCreationFlag_PreEffects, kMTAudioProcessingTapCreationFlag_PostEffects]
  guard callbacks.pointee.version == kMTAudioProcessingTapCallbacksVersion_0, places.contains(flags) else {
    return kMTAudioProcessingTapInvalidArgumentErr
  }
  tapOut.pointee = MTAudioProcessingTap(
    callbacks.pointee, isPostEffects: flags == kMTAudioProcessingTapCreationFlag_PostEffects)
  return noErr
}

/// Creates a tap, to be taken with `takeRetainedValue()`, as programs for earlier systems are written.
@discardableResult
public func MTAudioProcessingTapCreate(
  _ allocator: CFAllocator?, _ callbacks: UnsafePointer<MTAudioProcessingTapCallbacks>,
  _ flags: MTAudioProcessingTapCreationFlags, _ tapOut: UnsafeMutablePointer<Unmanaged<MTAudioProcessingTap>?>
) -> OSStatus {
  var made: MTAudioProcessingTap?
  let status = MTAudioProcessingTapCreate(allocator, callbacks, flags, &made)
  tapOut.pointee = made.map { Unmanaged.passRetained($0) }
  return status
}

/// What the tap's `init` has stored. Nothing may be read from it if it has stored nothing.
public func MTAudioProcessingTapGetStorage(_ tap: MTAudioProcessingTap) -> UnsafeMutableRawPointer {
  // Apple's function returns no optional: memory that nobody uses stands for nothing.
  tap.storage ?? noStorage
}

/// What a tap gets that has stored nothing; never freed.
private nonisolated(unsafe) let noStorage = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)

/// Gets the source's frames, within the `process` callback.
/// - Parameters:
///   - tap: That of the callback.
///   - numberFrames: As many as are wanted.
///   - bufferListInOut: As many buffers as the format has. Without memory they are given some, which holds during the
///     callback; otherwise the frames are copied, as many as there is room for.
///   - flagsOut: What is said of the frames.
///   - timeRangeOut: When they sound, on the asset's time line.
///   - numberFramesOut: How many there are.
/// - Returns: `kMTAudioProcessingTapInvalidArgumentErr` outside of the callback, and for a list of other buffers.
@discardableResult
public func MTAudioProcessingTapGetSourceAudio(
  _ tap: MTAudioProcessingTap, _ numberFrames: CMItemCount,
  _ bufferListInOut: UnsafeMutablePointer<AudioBufferList>,
  _ flagsOut: UnsafeMutablePointer<MTAudioProcessingTapFlags>?,
  _ timeRangeOut: UnsafeMutablePointer<CMTimeRange>?, _ numberFramesOut: UnsafeMutablePointer<CMItemCount>?
) -> OSStatus {
  numberFramesOut?.pointee = 0
  guard let source = tap.source, numberFrames >= 0 else { return kMTAudioProcessingTapInvalidArgumentErr }
  let list = UnsafeMutableAudioBufferListPointer(bufferListInOut)
  guard list.count == source.channels else { return kMTAudioProcessingTapInvalidArgumentErr }
  let width = MemoryLayout<Float>.size
  let room = list.map { $0.mData == nil ? Int.max : Int($0.mDataByteSize) / width }.min() ?? 0
  let part = source.take(min(numberFrames, room))
  for (index, plane) in part.planes.enumerated() {
    let size = UInt32(part.frames * width)
    if let target = list[index].mData {
      target.copyMemory(from: plane, byteCount: Int(size))
      list[index].mDataByteSize = size
    } else {
      list[index] = AudioBuffer(
        mNumberChannels: 1, mDataByteSize: size, mData: UnsafeMutableRawPointer(mutating: plane))
    }
  }
  flagsOut?.pointee = part.flags
  timeRangeOut?.pointee = part.range
  numberFramesOut?.pointee = part.frames
  return noErr
}
