// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// An object that can have attachments.
public protocol CMAttachmentBearerProtocol {
  /// The attachments of the object. Changes through it affect the object.
  var attachments: CMAttachmentBearerAttachments { get }
  /// Copies the attachments whose mode is to propagate to another object.
  func propagateAttachments<T: CMAttachmentBearerProtocol>(to destination: T)
}

extension CMAttachmentBearerProtocol {
  public var attachments: CMAttachmentBearerAttachments {
    CMAttachmentBearerAttachments(bearer: self as AnyObject)
  }

  public func propagateAttachments<T: CMAttachmentBearerProtocol>(to destination: T) {
    CMPropagateAttachments(self as AnyObject, destination: destination as AnyObject)
  }
}

extension CMBlockBuffer: CMAttachmentBearerProtocol {}
extension CMSampleBuffer: CMAttachmentBearerProtocol {}
extension CVBuffer: CMAttachmentBearerProtocol {}

/// The attachments of an object by key. Changes are made to the object itself.
public struct CMAttachmentBearerAttachments {
  let bearer: CMAttachmentBearer

  /// An attached value with its mode.
  public enum Value {
    case shouldNotPropagate(Any)
    case shouldPropagate(Any)

    /// The value.
    public var value: Any {
      switch self {
      case .shouldNotPropagate(let value), .shouldPropagate(let value): value
      }
    }

    /// Whether the value is copied when attachments are propagated.
    public var mode: Mode {
      switch self {
      case .shouldNotPropagate: .shouldNotPropagate
      case .shouldPropagate: .shouldPropagate
      }
    }
  }

  /// Whether an attachment is copied when attachments are propagated to another object.
  public enum Mode: CMAttachmentMode, Sendable {
    case shouldNotPropagate = 0
    case shouldPropagate = 1
  }

  /// The value attached under a key; nil removes it.
  public subscript(key: String) -> Value? {
    get {
      var mode = kCMAttachmentMode_ShouldNotPropagate
      guard let value = CMGetAttachment(bearer, key: key as CFString, attachmentModeOut: &mode) else {
        return nil
      }
      return mode == kCMAttachmentMode_ShouldPropagate ? .shouldPropagate(value) : .shouldNotPropagate(value)
    }
    nonmutating set {
      CMSetAttachment(
        bearer, key: key as CFString, value: newValue.map { $0.value as AnyObject },
        attachmentMode: newValue?.mode.rawValue ?? kCMAttachmentMode_ShouldNotPropagate)
    }
  }

  /// The value attached to a sample buffer under a predefined key; nil removes it.
  public subscript(key: CMSampleBuffer.AttachmentKey) -> Value? {
    get { self[key.rawValue as String] }
    nonmutating set { self[key.rawValue as String] = newValue }
  }

  /// Removes all attachments.
  public func removeAll() { CMRemoveAllAttachments(bearer) }

  /// The attachments that are not propagated.
  public var nonPropagated: [String: Any] { dictionary(.shouldNotPropagate) }

  /// The attachments that are propagated.
  public var propagated: [String: Any] { dictionary(.shouldPropagate) }

  private func dictionary(_ mode: Mode) -> [String: Any] {
    let attachments = CMCopyDictionaryOfAttachments(
      allocator: kCFAllocatorDefault, target: bearer, attachmentMode: mode.rawValue)
    return attachments as? [String: Any] ?? [:]
  }

  /// Attaches all values of a dictionary.
  public func merge(_ attachments: [String: Any], mode: Mode) {
    CMSetAttachments(bearer, attachments: attachments as CFDictionary, attachmentMode: mode.rawValue)
  }
}
