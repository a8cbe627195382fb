// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// Samples of one medium: their data or image, what format they have, when they are shown, and what
/// else is known of each and of all of them.
///
/// A sample buffer may be created before its data is there; see `CMSampleBufferMakeDataReady`.
public final class CMSampleBuffer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Samples that are listed one by one, at most, where neither entries nor bytes for each of them
  /// are there: a count alone costs nothing.
  package static let maximumListed = 1 << 20

  // What is known at creation never changes and needs no lock.
  let format: CMFormatDescription?
  let image: CVImageBuffer?
  /// The group of buffers that the only sample is.
  let tagged: [CMTaggedBuffer]?
  let sampleCount: Int
  let timings: SampleTimings
  let sizes: SampleSizes

  private let lock = Lock()
  private var data: CMBlockBuffer?
  private var readiness: DataReadiness
  private var makeReady: CMSampleBufferMakeDataReadyHandler?
  private var tracked: CMSampleBuffer?
  private var invalidated = false
  private var onInvalidate: CMSampleBufferInvalidateHandler?
  private var outputTime = CMTime.invalid
  private var sampleDictionaries: SampleDictionaries?
  /// The attachments of the only sample, until its dictionary is asked for.
  private var attachmentValues: SampleAttachmentValues?
  private var attachmentTable = AttachmentTable()
  private var packets: PacketMemory?

  /// Whether the data of a sample buffer can be used.
  public enum DataReadiness: Hashable, Sendable {
    case notReady
    case ready
    /// The data failed, with this status.
    case failed(OSStatus)
  }

  init(
    data: CMBlockBuffer?, image: CVImageBuffer?, taggedBuffers: [CMTaggedBuffer]? = nil, isReady: Bool,
    format: CMFormatDescription?, sampleCount: Int, timings: SampleTimings, sizes: SampleSizes,
    makeReady: CMSampleBufferMakeDataReadyHandler? = nil
  ) {
    self.data = data
    self.image = image
    tagged = taggedBuffers
    self.format = format
    self.sampleCount = sampleCount
    self.timings = timings
    self.sizes = sizes
    self.makeReady = makeReady
    readiness = isReady ? .ready : .notReady
  }

  // MARK: - Validity

  var isInvalidated: Bool { lock.withLock { invalidated } }

  func invalidateNow() -> OSStatus {
    typealias Given = (
      data: CMBlockBuffer?, makeReady: CMSampleBufferMakeDataReadyHandler?,
      handler: CMSampleBufferInvalidateHandler?
    )
    // Released outside the lock: the end of what clients gave may call back.
    var given = lock.withLock { () -> Given in
      if invalidated { return (nil, nil, nil) }
      invalidated = true
      defer { (data, makeReady, onInvalidate) = (nil, nil, nil) }
      return (data, makeReady, onInvalidate)
    }
    (given.data, given.makeReady) = (nil, nil)
    var old = takeTracked()
    Self.release(&old)
    given.handler?(self)
    return noErr
  }

  func setOnInvalidate(_ handler: @escaping CMSampleBufferInvalidateHandler) -> OSStatus {
    // The old handler is released outside the lock: the end of what it holds may call back.
    let (status, _) = lock.withLock { () -> (OSStatus, CMSampleBufferInvalidateHandler?) in
      if invalidated { return (kCMSampleBufferError_Invalidated, nil) }
      defer { onInvalidate = handler }
      return (noErr, onInvalidate)
    }
    return status
  }

  // MARK: - Data

  var blockBuffer: CMBlockBuffer? { lock.withLock { data } }

  func setBlockBuffer(_ buffer: CMBlockBuffer) -> OSStatus {
    lock.withLock {
      if invalidated { return kCMSampleBufferError_Invalidated }
      if data != nil || image != nil || tagged != nil { return kCMSampleBufferError_AlreadyHasDataBuffer }
      data = buffer
      return noErr
    }
  }

  /// Its own readiness, or that of the sample buffer that it tracks.
  var currentReadiness: DataReadiness {
    var (own, other) = lock.withLock { (readiness, tracked) }
    while own != .ready, let next = other {
      (own, other) = next.lock.withLock { (next.readiness, next.tracked) }
    }
    return own
  }

  func setReadiness(_ newValue: DataReadiness) -> OSStatus {
    // The handler is released outside the lock: the end of what it holds may call back.
    let (status, _) = lock.withLock { () -> (OSStatus, CMSampleBufferMakeDataReadyHandler?) in
      if invalidated { return (kCMSampleBufferError_Invalidated, nil) }
      readiness = newValue
      guard newValue != .notReady else { return (noErr, nil) }
      defer { makeReady = nil }
      return (noErr, makeReady)
    }
    guard status == noErr else { return status }
    switch newValue {
    case .notReady: break
    case .ready: NotificationCenter.default.post(name: Self.dataBecameReady, object: self)
    case .failed(let code):
      NotificationCenter.default.post(
        name: Self.dataFailed, object: self,
        userInfo: [NotificationKey.status.rawValue as String: NSNumber(value: code)])
    }
    return noErr
  }

  /// Takes the readiness of the sample buffer that this one was just copied from.
  func adoptReadiness(_ newValue: DataReadiness) {
    lock.withLock { readiness = newValue }
  }

  func makeReadyNow() -> OSStatus {
    var buffer = self
    while true {
      let (own, handler, other, isInvalid) = buffer.lock.withLock {
        (buffer.readiness, buffer.makeReady, buffer.tracked, buffer.invalidated)
      }
      if isInvalid { return kCMSampleBufferError_Invalidated }
      switch own {
      case .ready: return noErr
      case .failed: return kCMSampleBufferError_DataFailed
      case .notReady: break
      }
      if let other {
        buffer = other
        continue
      }
      guard let handler else { return kCMSampleBufferError_BufferNotReady }
      let status = handler(buffer)
      guard status == noErr else { return status }
      // The handler may have set the readiness itself.
      return buffer.currentReadiness == .ready ? noErr : buffer.setReadiness(.ready)
    }
  }

  /// Held while it is decided who tracks whom: two buffers must not begin to track each other.
  private static let tracking = Lock()

  func track(_ other: CMSampleBuffer) -> OSStatus {
    var old: CMSampleBuffer?
    let status = Self.tracking.withLock { () -> OSStatus in
      var next: CMSampleBuffer? = other
      while let buffer = next {
        if buffer === self { return kCMSampleBufferError_RequiredParameterMissing }
        next = buffer.lock.withLock { buffer.tracked }
      }
      return lock.withLock {
        if invalidated { return kCMSampleBufferError_Invalidated }
        old = tracked
        tracked = other
        return noErr
      }
    }
    // Not under the locks.
    Self.release(&old)
    return status
  }

  /// The first part of a copy's creation: nobody tracks it yet.
  func beginTracking(_ original: CMSampleBuffer) { lock.withLock { tracked = original } }

  private func takeTracked() -> CMSampleBuffer? {
    lock.withLock {
      defer { tracked = nil }
      return tracked
    }
  }

  /// Releases a buffer and those that it tracks, if nothing else holds them, one after the other:
  /// recursion along a long chain of them could overflow the stack.
  private static func release(_ next: inout CMSampleBuffer?) {
    while next != nil, isKnownUniquelyReferenced(&next) {
      let following = next?.takeTracked()
      next = following
    }
  }

  deinit {
    var old = takeTracked()
    Self.release(&old)
  }

  /// The descriptions of the packets at an address that stays, made when they are first asked for.
  func packetMemory() throws -> PacketMemory {
    if let packets = lock.withLock({ packets }) { return packets }
    let made = PacketMemory(try audioStreamPacketDescriptions())
    return lock.withLock {
      let kept = packets ?? made
      packets = kept
      return kept
    }
  }

  // MARK: - Time

  /// The output time that was set, or an invalid one.
  var explicitOutputTime: CMTime {
    get { lock.withLock { outputTime } }
    set { lock.withLock { outputTime = newValue } }
  }

  // MARK: - Attachments

  /// Whether the samples may be listed one by one.
  var canBeListed: Bool {
    sampleCount <= Self.maximumListed || sampleCount <= timings.entries.count
      || sampleCount <= sizes.entries.count || sampleCount <= blockBuffer?.memoryLength ?? 0
  }

  /// A dictionary for each sample; nil if there are none yet, or no samples.
  func dictionaries(create: Bool) -> SampleDictionaries? {
    let create = create && canBeListed
    return lock.withLock {
      if let values = attachmentValues {
        attachmentValues = nil
        sampleDictionaries = SampleDictionaries([values.dictionary()])
      } else if sampleDictionaries == nil, create, sampleCount > 0 {
        sampleDictionaries = SampleDictionaries(
          (0..<sampleCount).map { _ in NSMutableDictionary(capacity: 4) })
      }
      return sampleDictionaries
    }
  }

  /// Takes copies of the attachments of a range of another one's samples, as many as this has.
  func copyAttachments(of original: CMSampleBuffer, samples: Range<Int>) {
    let values = original.lock.withLock { original.attachmentValues }
    if let values {
      lock.withLock { attachmentValues = values }
    } else if let copies = original.dictionaries(create: false)?.copy(samples) {
      lock.withLock { sampleDictionaries = copies }
    }
  }

  /// Gives a sample buffer of one sample its attachments.
  package func setAttachments(_ values: SampleAttachmentValues) {
    guard sampleCount == 1 else { return }
    // The old values are released outside the lock: their end may call back.
    _ = lock.withLock {
      attachmentValues = values
      defer { sampleDictionaries = nil }
      return sampleDictionaries
    }
  }

  public override var description: String {
    let content =
      image.map { "image \($0)" } ?? tagged.map { "\($0.count) tagged buffers" } ?? blockBuffer.map(
        \.description)
      ?? (format == nil ? "a marker" : "no data")
    return "CMSampleBuffer \(sampleCount) sample\(sampleCount == 1 ? "" : "s"), PTS "
      + "\(timings.earliest(\.presentationTimeStamp).seconds), \(content)"
  }
}

extension CMSampleBuffer: AttachmentBearing {
  func withAttachmentTable<R>(_ body: (inout AttachmentTable) -> R) -> R {
    lock.withLock { body(&attachmentTable) }
  }
}

extension CMSampleBuffer: CFRuntimeObject {
  package static let cfTypeID: CFTypeID = CFRuntimeRegister("CMSampleBuffer")
  package var cfDescription: String { description }
}

/// The array of the dictionaries of a sample buffer's samples.
///
/// Foundation's own array would hand out the dictionaries as Swift values, which are copies; these
/// are to be changed in place.
final class SampleDictionaries: NSArray {
  private(set) var dictionaries: [NSMutableDictionary] = []

  convenience init(_ dictionaries: [NSMutableDictionary]) {
    self.init(objects: nil, count: 0)
    self.dictionaries = dictionaries
  }

  override var count: Int { dictionaries.count }
  override func object(at index: Int) -> Any { dictionaries[index] }

  /// A copy of those of a range of samples.
  func copy(_ range: Range<Int>) -> SampleDictionaries {
    SampleDictionaries(
      dictionaries[range].map { $0.mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary() })
  }
}
