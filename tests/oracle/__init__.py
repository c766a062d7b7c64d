"""The specification's pseudocode for stages, slicers and placers, transliterated literally and slowly.

Property tests compare the library with it. The pseudocode of the scorers is in the library: `Scorer.score`.
"""
