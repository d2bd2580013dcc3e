### Failures that somebody acknowledged.

acknowledgedWords-none = Nothing was acknowledged in the last 24 hours.
acknowledgedWords-failed = The acknowledged failures could not be loaded.
