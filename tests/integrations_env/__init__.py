"""Tests against other people's libraries, each in one of two environments; see tools/test_integrations.sh."""
