// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A picture that several threads code: its rows, how far they are, and what each thread needs for them.
final class SharedJob: @unchecked Sendable {
  // Sendable: what changes is written while no thread is at the picture; the rows' progress is atomic.
  enum Job {
    case none
    case cabac(PictureJob<CABACWriter>)
    case cavlc(PictureJob<CAVLCWriter>)
    /// No picture.
    case rows(SharedRows)
  }

  var job = Job.none
  /// Pictures that were coded anew by one thread (`codeRow`).
  private(set) var picturesLeftToOne = 0
  private let coders: UnsafeMutablePointer<MacroblockCoder>
  private let threads: Int
  private let rows: Int
  let progress: RowProgress
  let ring: RowRing

  init(
    coders: UnsafeMutablePointer<MacroblockCoder>, threads: Int, rows: Int, ring: RowRing
  ) {
    self.coders = coders
    self.threads = threads
    self.rows = rows
    self.ring = ring
    progress = RowProgress(rows: rows)
  }

  // MARK: - One picture at a time

  /// A thread's part of the picture; all threads together code it.
  func work(thread: Int) {
    switch job {
    case .none: break
    case .cabac(let job): job.work(coders + thread, threads: threads, progress, ring)
    case .cavlc(let job): job.work(coders + thread, threads: threads, progress, ring)
    case .rows(let rows): _ = rows.help(thread: thread)
    }
  }

  // MARK: - Several pictures at a time

  /// By how many rows the content was scrolled.
  private(set) var scroll = 0

  /// Says so, before rows are coded.
  func setScroll(_ distance: Int) {
    scroll = distance
    let vector = MotionVector(0, Int16(truncatingIfNeeded: distance * 4))
    for i in 0..<threads { coders[i].picture.scroll = vector }
  }

  /// Codes the next row, if there is one to begin.
  /// - Returns: nil where there is none; else whether the picture is complete now, by this thread's work.
  func codeRow(thread: Int) -> Bool? {
    let y = progress.nextRow.load(ordering: .acquiring)
    // Its levels need room in the ring.
    let end = progress.finishedRows.load(ordering: .acquiring) + PictureJob<CABACWriter>.lag(threads: threads)
    guard y < min(rows, end) else { return nil }
    guard
      progress.nextRow.compareExchange(expected: y, desired: y + 1, ordering: .acquiringAndReleasing)
        .exchanged
    else { return false }
    switch job {
    case .none, .rows: return nil
    case .cabac(let job): return codeRow(y, job, thread)
    case .cavlc(let job): return codeRow(y, job, thread)
    }
  }

  private func codeRow<Writer: EntropyCoder>(_ y: Int, _ job: PictureJob<Writer>, _ thread: Int) -> Bool {
    job.analyse(row: y, coders + thread, threads: threads, progress, ring)
    guard job.finishRows(progress, ring) else { return false }
    if job.statistics.pointee.exceedsMacroblock {
      // Rare. One thread sees it in time, and sends that macroblock's samples. Nothing refers to the picture yet.
      picturesLeftToOne += 1
      job.statistics.pointee = PictureStatistics()
      for i in 0..<threads { coders[i].directCosts = DirectCosts() }
      job.output.pointee.truncate(units: job.leading.units, count: job.leading.count)
      job.run(coders + thread)
    }
    return true
  }
}
