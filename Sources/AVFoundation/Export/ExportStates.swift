// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetExportSession {
  /// The state of an export that has not ended.
  public enum State: @unchecked Sendable {
    // Sendable: an error and numbers; `AVError` never changes.
    /// The export has not begun.
    case pending
    case waiting
    case exporting(progress: Progress)
  }

  /// The states of an export until it ends: each change of the state, and the progress while it is
  /// exporting.
  /// - Parameter updateInterval: The time in seconds between two elements that differ only in their
  ///   progress. If infinite or not a number, only the first such element is given.
  public func states(updateInterval: TimeInterval = .infinity) -> some AsyncSequence<State, Never> & Sendable
  {
    ExportStates(session: self, interval: updateInterval.isNaN ? .infinity : updateInterval)
  }
}

/// Polls a session's status, which changes only a few times during an export.
private struct ExportStates: AsyncSequence, Sendable {
  typealias Element = AVAssetExportSession.State
  typealias Failure = Never

  let session: AVAssetExportSession
  let interval: TimeInterval

  func makeAsyncIterator() -> Iterator { Iterator(session: session, interval: interval) }

  struct Iterator: AsyncIteratorProtocol {
    let session: AVAssetExportSession
    let interval: TimeInterval
    private let progress = Progress(totalUnitCount: 1000)
    private var reportedStatus: AVAssetExportSession.Status?
    private var lastTime = Date.distantPast

    init(session: AVAssetExportSession, interval: TimeInterval) {
      self.session = session
      self.interval = interval
    }

    mutating func next(isolation: isolated (any Actor)?) async -> Element? { await next() }

    mutating func next() async -> Element? {
      while !Task.isCancelled {
        let status = session.status
        let isDue = status == .exporting && Date().timeIntervalSince(lastTime) >= interval
        if status != reportedStatus || isDue {
          reportedStatus = status
          lastTime = Date()
          switch status {
          case .unknown: return .pending
          case .waiting: return .waiting
          case .exporting:
            progress.completedUnitCount = Int64(session.progress * 1000)
            return .exporting(progress: progress)
          case .completed, .failed, .cancelled: return nil
          }
        }
        do { try await Task.sleep(for: .seconds(Swift.min(Swift.max(interval, 0.005), 0.05))) } catch {
          return nil
        }
      }
      return nil
    }
  }
}
