"""Two devices that use the login of one display: a copied card, a code used twice."""
