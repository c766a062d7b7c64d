"""The specification's pseudocode, transliterated once, literally and slowly: what property tests take as the truth."""
