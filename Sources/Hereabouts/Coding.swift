// Coding of what may be stored or published. `Coordinate` and `Fix` are left out on purpose: no encoder meets a precise
// position by accident. Embedded Swift has no `Codable`.
#if !hasFeature(Embedded)
    extension RegionID: Codable {
        /// Decodes the text form, with or without the letter `r`.
        public init(from decoder: any Decoder) throws {
            self = try decoder.value(orElse: "not a region's identifier") { RegionID($0) }
        }

        /// Encodes the text form.
        public func encode(to encoder: any Encoder) throws { try encoder.encode(description) }
    }

    extension Country: Codable {
        /// Decodes a code of 1 to 8 bytes.
        public init(from decoder: any Decoder) throws {
            self = try decoder.value(orElse: "not a country's code") { Country($0) }
        }

        /// Encodes the code.
        public func encode(to encoder: any Encoder) throws { try encoder.encode(code) }
    }

    extension Timestamp: Codable {
        /// Decodes ISO 8601.
        public init(from decoder: any Decoder) throws {
            self = try decoder.value(orElse: "not a time of ISO 8601") { Timestamp($0) }
        }

        /// Encodes ISO 8601: `2026-09-21T14:15:00Z`.
        public func encode(to encoder: any Encoder) throws { try encoder.encode(description) }
    }

    extension ReducedLocation: Codable {
        private enum CodingKeys: String, CodingKey {
            case latitude, longitude, horizontalAccuracy = "horizontal_accuracy", region, country, place
        }

        /// Decodes the members, named as in the command's and the relay's JSON.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let coordinate = Coordinate(
                latitude: try container.decode(Double.self, forKey: .latitude),
                longitude: try container.decode(Double.self, forKey: .longitude))
            let accuracy = try container.decode(Double.self, forKey: .horizontalAccuracy)
            guard abs(coordinate.latitude) <= 90, abs(coordinate.longitude) <= 180, accuracy > 0, accuracy.isFinite
            else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: container.codingPath, debugDescription: "not a circle on the Earth"))
            }
            self.init(
                coordinate: coordinate, horizontalAccuracy: accuracy,
                region: try container.decode(RegionID.self, forKey: .region),
                country: try container.decode(Country.self, forKey: .country),
                place: try container.decodeIfPresent(Place.self, forKey: .place))
        }

        /// Encodes the members: the center as `latitude` and `longitude` in degrees, `horizontal_accuracy` in meters, `region`,
        /// `country` and `place`.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(coordinate.latitude, forKey: .latitude)
            try container.encode(coordinate.longitude, forKey: .longitude)
            try container.encode(horizontalAccuracy, forKey: .horizontalAccuracy)
            try container.encode(region, forKey: .region)
            try container.encode(country, forKey: .country)
            try container.encode(place, forKey: .place)
        }
    }

    extension ReducedLocation.Place: Codable {
        /// Decodes the text: "El Paso" or "near Marfa".
        public init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            let isNear = text.hasPrefix(Self.nearPrefix)
            self.init(name: isNear ? String(text.dropFirst(Self.nearPrefix.count)) : text, isInside: !isNear)
        }

        /// Encodes the text.
        public func encode(to encoder: any Encoder) throws { try encoder.encode(description) }
    }

    extension Pacer.State: Codable {
        private enum CodingKeys: String, CodingKey { case bytes }

        /// Decodes the byte form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard let state = try? Pacer.State(bytes: try container.decode([UInt8].self, forKey: .bytes)) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .bytes, in: container, debugDescription: "not a pacer's state")
            }
            self = state
        }

        /// Encodes the byte form, see `bytes`.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(bytes, forKey: .bytes)
        }
    }

    extension Decoder {
        /// What `make` makes of the text that is decoded.
        package func value<Value>(orElse reason: String, _ make: (String) -> Value?) throws -> Value {
            let container = try singleValueContainer()
            guard let value = make(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: reason)
            }
            return value
        }
    }

    extension Encoder {
        package func encode(_ text: String) throws {
            var container = singleValueContainer()
            try container.encode(text)
        }
    }
#endif
