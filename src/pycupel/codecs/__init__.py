"""Codecs: conversion between values and the parts of a document.

A codec reads a value, writes it, and returns the JSON Schema of its part of the document. `wire` and `policies`
define their formats as tables of codecs: `base` has those of scalars and lists, `records` those of objects;
`json_values` reads files of JSON or JSON lines.
"""
