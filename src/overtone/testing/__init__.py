"""Test tools for those who extend Overtone: conformance suites, faulty trainables, curves, fakes."""
