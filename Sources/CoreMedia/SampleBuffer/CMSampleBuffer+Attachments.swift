// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// Returns the attachments of all samples as dictionaries, which can be changed in place.
///
/// - Parameters:
///   - sbuf: The sample buffer.
///   - createIfNecessary: Whether empty dictionaries are created if there are none.
/// - Returns: An array with a mutable dictionary for each sample, which belongs to the sample
///   buffer; nil if there are none.
@discardableResult
public func CMSampleBufferGetSampleAttachmentsArray(_ sbuf: CMSampleBuffer, createIfNecessary: Bool)
  -> CFArray?
{
  sbuf.dictionaries(create: createIfNecessary)
}

extension CMSampleBuffer {
  /// The attachments of one sample. Changes affect the sample buffer.
  public struct PerSampleAttachmentsDictionary: Sequence {
    let owner: CMSampleBuffer
    let index: Int

    private func dictionary(create: Bool) -> NSMutableDictionary? {
      owner.dictionaries(create: create)?.dictionaries[index]
    }

    /// The value for a key; nil removes it.
    public subscript(key: Key) -> Any? {
      get { dictionary(create: false)?.object(forKey: key.rawValue) }
      set {
        if let newValue {
          dictionary(create: true)?.setObject(newValue as AnyObject, forKey: key.rawValue)
        } else {
          dictionary(create: false)?.removeObject(forKey: key.rawValue)
        }
      }
    }

    /// Returns an iterator over all keys and values, in no particular order.
    public func makeIterator() -> AnyIterator<(key: Key, value: Any)> {
      var rest = (dictionary(create: false) as? [String: Any] ?? [:]).makeIterator()
      return AnyIterator {
        rest.next().map { (key: Key(rawValue: $0.key as CFString), value: $0.value) }
      }
    }
  }

  /// The attachments of each sample. Changes affect the sample buffer.
  public struct SampleAttachmentsArray: RandomAccessCollection, MutableCollection {
    let owner: CMSampleBuffer

    public var startIndex: Int { 0 }
    public var endIndex: Int { owner.sampleCount }

    /// The attachments of the sample at an index.
    public subscript(position: Int) -> PerSampleAttachmentsDictionary {
      get {
        precondition(indices.contains(position), "Sample index out of range")
        return PerSampleAttachmentsDictionary(owner: owner, index: position)
      }
      set {
        precondition(indices.contains(position), "Sample index out of range")
        // The dictionary has been changed in place already, unless it is that of another sample.
        guard newValue.owner !== owner || newValue.index != position else { return }
        var target = PerSampleAttachmentsDictionary(owner: owner, index: position)
        for key in target.map(\.key) { target[key] = nil }
        for (key, value) in newValue { target[key] = value }
      }
    }
  }

  /// The attachments of each sample.
  public var sampleAttachments: SampleAttachmentsArray {
    get { SampleAttachmentsArray(owner: self) }
    set {
      guard newValue.owner !== self, canBeListed else { return }
      var target = SampleAttachmentsArray(owner: self)
      for (index, attachments) in zip(target.indices, newValue) { target[index] = attachments }
    }
  }
}
