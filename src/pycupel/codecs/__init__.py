"""Codecs: conversion between values and the parts of a document.

A codec reads a value, writes it, and returns the JSON Schema of its part of the document. `wire` and `policies`
define their formats as tables of codecs.

| module       | contents                                                     |
|--------------|--------------------------------------------------------------|
| `base`       | the codec protocol, the context, and the paths of errors     |
| `scalars`    | strings, numbers, flags and names                            |
| `containers` | lists, objects with arbitrary keys, and any JSON value       |
| `records`    | objects with named fields                                    |
| `derive`     | fields derived from the signature of a class or function     |
| `jsontext`   | parsing and formatting of JSON text                          |
"""
