"""An endless sequence of harmful decks, decided by a seed.

generator   every kind in turn, and all variants of a kind before a repeat
seeds       good decks to spoil, and the targets of hostile ones
damaged     truncated, flipped bits, damaged XML, nested too deeply, other formats
bombs       small files that become large: ZIP, XML, parts, shapes, slides, pictures
locked      encrypted with a password
reaching    links, entities and macros that try to leave the sandbox: in .pptx and in .odp
packages    changes of a part of a deck
"""
