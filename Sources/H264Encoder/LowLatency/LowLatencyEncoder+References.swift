// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Dispatch
import VideoBitstream

/// The references of a picture, its slice header, and the marking of the decoded picture buffer.
extension LowLatencyEncoder {
  /// Selects the reference pictures of a frame (`list0`), in the order of reference list 0. It
  /// selects none where the frame has to be a key frame.
  func selectReferences(_ options: H264FrameOptions) {
    list0.removeAll(keepingCapacity: true)
    if options.isKeyFrame || keyFrameIsDue { return }
    if let interval = configuration.keyFrameInterval, framesSinceIDR >= interval { return }
    // During a gradual refresh each picture has more refreshed columns than the one before it, so
    // only the newest may be referred to.
    let maximum = configuration.lowLatency.intraRefreshPeriod > 0 ? 1 : maxReferences
    switch options.references {
    case .automatic:
      // Newest first, short-term and long-term references alike.
      for entry in buffer.entries where entry.isUsable {
        var at = list0.count
        while at > 0 && list0[at - 1].index < entry.index { at -= 1 }
        list0.insert(entry, at: at)
      }
    case .frames(let indices):
      for index in indices {
        for entry in buffer.entries where entry.isUsable && entry.index == index { want(entry) }
      }
    case .longTerm(let slots):
      for slot in slots {
        // A key frame that the next picture will mark as long-term is the first entry until then.
        if slot == pendingLongTerm, let key = buffer.entries.first, key.isUsable { want(key) }
        for entry in buffer.entries where entry.isUsable && entry.longTermIndex == slot { want(entry) }
      }
    }
    if options.references == .automatic && maximum > 1 { list0.preferRaisedQuality() }
    if list0.count > maximum { list0.removeLast(list0.count - maximum) }
  }

  /// The most reference pictures that the next frame may have.
  var maxReferences: Int {
    let (count, least) = coder.settings.motion.referencesByUse
    guard count > 1 else { return max(1, coder.referencesSearched) }
    return referenceUse.shouldUseSeveralReferences(index: nextIndex, minimumShare: least) ? count : 1
  }

  /// Adds a reference picture to `list0`, unless it is in the list: a second entry would cost
  /// bits and gain nothing.
  func want(_ entry: DecodedPictureBuffer.Entry) {
    if !list0.contains(where: { $0.picture == entry.picture }) { list0.append(entry) }
  }

  /// Fills in the slice header of a picture, and marks reference pictures as the header tells the
  /// decoder to.
  /// - Parameters:
  ///   - plan: receives the slice header.
  ///   - list0: the reference pictures, in the order of list 0.
  ///   - options: the options of the frame.
  ///   - index: the frame's index (`H264FrameProperties.index`).
  /// - Returns: the index in the pool of the picture to code into.
  func prepare(
    _ plan: inout PicturePlan, _ list0: [DecodedPictureBuffer.Entry], _ options: H264FrameOptions,
    _ index: UInt64
  ) -> Int {
    if plan.isIDR {
      pendingLongTerm = nil
      orderCount = 0
      framesSinceIDR = 0
      refreshStep = -1
      buffer.removeAll()
    }
    framesSinceIDR += 1

    numbering.advance(&plan, kind: plan.isIDR ? .i : .p, maxFrameNum: buffer.maxFrameNum)
    plan.header.pictureOrderCountLSB = orderCount
    orderCount += 2
    plan.header.activeReferences = max(1, list0.count)
    modifications.removeAll(keepingCapacity: true)
    if !plan.isIDR { buffer.modifications(list0, current: numbering.frameNum, &modifications) }
    plan.header.modifications = modifications
    plan.referenceCount = list0.count
    for i in list0.indices {
      coder.setReference(i, pool[list0[i].picture])
    }
    plan.header.deblocking = H264SliceHeader.Deblocking(
      disableIDC: configuration.deblocking ? 0 : 1, alphaOffset: configuration.deblockingAlphaOffset,
      betaOffset: configuration.deblockingBetaOffset)
    plan.scalableHeader = H264ScalableHeader(
      isIDR: plan.isIDR, priorityID: options.temporalLayer, temporalID: options.temporalLayer,
      isDiscardable: !plan.isReference)
    planRefresh(&plan, starts: options.startsIntraRefresh || startsRefresh)

    let target = pool.indices.first { i in !buffer.entries.contains { $0.picture == i } } ?? 0
    if plan.isReference { mark(&plan, target, options.longTermSlot, index) }
    return target
  }

  /// Stores a reference picture in the buffer, and sets the memory management commands that this
  /// takes (8.2.5).
  /// - Parameters:
  ///   - plan: receives the commands in its slice header.
  ///   - target: the index of the picture in the pool.
  ///   - slot: the long-term slot (LongTermFrameIdx) to keep it in; nil for a short-term reference.
  ///   - index: the frame's index (`H264FrameProperties.index`).
  func mark(_ plan: inout PicturePlan, _ target: Int, _ slot: Int?, _ index: UInt64) {
    commands.removeAll(keepingCapacity: true)
    var entry = DecodedPictureBuffer.Entry(
      picture: target, index: index, frameNum: numbering.frameNum, longTermIndex: slot,
      hasRaisedQuality: plan.hasRaisedQuality)
    if plan.isIDR {
      // long_term_reference_flag marks an IDR picture with LongTermFrameIdx 0 only. For another
      // slot the next picture has to mark it.
      plan.header.isLongTerm = slot == 0
      if slot != 0 {
        entry.longTermIndex = nil
        pendingLongTerm = slot
      }
      buffer.store(entry, current: 0, &commands)
      return
    }
    // max_long_term_frame_idx_plus1 precedes the other commands, and is dropped below if there are
    // none.
    commands.append(.longTermLimit(configuration.lowLatency.longTermReferences))
    if let pending = pendingLongTerm {
      pendingLongTerm = nil
      if let difference = buffer.makeNewestLongTerm(pending, current: numbering.frameNum) {
        commands.append(.makeLongTerm(difference: difference, index: pending))
      }
    }
    // Adaptive marking replaces the sliding window, so the picture that the window would remove
    // needs a command (8.2.5.1).
    if !plan.hasRaisedQuality, slot == nil,
      let removal = buffer.makeRoomSparingRaisedQuality(index: index, current: numbering.frameNum)
    {
      commands.append(removal)
    }
    if commands.count > 1, slot == nil, let removal = buffer.makeRoom(current: numbering.frameNum) {
      commands.append(removal)
    }
    buffer.store(entry, current: numbering.frameNum, &commands)
    if commands.count == 1 { return }
    if configuration.lowLatency.longTermReferences == 0 { commands.removeFirst() }
    plan.header.memoryManagement = commands
  }

  /// Plans the step of a gradual intra refresh: which macroblock columns the picture codes as intra
  /// macroblocks.
  /// - Parameters:
  ///   - plan: receives the columns.
  ///   - starts: whether a refresh is to begin with this picture.
  func planRefresh(_ plan: inout PicturePlan, starts: Bool) {
    let period = configuration.lowLatency.intraRefreshPeriod
    let starts = starts || isRefreshPending
    isRefreshPending = starts && !plan.isIDR && !plan.isReference
    // A picture that no other refers to cannot pass refreshed samples on, so only reference
    // pictures count as steps, as they do in recovery_frame_cnt (D.2.8).
    guard period > 0, !plan.isIDR, plan.isReference else { return }
    if starts {
      refreshStep = 0
    } else if refreshStep >= 0 {
      refreshStep += 1
      if refreshStep >= period { refreshStep = configuration.lowLatency.refreshesContinuously ? 0 : -1 }
    } else if configuration.lowLatency.refreshesContinuously {
      refreshStep = 0
    }
    guard refreshStep >= 0 else { return }
    let w = coder.geometry.widthInMbs
    plan.startsRefresh = refreshStep == 0
    plan.refreshFrom = refreshStep * w / period
    plan.refreshTo = (refreshStep + 1) * w / period
    // Where the period has more steps than there are columns, some pictures refresh none, but still
    // keep the refreshed columns clean.
    plan.keepsClean = plan.refreshFrom > 0
  }
}
