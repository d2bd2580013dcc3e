### Access tokens of scripts and machines.

tokenWords-title = Access tokens
tokenWords-lead = For scripts and machines. Each token has a role, is shown once, and can be revoked at any time.
tokenWords-none = No token has been issued yet.
tokenWords-failed = The access tokens could not be loaded.
tokenWords-name = What it is for
tokenWords-role = Role
tokenWords-expires = Expires after
tokenWords-expiry = { $n ->
    [0] never
    [365] a year
   *[other] { $n } days
}
tokenWords-issue = Issue a token
tokenWords-issuing = Issuing…
tokenWords-issued = Copy it now: it is not shown again.
tokenWords-copy = Copy the token
tokenWords-lastUsed = last used
tokenWords-neverUsed = never used
tokenWords-byService = by the service
tokenWords-ends = expires
tokenWords-noEnd = does not expire
tokenWords-ended = Expired
tokenWords-revoked = Revoked
tokenWords-revoke = Revoke
tokenWords-revokeOf = Revoke the token { $name }
tokenWords-revokeTitle = Revoke this token?
tokenWords-revokeWhy = Whatever uses it is refused from now on. This cannot be undone.
