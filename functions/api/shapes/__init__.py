"""The answers that more than one route gives, by noun. Routes import shapes, never one another.

Field names are the contract that scripts rely on: fields may be added, none renamed.
"""
