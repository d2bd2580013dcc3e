# $n messages were refused for $reason
refused_was = { $n ->
    [one] was
   *[other] were
} { $reason ->
    [unknown_topic] sent to an unknown topic
    [bad_uuid] sent under a wrong uuid
    [too_large] too large
    [not_utf8] not UTF-8
    [not_json] not JSON
    [not_an_object] not a JSON object
    [too_deep] nested too deep
    [bad_number] spoilt by a number out of range
    [bad_field] spoilt by a field
    [unsupported_version] of a version that is not supported
    [unknown_client] sent when the display was not registered
    [refused_by_database] lost by a fault of this service
   *[other] refused for another reason
}
refused_messages = { $kind ->
    [heartbeat] { $n ->
        [one] heartbeat
       *[other] heartbeats
    }
    [health] { $n ->
        [one] health report
       *[other] health reports
    }
    [logs] { $n ->
        [one] log line
       *[other] log lines
    }
    [service_failed] { $n ->
        [one] service failure
       *[other] service failures
    }
    [presence] { $n ->
        [one] presence message
       *[other] presence messages
    }
    [acks] { $n ->
        [one] answer to a command
       *[other] answers to commands
    }
   *[other] { $n ->
        [one] message
       *[other] messages
    }
}
messages_refused = { $n } { refused_messages } { refused_was }

heartbeats_missing = Its reports come, its heartbeats do not: { $refused_is ->
    [empty] look at what the broker lets it publish, and at whether it sends them
   *[some] { $refused }
}.
# One of the reasons in heartbeats_missing; $first: the first of them
heartbeats_refused = { $n } { $first ->
    [yes] of them{" "}
   *[no] {""}
}{ refused_was }
