private import Foundation

/// What people write for a country's code.
enum CountryNames {
    /// The code that is meant, of those that there are: by small letters, three letters (ISO 3166-1 alpha-3) or the English
    /// name.
    static func code(_ text: String, among codes: [String]) -> String? {
        let english = Locale(identifier: "en"), letters = text.uppercased()
        guard (2...64).contains(letters.utf8.count) else { return nil }
        if codes.contains(letters) { return letters }
        if letters.utf8.count == 3, letters.utf8.allSatisfy({ (65...90).contains($0) }),
            let code = Locale(identifier: "en_\(letters)").region?.identifier, codes.contains(code)
        {
            return code
        }
        return codes.first { english.localizedString(forRegionCode: $0)?.uppercased() == letters }
    }
}
