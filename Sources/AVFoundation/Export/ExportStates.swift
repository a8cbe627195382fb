// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetExportSession {
  /// How far an export has come.
  public enum State: @unchecked Sendable {
    // Sendable: an error and numbers; `AVError` never changes.
    /// It was not begun.
    case pending
    case waiting
    case exporting(progress: Progress)
  }

  /// The states of an export until it ends: each new one, and while it runs its progress.
  /// - Parameter updateInterval: Seconds between two states that differ in their progress alone; infinite, or
  ///   no number: none but the first of them.
  public func states(updateInterval: TimeInterval = .infinity) -> some AsyncSequence<State, Never> & Sendable
  {
    ExportStates(session: self, interval: updateInterval.isNaN ? .infinity : updateInterval)
  }
}

/// Looks at a session now and then: its status changes a few times in a whole export.
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
    private var told: AVAssetExportSession.Status?
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
        if status != told || isDue {
          told = status
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
