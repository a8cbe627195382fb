// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Asks a server for a WebRTC session: an offer by POST, its answer with 201, and DELETE of the
/// session at the end (WHIP, RFC 9725; WHEP, draft-ietf-wish-whep). It is made with URLSession,
/// which the package's AVFoundation links anyway, and which checks certificates with the system's.
struct SignallingClient: Sendable {
  /// The time in seconds for one exchange.
  private static let timeout = 10.0
  /// The largest number of redirections that are followed.
  private static let maxRedirections = 3

  let server: SignallingURL
  /// The bearer token; nil for none. It goes to the server's own origin alone.
  let token: String?

  /// The answer of a server to an offer.
  struct Answer: Sendable {
    var text: String
    /// The address of the session; nil if the server has named none.
    var session: URL?
  }

  /// Sends an offer.
  /// - Parameter offer: the session description.
  /// - Throws: a `Failure` if the server cannot be reached or refuses.
  func post(_ offer: String) throws -> Answer {
    var url = server.url
    for _ in 0...Self.maxRedirections {
      var request = request(url, "POST")
      request.setValue("application/sdp", forHTTPHeaderField: "Content-Type")
      request.setValue("application/sdp", forHTTPHeaderField: "Accept")
      request.httpBody = Data(offer.utf8)
      let (response, body) = try perform(request)
      switch response.statusCode {
      case 201, 200:
        let kind = response.value(forHTTPHeaderField: "Content-Type")?.lowercased() ?? ""
        guard kind.hasPrefix("application/sdp"), let text = String(validating: body, as: UTF8.self) else {
          throw Failure("\(server.place) has answered with something else than a session description")
        }
        let session = response.value(forHTTPHeaderField: "Location").flatMap {
          URL(string: $0, relativeTo: url)
        }
        return Answer(text: text, session: session?.absoluteURL)
      case 307, 308:
        // The only ones that keep method and body (RFC 9725, 4.5; RFC 9110, 15.4.8).
        guard
          let next = response.value(forHTTPHeaderField: "Location").flatMap({
            URL(string: $0, relativeTo: url)
          }),
          let scheme = next.scheme?.lowercased(), scheme == "https" || scheme == url.scheme?.lowercased()
        else { throw Failure("\(server.place) redirects to an unsupported URL") }
        url = next.absoluteURL
      default: throw refusal(response.statusCode)
      }
    }
    throw Failure("\(server.place) redirects too often")
  }

  /// Ends a session. What goes wrong is not reported, since the session ends anyway.
  func delete(_ session: URL?) {
    guard let session, ["http", "https"].contains(session.scheme?.lowercased() ?? "") else { return }
    _ = try? perform(request(session, "DELETE"))
  }

  private func request(_ url: URL, _ method: String) -> URLRequest {
    var request = URLRequest(url: url, timeoutInterval: Self.timeout)
    request.httpMethod = method
    if let token, isOwn(url) { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    return request
  }

  private func isOwn(_ url: URL) -> Bool {
    url.scheme?.lowercased() == server.url.scheme?.lowercased() && url.host == server.url.host
      && url.port == server.url.port
  }

  private func refusal(_ status: Int) -> Failure {
    let reason =
      switch status {
      case 401, 403:
        token == nil ? "it requires a token" : "it rejects this token"
      case 404: "the address does not exist on the server"
      case 405: "the address is not a WHIP or WHEP endpoint"
      case 406, 415, 422: "it rejects the offer"
      case 409: "another sender is already connected"
      case 503: "it is busy, or has no stream yet"
      default: "its answer has the status \(status)"
      }
    return Failure("\(server.place) refuses the session: \(reason)")
  }

  private func perform(_ request: URLRequest) throws -> (HTTPURLResponse, Data) {
    let exchange = SignallingExchange()
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = Self.timeout
    configuration.timeoutIntervalForResource = Self.timeout
    configuration.httpShouldSetCookies = false
    let session = URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    session.dataTask(with: request).resume()
    do {
      return try exchange.wait(Self.timeout + 5)
    } catch let error as URLError {
      throw Failure("cannot reach \(server.place): \(reason(error))")
    }
  }

  private func reason(_ error: URLError) -> String {
    switch error.code {
    // Repaired in Foundation by swift-corelibs-foundation's change 5498.
    case .badURL where server.url.host?.contains(":") == true:
      "this version of Foundation takes no IPv6 address in a URL; give the server's name"
    case .cannotFindHost, .dnsLookupFailed: "there is no such host"
    case .cannotConnectToHost: "nobody listens there"
    case .timedOut: "it does not answer"
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      "its certificate is not trusted"
    case .dataLengthExceedsMaximum: "its answer is too long"
    default: "the connection has failed (\(error.code.rawValue))"
    }
  }
}

/// The course of one request.
private final class SignallingExchange: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // Sendable: `condition` guards the mutable state.
  /// The longest answer that is read, in bytes.
  private static let maxBytes = 65_536
  private let condition = MonotonicCondition()
  private var response: HTTPURLResponse?
  private var body = Data()
  private var error: URLError?
  private var isDone = false

  /// Waits for the end of the exchange.
  /// - Parameter seconds: how long.
  func wait(_ seconds: Double) throws -> (HTTPURLResponse, Data) {
    try condition.withLock {
      let end = SessionTime.now + seconds
      while !isDone, condition.wait(untilSessionTime: end) {}
      if let error { throw error }
      guard isDone, let response else { throw URLError(.timedOut) }
      return (response, body)
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isTooLong = condition.withLock {
      guard body.count + data.count <= Self.maxBytes else {
        error = URLError(.dataLengthExceedsMaximum)
        return true
      }
      body += data
      return false
    }
    if isTooLong { dataTask.cancel() }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError failure: (any Error)?) {
    condition.withLock {
      response = task.response as? HTTPURLResponse
      if let failure, error == nil { error = failure as? URLError ?? URLError(.unknown) }
      isDone = true
      condition.broadcast()
    }
  }

  /// Redirections are followed by the client itself, which knows what the token is for.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
