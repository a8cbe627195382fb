// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import Testing

/// Geometry and values as programs of Apple's systems use them.
@Suite struct GeometryTests {
  @Test func descriptionsAreThoseOfApplesSystems() {
    #expect(CGPoint(x: 1, y: 2.5).debugDescription == "(1.0, 2.5)")
    #expect(CGSize(width: 1, height: 2).debugDescription == "(1.0, 2.0)")
    #expect(CGRect(x: 0, y: -1, width: 3, height: 4).debugDescription == "(0.0, -1.0, 3.0, 4.0)")
    #expect(CGVector(dx: 1, dy: 2).debugDescription == "(1.0, 2.0)" && CGVector.zero == CGVector())
  }

  @Test func equality() {
    #expect(CGPoint(x: 1, y: 2).equalTo(CGPoint(x: 1, y: 2)) && !CGPoint.zero.equalTo(CGPoint(x: 0, y: 1)))
    #expect(CGSize.zero.equalTo(.zero) && !CGSize.zero.equalTo(CGSize(width: 1, height: 1)))
    // A rectangle with negative sides is the one that it covers.
    let rect = CGRect(x: 0, y: 0, width: 2, height: 3)
    #expect(rect.equalTo(CGRect(x: 2, y: 3, width: -2, height: -3)))
    #expect(!rect.equalTo(CGRect(x: 0, y: 0, width: 2, height: 2)))
  }

  @Test func dictionariesThereAndBack() throws {
    let rect = CGRect(x: 1, y: 2, width: 3, height: 4)
    #expect(rect.dictionaryRepresentation == ["X": 1, "Y": 2, "Width": 3, "Height": 4] as NSDictionary)
    #expect(CGRect(dictionaryRepresentation: rect.dictionaryRepresentation) == rect)
    #expect(CGPoint(dictionaryRepresentation: rect.origin.dictionaryRepresentation) == rect.origin)
    #expect(CGSize(dictionaryRepresentation: rect.size.dictionaryRepresentation) == rect.size)
    #expect(CGRect(dictionaryRepresentation: rect.size.dictionaryRepresentation) == nil)
    #expect(CGPoint(dictionaryRepresentation: ["X": "left", "Y": 1] as NSDictionary) == nil)
  }

  @Test func valuesByType() {
    let rect = CGRect(x: 1, y: 2, width: 3, height: 4)
    #expect(NSValue(rect: rect).value(of: CGRect.self) == rect)
    #expect(NSValue(point: rect.origin).value(of: CGPoint.self) == rect.origin)
    #expect(NSValue(size: rect.size).value(of: CGSize.self) == rect.size)
    #expect(NSValue(range: NSRange(location: 4, length: 5)).value(of: NSRange.self)?.length == 5)
    #expect(NSNumber(value: 7).value(of: Int.self) == 7)
    #expect(NSNumber(value: 1.5).value(of: Double.self) == 1.5)
    #expect(NSNumber(value: Float(0.5)).value(of: Float.self) == 0.5)
    // Something else, or of another size: nothing is read.
    #expect(NSValue(point: rect.origin).value(of: CGRect.self) == nil)
    #expect(NSValue(rect: rect).value(of: CGPoint.self) == nil)
    #expect(NSNumber(value: 1.5).value(of: Int.self) == nil)
    #expect(NSValue(rect: rect).value(of: String.self) == nil)
  }

  private final class Observed: NSObject {
    var progress = 0 {
      willSet {
        willChangeValue(forKey: "progress")
        willChangeValue(for: \.progress)
      }
      didSet {
        didChangeValue(forKey: "progress")
        didChangeValue(for: \.progress)
      }
    }
  }

  @Test func whatTellsItsObserversRuns() {
    let object = Observed()
    object.progress = 3
    #expect(object.progress == 3)
  }
}
