import Dialects
import Hereabouts
import HereaboutsLive
package struct TokenTable { package init(_ t: [KeptToken]) {}
 package func holder(of text: some Collection<UInt8>) -> KeptToken.Holder? { nil }
 package mutating func add(_ t: KeptToken) {}
 package mutating func remove(_ id: Int64) {} }
package struct Token { package static func random() -> Token { Token() }
 package var digest: [UInt8] { [] }
 package var text: String { "" } }
package struct RelayPage { package init(atlas: Atlas) {}
 package var answer: RelayAnswer { RelayAnswer(200) }
 package func regions(_ q: [UInt8]) -> RelayAnswer { RelayAnswer(404) } }
extension OutgoingLocation { package init(_ location: Location) { if let r = location.reduced { self = .reduced(r, tick: location.timestamp) } else { self = .full(Fix(coordinate: location.coordinate, time: location.timestamp, horizontalAccuracy: location.horizontalAccuracy)) } } }
extension Set<Diagnostic> { package init(_ d: Diagnostics) { self.init(Diagnostics.names.filter { d.contains($0.diagnostic) }.compactMap { Diagnostic(rawValue: $0.name) }) } }
