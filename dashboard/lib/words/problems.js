// Generated from shared/words/en/page/problems.ftl
import { translate } from "../language.js";
export const problemWords = {
  refused: {
    command_in_flight: "This display already has an open command.",
    not_capable: "This display says that it cannot do this.",
    forbidden: "Your role does not allow this. It may have changed since you opened this page: ask an admin.",
    internal_error: "Something went wrong in the service. Try again; if it happens again, tell the person who runs the service.",
    api_timeout: "The service did not answer in time. Check whether it was done before you try again.",
  },
  unreachable: "The service does not answer. Try again in a moment.",
  reference: ({ of }) => `Reference ${of}.`,
};
translate("problems", { problemWords });
