"""Codecs: conversion between values and the parts of a document.

A codec reads a value, writes it, and returns the JSON Schema of its part of the document. `wire` and `policies`
define their formats as tables of codecs.

| module     | contents                                                                     |
|------------|------------------------------------------------------------------------------|
| `base`     | codecs, the context, and the paths of errors                                 |
| `values`   | strings, numbers, flags, names, lists, objects with arbitrary keys, any JSON |
| `records`  | objects with named fields                                                    |
| `derive`   | fields derived from the signature of a class or function                     |
| `jsontext` | JSON text, and the depth of documents                                        |
"""
