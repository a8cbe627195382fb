// What a configuration asks of a level, for a caller that has to choose.

extension EncoderConfiguration {
  /// Most references that fit the level that is set, or the lowest that the stream needs with one; nil if
  /// there is no such level.
  public var largestReferenceCount: Int? {
    var single = demands
    single.referenceFrames = 1
    let chosen = level.flatMap(Level.numbered) ?? Level.lowest(for: single)
    return chosen?.dpbFrames(widthInMbs: demands.widthInMbs, heightInMbs: demands.heightInMbs)
  }
}
