"""Decks that nobody should open, without end, by a seed.

generator   every kind in turn, every variant of a kind before one comes again
seeds       the good decks that are spoilt, and what hostile ones try to reach
damaged     cut, bits turned, XML damaged, nested too deep, something else altogether
bombs       small files that become large: ZIP, XML, parts, shapes, slides, pictures
locked      encrypted with a password
reaching    links, entities and macros that want out: in .pptx and in .odp
packages    how a part of a deck is changed
"""
