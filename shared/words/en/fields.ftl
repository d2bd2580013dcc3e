# What is wrong with a field. A text and a list: $least and $most count characters or items
of_field = { $field }: { $why }.
field_unknown = no such field
field_missing = this field is required
field_once = expected one value
field_in_calendar = expected a time between the years 1 and 9999 in UTC
field_before_until = expected a time before until
field_page_cursor = expected the next_cursor of a page of this list
field_earlier_cursor = expected the cursor of an earlier answer
field_etag_of_failure = expected the failure's service_failed_at in double quotes
field_reason_of_override = expected a text: an override of the lockout needs a reason
field_clients_or_filter = expected a list of clients, or a filter with at least one field
field_file_size = expected 1 or more: a file must not be empty
field_nothing_unless = expected nothing unless scope is { $scope }
field_with_scope = expected a value where scope is { $scope }
field_text = expected a text{ of_characters }
field_form = expected a text that matches { $pattern }
field_whole_number = expected a whole number{ from_to }
field_number = expected a number
field_list = expected a list{ of_items }
field_object = expected an object
field_flag = expected true or false
field_one_of = expected one of { $choices }
field_date = expected a date such as 2026-03-01
field_time = expected an RFC 3339 time with a timezone, such as 2026-03-01T12:00:00Z

least_characters = { $least ->
    [one] { $least } character
   *[other] { $least } characters
}

most_characters = { $most ->
    [one] { $most } character
   *[other] { $most } characters
}

least_items = { $least ->
    [one] { $least } item
   *[other] { $least } items
}

most_items = { $most ->
    [one] { $most } item
   *[other] { $most } items
}

of_characters = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] {" "}of at least { least_characters }
    }
   *[some] { $least_is ->
        [none] {" "}of at most { most_characters }
       *[some] {" "}of { $least } to { most_characters }
    }
}

of_items = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] {" "}of at least { least_items }
    }
   *[some] { $least_is ->
        [none] {" "}of at most { most_items }
       *[some] {" "}of { $least } to { most_items }
    }
}

from_to = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] {" "}of at least { $least }
    }
   *[some] { $least_is ->
        [none] {" "}up to { $most }
       *[some] {" "}from { $least } to { $most }
    }
}
