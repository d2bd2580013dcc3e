### Signing in.

sessionWords-user = User name
sessionWords-password = Password
sessionWords-show = Show what I type
sessionWords-go = Sign in
sessionWords-going = Signing in…
sessionWords-wrong = That did not work. Check the user name and the password.
sessionWords-code = Code
sessionWords-codeHow = The six digits that your app shows now, or a recovery code.
sessionWords-codeWrong = That code did not work. Wait for the next one and try again.
sessionWords-wait = Too many failed attempts. Try again in { $left }.
sessionWords-endedElsewhere = You signed out in another tab.
sessionWords-again = Sign in again
sessionWords-againWhy = Your session has ended. The page stays as it is; sign in and carry on.
sessionWords-goTo = Sign in with { $name }
sessionWords-or = or
sessionWords-reasons-denied_by_provider = The sign-in service did not let you in.
sessionWords-reasons-groups_left_out = Your groups are too many for the sign-in service to send. Those who manage it can send app roles instead.
sessionWords-reasons-last_admin = You are the only admin with a password, and the sign-in service gives you other rights. Sign in with your password and add another admin first.
sessionWords-reasons-no_role_at_provider = The sign-in service knows you, but gives you no role here. Ask those who manage it.
sessionWords-reasons-no_site_at_provider = The sign-in service gives you a role here, but no site. Ask those who manage it.
sessionWords-reasons-person_disabled = Your account here is disabled. Ask an admin.
sessionWords-reasons-provider_unavailable = The sign-in service does not answer. Try again, or sign in with a password.
sessionWords-reasons-too_many_attempts = Too many failed attempts. Try again later.
sessionWords-reasons-try_over = That sign-in took too long, or began in another window. Try again.
sessionWords-someReason = The answer of the sign-in service was not accepted. Try again; if it happens again, tell the person who runs this service.
sessionWords-byProxy = Your session has ended. Reload the page to sign in; it opens where you left off.
