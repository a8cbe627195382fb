// SPDX-License-Identifier: Apache-2.0
#if X264
  import CX264

  /// How libx264 is kept from holding more frames than it may.
  struct DelayPlan {
    /// Frames that may be held; nil is no limit.
    let limit: Int?
    /// How many times the plan was tightened.
    private var step = 0

    init(limit: Int?) { self.limit = limit }

    /// Rate control by time stamps needs the time stamp of the next frame, and so holds one.
    var usesTimeStamps: Bool { limit != 0 }

    /// Gives up what costs delay, the least useful first.
    mutating func tighten() { step += 1 }

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
