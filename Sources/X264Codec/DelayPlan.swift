// SPDX-License-Identifier: Apache-2.0
#if X264
  import CX264

  /// Limits the number of frames that libx264 holds.
  struct DelayPlan {
    /// The most frames that libx264 may hold; nil: no limit.
    let limit: Int?
    /// The number of frames by which `tighten` has shortened the look-ahead and the runs of B
    /// frames.
    private var step = 0

    /// Creates a plan for a limit.
    init(limit: Int?) { self.limit = limit }

    /// Whether rate control uses time stamps. It then needs the time stamp of the next frame, and
    /// so holds one frame.
    var usesTimeStamps: Bool { limit != 0 }

    /// Plans one frame less of look-ahead and B frames, where libx264 still holds more than the
    /// limit.
    mutating func tighten() { step += 1 }

    /// Sets the parameters that cause delay.
    func apply(to param: inout x264_param_t) {
      guard let limit else { return }
      if limit == 0 {
        param.i_bframe = 0
        param.i_bframe_pyramid = X264_B_PYRAMID_NONE
        param.rc.i_lookahead = 0
        param.rc.b_mb_tree = 0
        param.i_sync_lookahead = 0
        param.b_sliced_threads = param.i_threads == 1 ? 0 : 1
        return
      }
      let available = max(limit - 1, 0)
      param.i_sync_lookahead = 0
      if available < 12 { param.b_sliced_threads = param.i_threads == 1 ? 0 : 1 }
      let frames = max(available - step, 0)
      param.rc.i_lookahead = min(param.rc.i_lookahead, Int32(clamping: frames))
      if param.rc.i_lookahead == 0 { param.rc.b_mb_tree = 0 }
      param.i_bframe = min(param.i_bframe, Int32(clamping: frames))
      if param.i_bframe == 0 { param.i_bframe_pyramid = X264_B_PYRAMID_NONE }
    }
  }
#endif
