### How a display connects for the first time.

enrolmentWords-lead = A display connects with a code that works once. Name the display, create its code, and give it the code.
enrolmentWords-emptyTitle = No displays yet
enrolmentWords-emptyOther = An admin can create a code with which the first display connects.
enrolmentWords-name = Name of the display
enrolmentWords-site = Site (optional)
enrolmentWords-create = Create an enrolment code
enrolmentWords-creating = Creating…
enrolmentWords-code = Enrolment code
enrolmentWords-uuid = Its uuid
enrolmentWords-until = Works once, until { $time } ({ $left } left)
enrolmentWords-over = This code has expired. Create a new one.
enrolmentWords-install = On a display with Debian or Raspberry Pi OS, paste this line. It installs the agent and connects it:
enrolmentWords-ownCa = The certificate of this service is signed by a CA of its own, which the line checks by its hash. A display that is only a browser has to trust it first:
enrolmentWords-how = On another display, exchange the code for its login
enrolmentWords-then = The answer holds the broker's address, user name and password. The display appears here with its first message.
enrolmentWords-connected = It has connected. Heard { $age }.
enrolmentWords-qr = Enrolment code as a QR code
enrolmentWords-qrHow = Or let the display scan this: it holds the address and the code as JSON.
enrolmentWords-copyLine = Copy the command
