### The top of the fleet page: search and filters, causes, shops.

finderWords-region = Find displays
finderWords-search = Name, site, tag, status, unit…
finderWords-searchLabel = Search displays
finderWords-found = { $more ->
    [true] at least{" "}
   *[false] {""}
}{ $every ->
    [true] {""}
   *[false] { $n } of{" "}
}{ $all_n } { $all_n ->
    [one] display
   *[other] displays
}
finderWords-without = Remove the filter { $part }
finderWords-tag = Tag { $tag }
finderWords-incident = Incident { $id }
finderWords-unsteady = Unsteady connection
finderWords-clear = Clear filters

shopWords-title = Sites
shopWords-none = No site
shopWords-well = { $n ->
    [one] well
   *[other] all { $n } well
}
shopWords-are = { $n } of { $all_n } { $how ->
    [stale] silent
    [crashed] crashed
    [bad] unwell
   *[other] { $how }
}
shopWords-more = +{ $n }
shopWords-all = Show all { $n } sites
shopWords-tags = Tags
shopWords-allTags = Show all { $n } tags
