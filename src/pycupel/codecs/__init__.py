"""Codecs: conversion between values and the parts of a document.

A codec reads, writes, and gives the JSON Schema of what it reads. `wire` and `policies` are tables of codecs.

| module       | holds                                                             |
|--------------|-------------------------------------------------------------------|
| `base`       | the protocol, the context, and how an error gets its path         |
| `scalars`    | text, numbers, flags and names                                    |
| `containers` | lists, objects whose keys the author chooses, and any JSON value  |
| `records`    | objects with named fields                                         |
| `derive`     | those fields, derived from the signature of a class or function   |
| `jsontext`   | JSON text and its value                                           |
"""
