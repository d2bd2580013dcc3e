# $seen: how many displays tell the address of their page now
pages_expected = { $any_page ->
    [yes] It matches every page.
   *[no] { $seen ->
        [0] No display there tells its page now.
       *[other] { $matching ->
            [0] It matches none of the { expected_displays } seen now.
           *[other] It matches { $matching } of the { expected_displays } seen now.
        }
    }
}
expected_displays = { $seen ->
    [one] { $seen } display
   *[other] { $seen } displays
}
