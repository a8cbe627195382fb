/// Decides each frame's QP before it is coded, and whether to drop it. One frame deep: no look-ahead.
struct RateController {
  struct Decision {
    var drop = false
    var qp = 26
    var budget: RowBudget?
  }

  private var configuration: EncoderConfiguration

  init(_ configuration: EncoderConfiguration) {
    self.configuration = configuration
  }

  mutating func reconfigure(_ new: EncoderConfiguration) { configuration = new }

  mutating func plan(isKeyFrame: Bool, isReference: Bool, options: FrameOptions) -> Decision {
    var decision = Decision()
    if case .constantQP(let qp) = configuration.rateControl { decision.qp = qp }
    if let qp = options.qp { decision.qp = qp }
    return decision
  }

  mutating func finish(bits: Int, qp: Double, isKeyFrame: Bool, isReference: Bool) {}
}
