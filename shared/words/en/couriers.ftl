# What a try to send a message came to. $receiver: a webhook's host or the name of a service
receiver_took = { $receiver } took it
receiver_answered = { NUMBER($status) } from { $receiver }
receiver_gone = { NUMBER($status) } from { $receiver }: the receiver says that this address is gone for good
receiver_redirects = { NUMBER($status) } from { $receiver }: it redirects, which is not followed
receiver_forbidden = That address may not be notified from here: it is a machine's own, or a private one.
receiver_misspelt = this is no address that { $receiver } understands
receiver_unknown = the name { $receiver } is not known
receivers_server_unknown = the server's name of { $receiver } is not known
receiver_untrusted = the certificate of { $receiver } is not trusted
receiver_without_tls = { $receiver } does not speak TLS as expected
receiver_without_tls_or_trust = { $receiver } does not speak TLS as expected, or its certificate is not trusted
receiver_without_http = { $receiver } does not answer as HTTP
receiver_slow = { $receiver } did not answer in time
receiver_refused_connection = { $receiver } refuses the connection
receiver_lost = the connection to { $receiver } broke
proxy_refused = the proxy (OUTBOUND_PROXY) answers { NUMBER($status) } when it is asked for { $receiver }
proxy_silent = the proxy (OUTBOUND_PROXY) does not answer when it is asked for { $receiver }
receiver_did_not_take = { $receiver } did not take it
channel_switched_off = the channel was switched off
over_before_sent = it was over before it was sent
given_up = (given up after a day and { $tries ->
    [one] { $tries } try
   *[other] { $tries } tries
})
