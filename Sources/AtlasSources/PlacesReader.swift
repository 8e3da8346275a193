/// A town or village: where people live, and what regions are named for.
package struct Place: Hashable, Sendable {
    /// The name for people.
    package var name: String
    /// Latitude in degrees, -90 … 90.
    package var latitude: Double
    /// Longitude in degrees, -180 … 180.
    package var longitude: Double
    /// Estimated residents.
    package var population: Int
    /// The code of the country it says it lies in; nil if the file does not say.
    package var country: String?

    /// Makes a place of its parts, as they are.
    package init(name: String, latitude: Double, longitude: Double, population: Int, country: String?) {
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
        self.population = population
        self.country = country
    }
}

/// Reads places from CSV (RFC 4180, UTF-8) with the columns `name`, `latitude`, `longitude`, `population` and perhaps
/// `country`, in any order; other columns are passed over.
package struct PlacesReader {
    /// The file, as the user named it.
    package let path: String

    /// Prepares to read a file.
    package init(path: String) { self.path = path }

    /// Reads the file. O(n) time and memory.
    /// - Throws: `InputError.unreadable`; `InputError.badRow` for the first row that is not as it should be.
    package func read() throws(InputError) -> [Place] {
        var table = try CSVTable(path: path, columns: ["name", "latitude", "longitude", "population"])
        var places: [Place] = []
        while try table.next() {
            let latitude = try table.number("latitude")
            guard abs(latitude) <= 90 else { throw table.error(.latitudeOutOfRange) }
            let longitude = try table.number("longitude")
            guard abs(longitude) <= 180 else { throw table.error(.longitudeOutOfRange) }
            places.append(
                Place(
                    name: try table.requiredText("name"), latitude: latitude, longitude: longitude,
                    population: try table.population("population"),
                    country: table.text("country") == nil ? nil : try table.code("country")))
        }
        return places
    }
}
