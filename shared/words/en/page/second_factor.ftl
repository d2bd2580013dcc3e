### One's own second factor.

secondFactorWords-title = Second factor
secondFactorWords-off = You sign in with your password alone.
secondFactorWords-on = You sign in with your password and a code from your app, since
secondFactorWords-left = { $n ->
    [one] One recovery code is left.
   *[other] { NUMBER($n) } recovery codes are left.
}
secondFactorWords-begin = Set up a second factor…
secondFactorWords-remove = Remove the second factor…
secondFactorWords-setUp = Set up a second factor
secondFactorWords-what = You need an app that makes codes: an authenticator, or a password manager. From then on you enter its code when you sign in.
secondFactorWords-next = Next
secondFactorWords-password = Current password
secondFactorWords-code = Code
secondFactorWords-qr = The app's secret as a QR code
secondFactorWords-scan = Scan this with the app.
secondFactorWords-typed = Or type this into it:
secondFactorWords-copySecret = Copy the secret
secondFactorWords-first = The six digits that the app shows now.
secondFactorWords-either = The six digits that the app shows now, or a recovery code.
secondFactorWords-confirm = Switch it on
secondFactorWords-codes = Recovery codes
secondFactorWords-once = Keep these now: they are not shown again.
secondFactorWords-keep = Each works once instead of a code, should you lose your phone. Keep them with your important papers. Without phone and codes, an admin can reset your second factor.
secondFactorWords-kept = I have kept them
secondFactorWords-copyCodes = Copy the recovery codes
secondFactorWords-removeTitle = Remove the second factor?
secondFactorWords-removeText = Your password alone will be enough to sign in. Your other sessions end.
secondFactorWords-removeGo = Remove
secondFactorWords-pageTitle = Set up a second factor
secondFactorWords-why = People with your role sign in with a password and a code from an app. Set it up before you continue.
