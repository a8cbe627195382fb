// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A second output of a run, such as a report or a snapshot. It is checked before the work begins,
/// and afterwards it is complete or does not exist.
///
/// An existing file is replaced only if that is allowed, as for a movie. A pipe or a device is
/// written to directly.
struct AuxiliaryFile: Sendable {
  private let path: String
  private let option: String
  private let what: String
  private let replaces: Bool
  private let isStream: Bool

  /// - Parameters:
  ///   - path: the file; nil makes the result nil.
  ///   - option: the option that names it, for messages.
  ///   - what: a noun for the file, for messages.
  ///   - others: the movie and the run's other outputs.
  ///   - overwrites: whether an existing file may be replaced.
  init?(_ path: String?, option: String, what: String, others: [String?], overwrites: Bool) throws {
    guard let path else { return nil }
    guard path != "-" else {
      throw Failure("\(option) - is not possible; give a file name, or /dev/stdout", status: 64)
    }
    try OutputCheck.check(path, option: option, others: others)
    isStream = OutputCheck.isStream(path)
    // /dev/stdout links to a path that only the system can open, so it is not followed.
    self.path = isStream ? path : Destination.target(of: path)
    (self.option, self.what) = (option, what)
    replaces = isStream ? false : try OutputCheck.mayReplace(path, option: option, overwrites: overwrites)
    if !isStream { try PendingFile.check(self.path) }
  }

  /// - Parameter isRenewed: whether the run has already written the file and now replaces it.
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
