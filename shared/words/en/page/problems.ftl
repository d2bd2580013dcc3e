### Texts of failed calls: what happened, and what to do.

problemWords-refused-command_in_flight = This display already has an open command.
problemWords-refused-not_capable = This display says that it cannot do this.
problemWords-refused-forbidden = Your role does not allow this. It may have changed since you opened this page: ask an admin.
problemWords-refused-internal_error = Something went wrong in the service. Try again; if it happens again, tell the person who runs the service.
problemWords-refused-api_timeout = The service did not answer in time. Check whether it was done before you try again.
problemWords-unreachable = The service does not answer. Try again in a moment.
problemWords-reference = Reference { $of }.
