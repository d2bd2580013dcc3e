### One's own password.

passwordWords-title = Set your own password
passwordWords-why = Your first password was generated. Set your own before you continue.
passwordWords-current = Current password
passwordWords-fresh = New password
passwordWords-go = Set the password
passwordWords-going = Setting…
passwordWords-wrong = The current password is wrong.
