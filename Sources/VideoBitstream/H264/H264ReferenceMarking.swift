// SPDX-License-Identifier: Apache-2.0
/// A command of ref_pic_list_modification() (7.3.3.1).
package enum H264ReferenceListModification: Hashable, Sendable {
  /// modification_of_pic_nums_idc 0 or 1: a short-term picture. `difference` is its PicNum less the
  /// predicted PicNum: negative with 0, positive with 1, never 0.
  case shortTerm(difference: Int)
  /// modification_of_pic_nums_idc 2: the long-term picture with this LongTermPicNum.
  case longTerm(pictureNumber: Int)

  /// The largest absolute difference: PicNum of fields has 17 bits.
  private static let largestDifference = 1 << 17
  /// The most commands: one for each of the 32 entries of a field's list, and one more.
  private static let maxCommands = 33

  /// Codes ref_pic_list_modification_flag_l0 or _l1 and the commands of a list.
  static func code<Coder: SyntaxCoder>(_ commands: inout [Self], _ c: inout Coder) {
    var isPresent = !commands.isEmpty
    c.flag(&isPresent)
    guard isPresent else { return }
    if Coder.isReading { commands.removeAll() }
    var index = 0
    while c.failure == nil {
      var command = Coder.isReading || index == commands.count ? nil : commands[index]
      code(&command, &c)
      guard let command else { return }
      index += 1
      guard Coder.isReading else { continue }
      commands.append(command)
      if index > maxCommands { c.fail(.invalid) }
    }
  }

  /// Codes a command; nil is the end of the commands (modification_of_pic_nums_idc 3).
  private static func code<Coder: SyntaxCoder>(_ command: inout Self?, _ c: inout Coder) {
    var idc = 3
    var value = 1
    switch command {
    case .shortTerm(let difference): (idc, value) = (difference < 0 ? 0 : 1, abs(difference))
    case .longTerm(let pictureNumber): (idc, value) = (2, pictureNumber)
    case nil: break
    }
    c.ue(&idc, 0...3)
    switch idc {
    case 0:
      c.ue(&value, 1...largestDifference)
      command = .shortTerm(difference: -value)
    case 1:
      c.ue(&value, 1...largestDifference)
      command = .shortTerm(difference: value)
    case 2:
      c.ue(&value, 0...largestDifference)
      command = .longTerm(pictureNumber: value)
    default: command = nil
    }
  }
}

/// memory_management_control_operation (7.4.3.3).
package enum H264MemoryManagement: Hashable, Sendable {
  /// 1: marks a short-term picture as unused. Its PicNum is that of the current picture less
  /// `difference`, 1 or more.
  case removeShortTerm(difference: Int)
  /// 2: marks the long-term picture with this LongTermPicNum as unused.
  case removeLongTerm(pictureNumber: Int)
  /// 3: gives a short-term picture, named as in 1, the LongTermFrameIdx `index`.
  case makeLongTerm(difference: Int, index: Int)
  /// 4: sets max_long_term_frame_idx_plus1.
  case longTermLimit(Int)
  /// 5: marks all reference pictures as unused.
  case removeAll
  /// 6: gives the current picture the LongTermFrameIdx `index`.
  case currentIsLongTerm(index: Int)

  private static let largestDifference = 1 << 17
  /// The most operations: for each of the 32 fields of a full buffer one to remove it and one to
  /// make it long-term, and a few more.
  private static let maxOperations = 66

  /// Codes the operations of adaptive marking and the 0 that ends them.
  static func code<Coder: SyntaxCoder>(_ operations: inout [Self], _ c: inout Coder) {
    if Coder.isReading { operations.removeAll() }
    var index = 0
    while c.failure == nil {
      var operation = Coder.isReading || index == operations.count ? nil : operations[index]
      code(&operation, &c)
      guard let operation else { return }
      index += 1
      guard Coder.isReading else { continue }
      operations.append(operation)
      if index > maxOperations { c.fail(.invalid) }
    }
  }

  /// Returns memory_management_control_operation and its operands in order; 0 for the end.
  private static func fields(_ operation: Self?) -> (number: Int, first: Int, second: Int) {
    switch operation {
    case nil: (0, 0, 0)
    case .removeShortTerm(let difference): (1, difference, 0)
    case .removeLongTerm(let pictureNumber): (2, pictureNumber, 0)
    case .makeLongTerm(let difference, let index): (3, difference, index)
    case .longTermLimit(let limit): (4, limit, 0)
    case .removeAll: (5, 0, 0)
    case .currentIsLongTerm(let index): (6, index, 0)
    }
  }

  private static func code<Coder: SyntaxCoder>(_ operation: inout Self?, _ c: inout Coder) {
    var (number, first, second) = fields(operation)
    c.ue(&number, 0...6)
    switch number {
    case 1:
      c.ue(&first, 1...largestDifference)
      operation = .removeShortTerm(difference: first)
    case 2:
      c.ue(&first, 0...largestDifference)
      operation = .removeLongTerm(pictureNumber: first)
    case 3:
      c.ue(&first, 1...largestDifference)
      c.ue(&second, 0...31)
      operation = .makeLongTerm(difference: first, index: second)
    case 4:
      c.ue(&first, 0...32)
      operation = .longTermLimit(first)
    case 5: operation = .removeAll
    case 6:
      c.ue(&first, 0...31)
      operation = .currentIsLongTerm(index: first)
    default: operation = nil
    }
  }
}
