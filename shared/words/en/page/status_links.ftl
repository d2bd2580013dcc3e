### Links to the public status pages of sites.

statusLinkWords-title = Status pages
statusLinkWords-lead = Whoever has a link sees one site without an account: its displays by name, how they ran for 7 days, and what is wrong with several of them. A link works until somebody ends it.
statusLinkWords-none = There is no link yet.
statusLinkWords-failed = The links could not be loaded.
statusLinkWords-name = Who gets the link
statusLinkWords-site = Site
statusLinkWords-make = Make a link
statusLinkWords-made = Copy the link now: it is not shown again.
statusLinkWords-copy = Copy the link
statusLinkWords-lastUsed = last used
statusLinkWords-neverUsed = never used
statusLinkWords-ended = Ended
statusLinkWords-end = End
statusLinkWords-endOf = End the link { $name }
statusLinkWords-endTitle = End this link?
statusLinkWords-endWhy = From now on the page only says that the link is not valid. This cannot be undone.
