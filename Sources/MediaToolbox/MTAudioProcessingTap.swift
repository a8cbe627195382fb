// SPDX-License-Identifier: Apache-2.0
import CoreAudioTypes
import Foundation

/// An argument of a tap function is missing or invalid.
public let kMTAudioProcessingTapInvalidArgumentErr: OSStatus = -12780

/// Where a tap is in the audio mix.
public typealias MTAudioProcessingTapCreationFlags = UInt32
/// The tap processes audio before the track's volume is applied.
public let kMTAudioProcessingTapCreationFlag_PreEffects: MTAudioProcessingTapCreationFlags = 1 << 0
/// The tap processes audio after the track's volume has been applied.
public let kMTAudioProcessingTapCreationFlag_PostEffects: MTAudioProcessingTapCreationFlags = 1 << 1

/// Properties of the frames that a tap gets or returns.
public typealias MTAudioProcessingTapFlags = UInt32
/// The frames are the first ones, at the beginning or after a seek.
public let kMTAudioProcessingTapFlag_StartOfStream: MTAudioProcessingTapFlags = 1 << 8
/// No frames follow these.
public let kMTAudioProcessingTapFlag_EndOfStream: MTAudioProcessingTapFlags = 1 << 9

// On Linux a C function pointer cannot have a parameter of a Swift class, so the callbacks are
// closures.

/// Called when a tap is created, with the client information and a pointer to the tap's storage,
/// which the callback may set.
public typealias MTAudioProcessingTapInitCallback = (
  MTAudioProcessingTap, UnsafeMutableRawPointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> Void
/// Called when a tap is deallocated. The callback must not retain the tap.
public typealias MTAudioProcessingTapFinalizeCallback = (MTAudioProcessingTap) -> Void
/// Called before audio is processed, with the largest number of frames of one call and their
/// format.
public typealias MTAudioProcessingTapPrepareCallback = (
  MTAudioProcessingTap, CMItemCount, UnsafePointer<AudioStreamBasicDescription>
) -> Void
/// Called when no more audio follows.
public typealias MTAudioProcessingTapUnprepareCallback = (MTAudioProcessingTap) -> Void
/// Called to process frames. The parameters are the tap, the number of frames, their flags, the
/// buffers for the result, and pointers to the number of frames and the flags of the result. The
/// callback gets the source's frames with `MTAudioProcessingTapGetSourceAudio`.
public typealias MTAudioProcessingTapProcessCallback = (
  MTAudioProcessingTap, CMItemCount, MTAudioProcessingTapFlags, UnsafeMutablePointer<AudioBufferList>,
  UnsafeMutablePointer<CMItemCount>, UnsafeMutablePointer<MTAudioProcessingTapFlags>
) -> Void

/// The version of `MTAudioProcessingTapCallbacks`.
public let kMTAudioProcessingTapCallbacksVersion_0: Int32 = 0

/// The callbacks of a tap.
public struct MTAudioProcessingTapCallbacks {
  /// The version of the structure: `kMTAudioProcessingTapCallbacksVersion_0`.
  public var version: Int32
  /// A pointer that is passed to the `init` callback.
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

/// Lets a program read and modify the audio of a track before it is mixed.
public final class MTAudioProcessingTap: @unchecked Sendable {
  // Sendable: `running` is held while a callback is called, so that one is called at a time.
  let callbacks: MTAudioProcessingTapCallbacks
  fileprivate(set) var storage: UnsafeMutableRawPointer?
  /// Whether the callbacks process audio after the track's volume has been applied.
  package let isPostEffects: Bool
  private let running = NSLock()
  /// The source of the audio while `process` runs; nil otherwise.
  private(set) var source: TapSource?

  fileprivate init(_ callbacks: MTAudioProcessingTapCallbacks, isPostEffects: Bool) {
    self.callbacks = callbacks
    self.isPostEffects = isPostEffects
    // A local variable is used because the callback may ask for the storage.
    var made: UnsafeMutableRawPointer?
    callbacks.`init`?(self, callbacks.clientInfo, &made)
    storage = made
  }

  deinit { callbacks.finalize?(self) }

  /// Calls the tap's `prepare` callback.
  /// - Parameters:
  ///   - frames: The largest number of frames of one call.
  ///   - format: The format of the audio.
  package func prepare(frames: Int, _ format: AudioStreamBasicDescription) {
    running.withLock { withUnsafePointer(to: format) { callbacks.prepare?(self, frames, $0) } }
  }

  /// Calls the tap's `unprepare` callback.
  package func unprepare() { running.withLock { callbacks.unprepare?(self) } }

  /// Calls the tap's `process` callback.
  /// - Parameters:
  ///   - frames: The number of frames to process.
  ///   - flags: The flags of the frames.
  ///   - list: The buffers for the result, with memory for `frames` frames.
  ///   - source: Provides the frames to process.
  /// - Returns: The number of frames in the result, and the flags that the tap has set.
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

/// The type identifier of taps.
public func MTAudioProcessingTapGetTypeID() -> CFTypeID { MTAudioProcessingTap.cfTypeID }

/// Creates a tap.
/// - Parameters:
///   - allocator: Not used.
///   - callbacks: The callbacks, which are copied.
///   - flags: `kMTAudioProcessingTapCreationFlag_PreEffects` or
///     `kMTAudioProcessingTapCreationFlag_PostEffects`.
///   - tapOut: The tap; nil on failure.
/// - Returns: `noErr`, or `kMTAudioProcessingTapInvalidArgumentErr` for another version of the
///   callbacks, or unless `flags` is one of the two flags.
@discardableResult
public func MTAudioProcessingTapCreate(
  _ allocator: CFAllocator?, _ callbacks: UnsafePointer<MTAudioProcessingTapCallbacks>,
  _ flags: MTAudioProcessingTapCreationFlags, _ tapOut: UnsafeMutablePointer<MTAudioProcessingTap?>
) -> OSStatus {
  tapOut.pointee = nil
  let validFlags = [
    kMTAudioProcessingTapCreationFlag_PreEffects, kMTAudioProcessingTapCreationFlag_PostEffects,
  ]
  guard callbacks.pointee.version == kMTAudioProcessingTapCallbacksVersion_0, validFlags.contains(flags)
  else {
    return kMTAudioProcessingTapInvalidArgumentErr
  }
  tapOut.pointee = MTAudioProcessingTap(
    callbacks.pointee, isPostEffects: flags == kMTAudioProcessingTapCreationFlag_PostEffects)
  return noErr
}

/// Creates a tap. This variant is for programs that get the tap with `takeRetainedValue()`, as with
/// earlier SDKs.
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

/// The storage that the tap's `init` callback has set. If it has set none, the memory must not be
/// used.
public func MTAudioProcessingTapGetStorage(_ tap: MTAudioProcessingTap) -> UnsafeMutableRawPointer {
  // The function's type is not optional, as in Apple's header, so a tap without storage gets a
  // placeholder.
  tap.storage ?? noStorage
}

/// The placeholder for taps without storage. It is never freed.
private nonisolated(unsafe) let noStorage = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)

/// Gets frames of the source. To be called within the `process` callback only.
/// - Parameters:
///   - tap: The tap of the callback.
///   - numberFrames: The number of frames to get.
///   - bufferListInOut: As many buffers as the format has. Buffers without memory are set to memory
///     that is valid during the callback. Into other buffers the frames are copied, as many as fit.
///   - flagsOut: Receives the flags of the frames.
///   - timeRangeOut: Receives the time range of the frames on the asset's time line.
///   - numberFramesOut: Receives the number of frames.
/// - Returns: `noErr`, or `kMTAudioProcessingTapInvalidArgumentErr` outside of the callback or for
///   another number of buffers.
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
