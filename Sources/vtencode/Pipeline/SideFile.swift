// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A second file of a run, such as a report or a snapshot: checked before the work, whole or not there after it.
///
/// What has the name is replaced only if it may be, as a movie is. A pipe or a device is written to where it is.
struct SideFile: Sendable {
  private let path: String
  private let option: String
  private let what: String
  private let replaces: Bool
  private let isStream: Bool

  /// - Parameters:
  ///   - path: nil makes none.
  ///   - what: the file in a word, for messages.
  ///   - others: the movie and the run's other outputs.
  init?(_ path: String?, option: String, what: String, others: [String?], overwrites: Bool) throws {
    guard let path else { return nil }
    guard path != "-" else {
      throw Failure("\(option) - is not possible; give a file name, or /dev/stdout", status: 64)
    }
    try OutputCheck.check(path, option: option, others: others)
    isStream = OutputCheck.isStream(path)
    // /dev/stdout is a link to what only the system can open.
    self.path = isStream ? path : Destination.target(of: path)
    (self.option, self.what) = (option, what)
    replaces = isStream ? false : try OutputCheck.mayReplace(path, option: option, overwrites: overwrites)
    if !isStream { try PendingFile.check(self.path) }
  }

  /// - Parameter isRenewed: the run has written it before.
  func write(_ data: Data, isRenewed: Bool = false) throws {
    if isStream {
      let descriptor = open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failure(errno) }
      defer { close(descriptor) }
      return try write(data, to: descriptor)
    }
    let pending = try PendingFile(for: path, replaces: replaces || isRenewed)
    let descriptor = try pending.open()
    do {
      try write(data, to: descriptor)
    } catch {
      close(descriptor)
      throw error
    }
    guard close(descriptor) == 0 else { throw failure(errno) }
    try pending.commit(isPart: false)
  }

  private func write(_ data: Data, to descriptor: Int32) throws {
    var rest = data[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure(errno) }
      rest = rest.dropFirst(count)
    }
  }

  private func failure(_ code: Int32) -> Failure {
    Failure("cannot write the \(what) '\(path)': \(Failure.advice(forSystemError: code, option: option))")
  }
}
