"""Codecs: how a value and its part of a document are turned into each other.

A codec reads, writes, and gives the JSON Schema of what it reads. `wire` and `policies` are tables of codecs.

| module       | holds                                                             |
|--------------|-------------------------------------------------------------------|
| `base`       | the protocol, the context, and how an error gets its path         |
| `scalars`    | text, numbers, flags, names, and any JSON value                   |
| `containers` | lists, and objects whose keys the author chooses                  |
| `records`    | objects with named fields                                         |
| `derive`     | those fields, as the signature of a class or function has them    |
| `jsontext`   | JSON text and the value that it holds                             |
| `limits`     | how deep a document may be nested                                 |
| `files`      | files that may be compressed                                      |
"""
