/// Keeps a picture within its bits while it is coded, a macroblock row at a time.
struct RowBudget {
  var target: Int
  var maximum: Int
  var minQP: Int
  var maxQP: Int

  func qp(row: Int, rows: Int, bits: Int, base: Int, current: Int) -> Int { current }
}
