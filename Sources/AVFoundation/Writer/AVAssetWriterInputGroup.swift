// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Inputs whose tracks stand in for each other, such as the same words in several languages: players play one of them.
open class AVAssetWriterInputGroup: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let inputs: [AVAssetWriterInput]
  /// What players play unless somebody chooses: its track alone is enabled. Nil: none of them.
  public let defaultInput: AVAssetWriterInput?

  /// Of the parameters:
  ///
  /// - `inputs`: Of one media type.
  /// - `defaultInput`: One of them, or nil.
  public init(inputs: [AVAssetWriterInput], defaultInput: AVAssetWriterInput?) {
    self.inputs = inputs
    self.defaultInput = defaultInput
    super.init()
  }
}

extension AVAssetWriter {
  public var inputGroups: [AVAssetWriterInputGroup] { lock.withLock { properties.groups } }

  /// Whether the writer has all inputs of a group, before `startWriting()`, and none of them in another group.
  public func canAdd(_ inputGroup: AVAssetWriterInputGroup) -> Bool {
    let (inputs, groups) = (inputs, inputGroups)
    let types = Set(inputGroup.inputs.map(\.mediaType))
    return status == .unknown && types.count == 1
      && inputGroup.inputs.allSatisfy { input in
        inputs.contains { $0 === input } && !groups.contains { $0.inputs.contains { $0 === input } }
      }
      && inputGroup.defaultInput.map { input in inputGroup.inputs.contains { $0 === input } } ?? true
  }

  /// Adds a group of inputs that the writer has. One that cannot be added makes the writer fail.
  public func add(_ inputGroup: AVAssetWriterInputGroup) {
    guard canAdd(inputGroup) else {
      return fail(
        AVError(
          .operationNotAllowed, reason: "The input group cannot be added to this writer.",
          advice: "Add its inputs first, all of one media type and each in one group only."))
    }
    lock.withLock { properties.groups.append(inputGroup) }
  }

  /// The number of an input's group, from 1, and whether its track is the enabled one.
  func group(of input: AVAssetWriterInput) -> (number: UInt16, isDefault: Bool)? {
    let groups = inputGroups
    guard let index = groups.firstIndex(where: { $0.inputs.contains { $0 === input } }) else { return nil }
    // Beyond the numbers that libavformat gives to tracks of other groups.
    return (UInt16(clamping: 100 + index), groups[index].defaultInput === input)
  }
}
