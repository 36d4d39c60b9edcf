"""Fault campaigns: what the hub must survive, and the checkers that say whether it did."""
