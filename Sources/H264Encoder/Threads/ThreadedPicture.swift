// SPDX-License-Identifier: Apache-2.0
import Synchronization
import VideoEncoding

/// The work that several threads share: a picture's macroblock rows, their progress, and each
/// thread's coder.
final class ThreadedPicture: ScheduledPicture, @unchecked Sendable {
  // Sendable: what changes is written while no thread works; the rows' progress is atomic.
  /// The kind of work.
  enum Job {
    /// No work.
    case none
    /// A picture that is entropy coded by CABAC.
    case cabac(PictureJob<CABACWriter>)
    /// A picture that is entropy coded by CAVLC.
    case cavlc(PictureJob<CAVLCWriter>)
    /// Rows of other work than coding.
    case rows(RowTask)
  }

  /// The current work.
  var job = Job.none
  /// The number of pictures that one thread has coded again, as a macroblock exceeded its limit of
  /// bits (`codeRow`).
  private(set) var picturesRecodedAlone = 0
  /// The coder of each thread.
  private let coders: UnsafeMutablePointer<MacroblockCoder>
  /// The number of threads.
  private let threads: Int
  /// The number of macroblock rows.
  private let rows: Int
  /// The progress of the picture's rows.
  let progress: RowProgress
  /// The levels of rows between analysis and entropy coding.
  let ring: RowRing

  /// Makes a job without work.
  ///
  /// - Parameters:
  ///   - coders: the coder of each thread.
  ///   - threads: the number of threads.
  ///   - rows: the number of macroblock rows.
  ///   - ring: memory for the levels of rows between analysis and entropy coding.
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

  /// Does one thread's share of the work; all threads call it.
  ///
  /// - Parameter thread: the thread's number.
  func work(thread: Int) {
    switch job {
    case .none: break
    case .cabac(let job): job.work(coders + thread, threads: threads, progress, ring)
    case .cavlc(let job): job.work(coders + thread, threads: threads, progress, ring)
    case .rows(let rows): _ = rows.help(thread: thread)
    }
  }

  // MARK: - Several pictures at a time

  /// The distance of the picture's scroll in luma rows (`ScrollDetector.distance`).
  private(set) var scroll = 0
  /// The arguments of the search for a scroll, which needs the complete reference picture; nil if
  /// there is none to be done.
  var scrollSearch: (detector: ScrollDetector, source: SourcePicture, reference: PicturePlanes, limit: Int)?

  func prepare() {
    guard let search = scrollSearch else { return }
    setScroll(search.detector.distance(search.source, from: search.reference.luma, limit: search.limit))
  }

  /// Sets the distance of the picture's scroll; must be called before rows are coded.
  ///
  /// - Parameter distance: the distance in luma rows.
  func setScroll(_ distance: Int) {
    scroll = distance
    let vector = MotionVector(0, Int16(truncatingIfNeeded: distance * 4))
    for i in 0..<threads { coders[i].picture.scroll = vector }
  }

  /// Codes the next macroblock row, if it can be started.
  ///
  /// - Parameter thread: the thread's number.
  /// - Returns: nil if no row can be started now; otherwise whether this call has completed the
  ///   picture (false, too, if another thread was faster to take the row).
  func codeRow(thread: Int) -> Bool? {
    let y = progress.nextRow.load(ordering: .acquiring)
    // The row's levels need an entry of the ring.
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

  /// Codes a macroblock row, and any rows that are ready for entropy coding.
  ///
  /// - Parameters:
  ///   - y: the row.
  ///   - job: the picture.
  ///   - thread: the thread's number.
  /// - Returns: whether the picture is complete.
  private func codeRow<Writer: EntropyCoder>(_ y: Int, _ job: PictureJob<Writer>, _ thread: Int) -> Bool {
    job.analyse(row: y, coders + thread, threads: threads, progress, ring)
    guard job.finishRows(progress, ring) else { return false }
    if job.statistics.pointee.exceedsMacroblock {
      // This is rare. A single thread entropy codes each macroblock at once, and sends one that
      // exceeds the limit as I_PCM. No picture refers to this one yet.
      picturesRecodedAlone += 1
      job.statistics.pointee = PictureStatistics()
      for i in 0..<threads { coders[i].directCosts = DirectCosts() }
      job.output.pointee.truncate(units: job.leading.units, count: job.leading.count)
      job.run(coders + thread)
    }
    return true
  }
}
