import Hereabouts
import HereaboutsLive
package struct TokenTable { private var kept: [KeptToken]
 package init(_ t: [KeptToken]) { kept = t }
 package func holder(of text: some Collection<UInt8>) -> KeptToken.Holder? { kept.first { $0.digest == Array(text) }?.holder }
 package mutating func add(_ t: KeptToken) { kept.append(t) }
 package mutating func remove(_ id: Int64) { kept.removeAll { $0.id == id } } }
package struct Token { package let text = String(UInt64.random(in: 0 ... .max), radix: 36)
 package static func random() -> Token { Token() }
 package var digest: [UInt8] { Array(text.utf8) } }
package struct RelayPage { package init(atlas: Atlas) {}
 package var answer: RelayAnswer { RelayAnswer(200) }
 package func regions(_ q: [UInt8]) -> RelayAnswer { RelayAnswer(404) } }
