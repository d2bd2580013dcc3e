### The page for a screen in the office.

wallWords-bridge = The bridge is silent: display states are unknown.
wallWords-leave = Back to the fleet
wallWords-mended = { $n } failed { $n ->
    [one] service is
   *[other] services are
} mended, not acknowledged.
