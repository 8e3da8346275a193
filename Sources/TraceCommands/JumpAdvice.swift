import Traces

extension JumpReport {
    /// What would explain the jumps, with the options that say so.
    var advice: String {
        let advice = explanations.isEmpty ? guesses : explanations.map(\.words)
        return "\(advice.joined(separator: "; ")). To take it as it is: --accept-jumps"
    }

    /// What was not tried, or does not explain all.
    private var guesses: [String] {
        var causes: [String] = []
        if hasSeveralFiles { causes.append("the files are several devices' (--devices files)") }
        if hasSeveralTracks, !isKeyed { causes.append("the tracks are several devices' (--devices tracks)") }
        causes.append("a\(isKeyed ? "nother" : "") column has the device (--key-column)")
        causes.append("columns are others than they were taken for, such as latitude and longitude exchanged")
        return ["Perhaps \(causes.joined(separator: ", or "))"]
    }
}

extension JumpReport.Explanation {
    fileprivate var words: String {
        switch self {
        case .files(let devices):
            "Tried: --devices files, without --one-device, splits it into \(devices) devices without a jump"
        case .tracks(let devices): "Tried: --devices tracks splits it into \(devices) devices without a jump"
        case .keys(let column, let devices):
            "Tried: --key-column \(column.isEmpty ? "of another column" : column) splits it into \(devices) devices "
                + "without a jump"
        case .swapped: "Tried: with latitude and longitude exchanged there is no jump"
        }
    }
}

extension RunSummary {
    /// What makes jumps after the first records the run's status; nil where there are none.
    var jumpDoubt: String? {
        jumps == 0
            ? nil
            : """
            \(jumps) steps are jumps that no traveler makes (over 50 km at more than 1,500 km/h): is another column the \
            device's (--key-column)? To take it as it is: --accept-jumps
            """
    }
}
