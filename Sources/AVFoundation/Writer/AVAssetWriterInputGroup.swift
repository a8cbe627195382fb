// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Inputs whose tracks are alternatives, such as the same speech in several languages. Players play
/// one of them.
open class AVAssetWriterInputGroup: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let inputs: [AVAssetWriterInput]
  /// The input whose track players play by default; only this track of the group is enabled. If
  /// nil, none is.
  public let defaultInput: AVAssetWriterInput?

  /// Creates a group.
  /// - Parameters:
  ///   - inputs: Inputs of one media type.
  ///   - defaultInput: One of the inputs, or nil.
  public init(inputs: [AVAssetWriterInput], defaultInput: AVAssetWriterInput?) {
    self.inputs = inputs
    self.defaultInput = defaultInput
    super.init()
  }
}

extension AVAssetWriter {
  public var inputGroups: [AVAssetWriterInputGroup] { lock.withLock { properties.groups } }

  /// Whether a group can be added: the writer has all its inputs, none of them is in another group,
  /// and the writing has not started.
  public func canAdd(_ inputGroup: AVAssetWriterInputGroup) -> Bool {
    let (inputs, groups) = (inputs, inputGroups)
    let types = Set(inputGroup.inputs.map(\.mediaType))
    return status == .unknown && types.count == 1
      && inputGroup.inputs.allSatisfy { input in
        inputs.contains { $0 === input } && !groups.contains { $0.inputs.contains { $0 === input } }
      }
      && inputGroup.defaultInput.map { input in inputGroup.inputs.contains { $0 === input } } ?? true
  }

  /// Adds a group of inputs, which must have been added to the writer before. Adding a group that
  /// cannot be added makes the writer fail.
  public func add(_ inputGroup: AVAssetWriterInputGroup) {
    guard canAdd(inputGroup) else {
      return fail(
        AVError(
          .operationNotAllowed, reason: "The input group cannot be added to this writer.",
          advice: "Add its inputs first, all of one media type and each in one group only."))
    }
    lock.withLock { properties.groups.append(inputGroup) }
  }

  /// The number of the group of alternatives of an input's track, and whether the track is the
  /// enabled one of the group; nil for an input without a group.
  func group(of input: AVAssetWriterInput) -> (number: UInt16, isDefault: Bool)? {
    let groups = inputGroups
    guard let index = groups.firstIndex(where: { $0.inputs.contains { $0 === input } }) else { return nil }
    // libavformat gives small numbers to the tracks outside of groups. Numbers from 100 avoid
    // these.
    return (UInt16(clamping: 100 + index), groups[index].defaultInput === input)
  }
}
